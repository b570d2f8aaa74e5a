#include <ktape/ktape.hpp>
#include <ktape/nn/saving/saving.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::ValueError;

namespace {

nn::Model network() { return nn::Sequential({nn::Input({2}), nn::Dense(3, {.name = "scores"})}); }

}  // namespace

TEST_CASE(
    "a format without a place for what is asked is an error, and a file that is there is kept if asked") {
  const Files files;
  const std::string path = files.write("w.npz", "old");
  CHECK_THROWS_WITH_AS(
      network().save(path),
      ("[save] the format .npz must support this call: received path='" + path + "'").c_str(), ValueError);
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("[load_model] the format .npz must support this call"),
                       ValueError);
  CHECK_THROWS_WITH_AS(network().save_weights(files.folder() + "/w.safetensors.index.json"),
                       Contains("[save_weights] the format .safetensors.index.json must support this call"),
                       ValueError);
  CHECK_THROWS_WITH_AS(
      network().save_weights(path, {.overwrite = false}),
      ("[save_weights] the file must not exist unless overwrite is set: received path='" + path + "'")
          .c_str(),
      IOError);
  network().save_weights(path);
}

TEST_CASE("save_weights: places that cannot be written") {
  const Files files;
  CHECK_THROWS_WITH_AS(network().save_weights(files.folder() + "/none/w.npz"), Contains("No such file"),
                       IOError);
  CHECK_THROWS_WITH_AS(network().save_weights(files.folder() + "/none/w.safetensors"),
                       Contains("No such file"), IOError);
}

TEST_CASE("loading a model draws no random numbers") {
  const Files files;
  network().save(files.folder() + "/m.ktape");
  K::set_random_seed(3);
  const Values expected = values(K::random_normal({4}));
  K::set_random_seed(3);
  nn::load_model(files.folder() + "/m.ktape");
  CHECK(values(K::random_normal({4})) == expected);
}

TEST_CASE("model_from_json makes the architecture, with new weights") {
  const nn::Model model = network(), again = nn::model_from_json(model.to_json());
  CHECK(again.to_json() == model.to_json());
  CHECK(values(again.get_weights()[0]) != values(model.get_weights()[0]));
}
