#include "../../hdf5.hpp"
#include "../data/files.hpp"
#include "op_models.hpp"

using namespace op_models;

TEST_CASE("constants between layers are kept with their dtype, also infinities" * needs_hdf5) {
  const Tensor in = nn::Input({3}, {.name = "in"});
  const Tensor h = nn::Dense(3, {.name = "h"})(in);
  const Tensor chosen = K::constant({1, 0, 1}, {.dtype = "bool"});
  const Tensor masked = K::where(chosen, h, K::constant({-INFINITY, -INFINITY, -INFINITY}));
  const nn::Model model(
      in, K::softmax(masked) * K::cast(K::constant({{1, 2, 3}}, {.dtype = "int64"}), "float32"));
  const Tensor x = normal({2, 3}, 1, "float32");
  const Files files;
  for (const char* name : {"/m.keras", "/m.ktape", "/m.h5"}) {
    CAPTURE(name);
    model.save(files.folder() + name);
    const nn::Model again = nn::load_model(files.folder() + name);
    CHECK(values(again.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
    CHECK(again.to_json() == model.to_json());
  }
}
