#include "../../../hdf5.hpp"
#include "../../../ops/check.hpp"
#include "../../layers/conformance/models.hpp"
#include "../../layers/conformance/table.hpp"
#include "../../operations/op_models.hpp"
#include "../../policies.hpp"
#include "../keras_models.hpp"
#include "../python.hpp"

/// Keras itself loads the files that the library writes, and predicts the outputs that the library predicts. The
/// tests are skipped where Python has no Keras.
namespace K = ktape::backend;
namespace data = ktape::data;

namespace {

using Arrays = std::vector<std::pair<std::string, Tensor>>;

/// Models in a folder, each with its inputs and outputs.
class ModelsForKeras {
 public:
  void add(
      const std::string& name, const nn::Model& model, const std::vector<Tensor>& inputs,
      const std::vector<std::string>& formats = {".keras", ".h5"},
      const std::function<void(Arrays&)>& add_more = [](Arrays&) {}) {
    Arrays arrays;
    for (std::size_t i = 0; i < inputs.size(); ++i) arrays.emplace_back("in" + std::to_string(i), inputs[i]);
    const std::vector<Tensor> outputs = model.apply(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      arrays.emplace_back("out" + std::to_string(i), K::cast(outputs[i], "float32"));
    for (const std::string& format : formats) model.save(files_.folder() + '/' + name + format);
    add_more(arrays);
    data::save_npz(files_.folder() + '/' + name + ".npz", arrays);
  }

  /// Returns what Keras says about the models; the last line counts the files.
  std::string loaded() const {
    const std::string script = std::filesystem::absolute("tests/nn/saving/keras/loads_in_keras.py").string();
    return python(files_, "import subprocess, sys\nsubprocess.run([sys.executable, '" + script + "', '" +
                              files_.folder() + "'], check=True)\n");
  }

 private:
  Files files_;
};

/// Returns the lines with errors.
std::string errors(const std::string& output) {
  std::istringstream lines(output);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    if (line.find(".keras: ") != std::string::npos || line.find(".h5: ") != std::string::npos)
      all += line + '\n';
  return all;
}

}  // namespace

TEST_CASE("Keras loads a model of every layer, and predicts as the library" * needs_hdf5) {
  if (!has_python("keras")) return;
  for (const std::string policy : {"float32", "mixed_float16", "mixed_bfloat16"}) {
    const PolicyScope scope(policy);
    ModelsForKeras models;
    for (const Row& row : table()) {
      // Keras 3 has no LocallyConnected, needs TensorFlow for IntegerLookup, and crops at random only in training.
      if (row.name.starts_with("Locally") || row.name == "IntegerLookup" || row.name == "RandomCrop")
        continue;
      const nn::Layer layer = row.make();
      const std::vector<Tensor> inputs = inputs_of(row);
      const nn::Model model = model_of(layer, inputs);
      int seed = 100;
      for (const ktape::Variable& weight : model.weights())
        if (weight.dtype().is_floating())
          K::set_value(weight, K::abs(normal(weight.shape(), seed++, weight.dtype())) * 0.5 + 0.1);
      models.add(row.name + '_' + policy, model, inputs);
    }
    const std::string output = models.loaded();
    CAPTURE(output);
    CHECK(errors(output) == "");
    CHECK(output.find(" files, Keras") != std::string::npos);
  }
}

namespace {

/// Returns whether Keras has the operation in all files: the shape of a reshape cannot be a tensor there, .h5 files
/// cannot hold Python's Ellipsis, and K::sqrt is 0 for negative numbers, as in Keras 2.
bool is_in_keras(const op_models::Case& one) {
  if (!std::isupper(static_cast<unsigned char>(one.operation[0])) || one.operation == "Sqrt") return false;
  const std::string json = op_models::model_of(one).to_json();
  return json.find("\"class_name\":\"Operation\"") == std::string::npos &&
         json.find("__ellipsis__") == std::string::npos;
}

}  // namespace

TEST_CASE("Keras loads models with operations between their layers" * needs_hdf5) {
  if (!has_python("keras")) return;
  ModelsForKeras models;
  int number = 0;
  for (const op_models::Case& one : op_models::all_cases())
    if (is_in_keras(one))
      models.add(one.operation + std::to_string(number++), op_models::model_of(one),
                 {op_models::x_values(), op_models::y_values()});
  const std::string output = models.loaded();
  CAPTURE(output);
  CHECK(errors(output) == "");
}

TEST_CASE(
    "Keras trains on where the library stopped: nested models, optimizers, losses and weights of every kind" *
    needs_hdf5) {
  if (!has_python("keras")) return;
  ModelsForKeras models;
  const Tensor x = normal({8, 4}, 1, "float32"), y = normal({8, 2}, 2, "float32");
  for (const std::string optimizer : {"sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "adamax",
                                      "nadam", "ftrl", "lion", "adafactor"}) {
    const nn::Model model =
        nn::Sequential({nn::Dense(5, {.activation = "tanh", .input_shape = {4}}),
                        nn::Sequential({nn::Dense(3, {.use_bias = false}), nn::BatchNormalization(),
                                        nn::LayerNormalization()}),
                        nn::Dense(2)});
    model.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
    for (int step = 0; step < 3; ++step) model.train_on_batch(x, y);
    models.add("compiled_" + optimizer, model, {x}, {".keras", ".h5"}, [&](Arrays& arrays) {
      arrays.emplace_back("target", y);
      model.train_on_batch(x, y);
      for (std::size_t i = 0; i < model.get_weights().size(); ++i)
        arrays.emplace_back("trained" + std::to_string(100 + i), model.get_weights()[i]);
    });
  }
  models.add("every_kind", keras_models::with_random_weights(keras_models::every_kind()),
             {normal({2, 12, 12, 3}, 1, "float32")});
  const std::string output = models.loaded();
  CAPTURE(output);
  CHECK(errors(output) == "");
}
