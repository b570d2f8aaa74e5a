#include "../../hdf5.hpp"
#include "../data/files.hpp"
#include "op_models.hpp"

using namespace op_models;
using doctest::Contains;
using ktape::ValueError;

namespace {

std::vector<double> output_of(const nn::Model& model) {
  return values(model.predict({x_values(), y_values()}, {.verbose = 0}));
}

/// Checks that a model is equal to another: result, gradient of the kernel, and JSON. Files in the form of
/// Keras 2 keep no dtypes of constants.
void check_equal(const nn::Model& again, const nn::Model& model, bool as_json = true) {
  if (as_json) CHECK(again.to_json() == model.to_json());
  CHECK(output_of(again) == output_of(model));
  CHECK(kernel_gradient(again) == kernel_gradient(model));
}

}  // namespace

TEST_CASE("each op between layers is kept under its name") {
  for (const Case& one : all_cases()) {
    CAPTURE(one.operation);
    const std::string json = model_of(one).to_json();
    const bool of_keras = std::isupper(static_cast<unsigned char>(one.operation[0])) != 0;
    const std::string name = of_keras ? "\"class_name\":\"" : "\"function\":\"";
    CHECK_MESSAGE(json.find(name + one.operation + '"') != std::string::npos, json);
  }
}

TEST_CASE("models with ops between layers are cloned and made again from JSON") {
  for (const Case& one : all_cases()) {
    CAPTURE(one.operation);
    const nn::Model model = model_of(one);
    for (const nn::Model& again : {nn::clone_model(model), nn::model_from_json(model.to_json())}) {
      again.set_weights(model.get_weights());
      check_equal(again, model);
    }
  }
}

TEST_CASE("models with ops between layers are saved and loaded in each format" * needs_hdf5) {
  const Files files;
  for (const Case& one : all_cases()) {
    CAPTURE(one.operation);
    const nn::Model model = model_of(one);
    for (const char* name : {"/m.keras", "/m.ktape", "/m.h5", "/model.json"}) {
      CAPTURE(name);
      model.save(files.folder() + name);
      const bool of_keras2 = std::string(name) == "/m.h5" || std::string(name) == "/model.json";
      check_equal(nn::load_model(files.folder() + name), model, !of_keras2);
    }
  }
}

TEST_CASE("ops between layers have rows of their own in a summary and boxes in a drawing") {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const Tensor h = nn::Dense(4, {.name = "h"})(in);
  const nn::Model model(in,
                        nn::Dense(1, {.name = "out"})(h[{All, Slice(0, 2)}] + h[{All, Slice(2, 4)}] * 2.f));
  std::string text;
  model.summary({.print_fn = [&](const std::string& line) { text += line + '\n'; }});
  for (const char* row : {"get_item (GetItem)", "get_item_1 (GetItem)", "multiply (Multiply)", "add (Add)"})
    CHECK_MESSAGE(text.find(row) != std::string::npos, text);
  const Files files;
  nn::plot_model(model, files.folder() + "/m.svg");
  std::stringstream svg;
  svg << std::ifstream(files.folder() + "/m.svg").rdbuf();
  for (const char* box : {"get_item_1", "multiply", "add"})
    CHECK_MESSAGE(svg.str().find(box) != std::string::npos, svg.str());
}

TEST_CASE("an op that makes an output gives the output its name, also in a loaded model" * needs_hdf5) {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const Tensor h = nn::Dense(4, {.name = "h"})(in);
  const nn::Model model(in, {h * 2.f, K::sum(h, 1), h * 3.f});
  CHECK(model.impl().output_names() == std::vector<std::string>{"multiply", "sum", "multiply_1"});
  model.compile({.optimizer = "sgd", .loss = {{"multiply", "mse"}, {"sum", "mae"}, {"multiply_1", "mse"}}});
  const Files files;
  model.save(files.folder() + "/m.keras");
  const nn::Model again = nn::load_model(files.folder() + "/m.keras");
  CHECK(again.impl().output_names() == model.impl().output_names());
  const Tensor x = normal({3, 4}, 1, "float32");
  again.train_on_batch(x, {K::ones({3, 4}), K::ones({3}), K::ones({3, 4})});
}

TEST_CASE("a model in a model and a layer that is called twice may stand beside ops" * needs_hdf5) {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const nn::Dense shared(4, {.name = "shared"});
  const nn::Model inner(in, K::tanh(shared(in)) * 0.5f, {.name = "inner"});
  const Tensor x = nn::Input({4}, {.name = "x"});
  const nn::Model model(x, inner(inner(x) + 1.f) - shared(x), {.name = "outer"});
  const Tensor values_in = normal({3, 4}, 1, "float32");
  const Files files;
  for (const char* name : {"/m.keras", "/m.ktape", "/m.h5"}) {
    CAPTURE(name);
    model.save(files.folder() + name);
    const nn::Model again = nn::load_model(files.folder() + name);
    CHECK(values(again.predict(values_in, {.verbose = 0})) ==
          values(model.predict(values_in, {.verbose = 0})));
    CHECK(again.weights().size() == 2);
  }
}

TEST_CASE("what a config cannot hold between layers is an error that names the op") {
  const Tensor in = nn::Input({3}, {.name = "in"});
  const ktape::Variable v = K::variable({1., 2., 3.}, {.name = "scale"});
  CHECK_THROWS_WITH_AS(
      nn::Model(in, in * v, {.name = "m"}).to_json(),
      Contains("[save] the op 'multiply' between layers must not read a variable, which no config "
               "can hold: received the variable 'scale'"),
      ValueError);
  CHECK_THROWS_WITH_AS(
      nn::Model(in, K::dot(K::reshape(in, {-1, 3}), K::zeros({3, 30000})), {.name = "m"}).to_json(),
      Contains("[save] a constant between layers must have at most 65536 elements to be written in "
               "a config: received shape=(3, 30000)"),
      ValueError);
  CHECK_THROWS_WITH_AS(nn::Model(in, K::dropout(in, 0.5), {.name = "m"}).to_json(),
                       Contains("[m] the op 'dropout' between layers has no config"), ValueError);
}
