#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/saving/tfjs/tfjs_file.hpp>
#include <ktape/nn/saving/tfjs/tfjs_names.hpp>
#include <ktape/nn/serialization/model_config.hpp>

#include <set>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

/// For tests of TensorFlow.js's files.
namespace tfjs_models {

namespace nn = ktape::nn;
namespace fs = std::filesystem;
using ktape::Tensor;
using nn::Config;

using Names = std::vector<std::string>;

inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Config json_of(const std::string& path) { return nn::from_json(content(path)).config(); }

inline Names names(const nn::Model& model) {
  Names names;
  for (const auto& [name, value] : nn::saving::tfjs_weights(model)) names.push_back(name);
  return names;
}

inline std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

inline Closeness same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return close(a, b, exactly);
}

/// Checks that a model that is saved and loaded has equal weights and predictions.
inline void check_round_trip(const nn::Model& model, const std::vector<Tensor>& inputs) {
  const Files files;
  const std::string path = files.folder() + "/web/model.json";
  model.save(path);
  const nn::Model again = nn::load_model(path);
  CHECK(again.name() == model.name());
  CHECK(names(again) == names(model));
  CHECK(same(again.get_weights(), model.get_weights()));
  CHECK(same(again.predict_on_batch(inputs), model.predict_on_batch(inputs)));
}

/// Returns a model with all kinds of names: convolutions, weights that are not trained, layers of layers,
/// automatic names.
inline nn::Model network() {
  const Tensor in = nn::Input({8, 8, 3}, {.name = "image"});
  Tensor h =
      nn::Conv2D(4, {3, 3}, {.strides = {2, 2}, .padding = "same", .use_bias = false, .name = "conv"})(in);
  h = nn::ReLU({.max_value = 6})(nn::BatchNormalization({.name = "norm"})(h));
  h = nn::Add()({nn::DepthwiseConv2D({3, 3}, {.padding = "same", .name = "depthwise"})(h), h});
  h = nn::Bidirectional(nn::LSTM(3, {.return_sequences = true}), {.name = "rows"})(nn::Reshape({4, 16})(h));
  h = nn::GRU(2, {.name = "last"})(h);
  return nn::Model(in, nn::Dense(3, {.activation = "softmax"})(nn::Dropout(0.2)(h)));
}

inline nn::Sequential dense() {
  return nn::Sequential({nn::Input({2}), nn::Dense(3, {.name = "hidden"}), nn::Dense(1, {.name = "out"})});
}

/// Returns a model.json with one group.
inline std::string manifest(const std::string& weights, const std::string& paths = "\"w.bin\"") {
  return R"({"format":"layers-model","modelTopology":null,"weightsManifest":[{"paths":[)" + paths +
         R"(],"weights":[)" + weights + "]}]}";
}

inline std::string weight(const char* name, const char* shape, const char* dtype, const char* more = "") {
  return std::string(R"({"name":")") + name + R"(","shape":)" + shape + R"(,"dtype":")" + dtype + '"' + more +
         '}';
}

inline std::string floats(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) bytes += little(std::bit_cast<std::uint32_t>(number));
  return bytes;
}

inline nn::saving::NamedTensors load(const std::string& path) {
  return nn::saving::TfjsFile("load_weights", path).weights();
}

}  // namespace tfjs_models
