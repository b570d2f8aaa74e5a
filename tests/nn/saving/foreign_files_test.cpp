#include "../../hdf5.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../ops/check.hpp"

/// Files that Keras and TensorFlow.js wrote, with the predictions of these programs: see
/// tests/model_files/README.md.

namespace fs = std::filesystem;
namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::Variable, nn::Value;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Tensor> tensors_in(const fs::path& path) {
  std::vector<Tensor> tensors;
  const Value all = nn::from_json(text_of(path));
  for (const Value& described : all.list()) {
    const nn::Config& tensor = described.config();
    std::vector<double> numbers;
    for (const Value& number : tensor.at("data").list())
      numbers.push_back(number.is_boolean() ? number.boolean() : number.number());
    const Tensor flat = K::cast(K::constant(numbers), tensor.at("dtype").string());
    tensors.push_back(K::reshape(flat, tensor.at("shape").shape()));
  }
  return tensors;
}

/// Returns the largest |a - b| / max(1, |b|).
double distance(const Tensor& a, const Tensor& b) {
  const Tensor x = K::cast(a, "float64"), y = K::cast(b, "float64");
  return K::max(K::abs(x - y) / K::maximum(K::abs(y), K::ones_like(y))).item<double>();
}

std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns the model of a file. A file of weights is loaded into the model that TensorFlow.js wrote.
nn::Model model_in(const fs::path& path) {
  if (fs::is_directory(path)) return nn::load_model((path / "model.json").string());
  if (!path.string().ends_with(".weights.h5")) return nn::load_model(path.string());
  nn::Model model = nn::load_model((path.parent_path() / "tfjs" / "model.json").string());
  for (const Variable& weight : model.weights()) Variable(weight).assign(K::zeros_like(weight));
  model.load_weights(path.string());
  return model;
}

}  // namespace

TEST_CASE("models of Keras and TensorFlow.js give the predictions of these programs" * needs_hdf5) {
  for (const fs::path& folder : sorted("tests/model_files")) {
    if (!fs::is_directory(folder)) continue;
    const std::vector<Tensor> inputs = tensors_in(folder / "inputs.json"),
                              expected = tensors_in(folder / "outputs.json");
    for (const fs::path& path : sorted(folder)) {
      if (path.extension() == ".json") continue;
      CAPTURE(path.string());
      const std::vector<Tensor> outputs = model_in(path).predict(inputs, {.verbose = 0});
      REQUIRE(outputs.size() == expected.size());
      const double tolerance = path.filename() == "tfjs_uint16" ? 1e-3 : 1e-4;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        REQUIRE(outputs[i].shape() == expected[i].shape());
        CHECK(distance(outputs[i], expected[i]) <= tolerance);
      }
    }
  }
}
