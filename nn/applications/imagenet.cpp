#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/layers/convolutional/spatial.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn::applications {
namespace K = backend;

// --- Images -----------------------------------------------------------------------------------------------

namespace {

/// Returns a number for each channel, shaped to broadcast with the images.
Tensor per_channel(const std::vector<double>& numbers, const Tensor& images, int axis) {
  Shape shape(std::vector<std::int64_t>(static_cast<std::size_t>(images.ndim()), 1));
  shape[axis] = 3;
  return K::reshape(K::constant(numbers, {.dtype = images.dtype()}), shape);
}

}  // namespace

Tensor preprocess_input(const Tensor& images, const PreprocessOptions& options) {
  if (options.mode != "caffe" && options.mode != "tf" && options.mode != "torch")
    fail("[preprocess_input] mode must be \"caffe\", \"tf\" or \"torch\": received mode=\"", options.mode,
         '"');
  const bool first = data_format("preprocess_input", options.data_format) == "channels_first";
  const int axis = first ? images.ndim() - 3 : images.ndim() - 1;
  if (images.ndim() < 3 || images.ndim() > 4 || images.shape()[axis] != 3)
    fail("[preprocess_input] images must have 3 channels, alone or in a batch: received shape=",
         images.shape());
  const Tensor x = images.dtype().is_floating() ? images : K::cast(images, K::floatx());
  if (options.mode == "tf") return x / 127.5 - 1.;
  if (options.mode == "caffe") return K::reverse(x, axis) - per_channel({103.939, 116.779, 123.68}, x, axis);
  return (x / 255. - per_channel({0.485, 0.456, 0.406}, x, axis)) /
         per_channel({0.229, 0.224, 0.225}, x, axis);
}

// --- Scores -----------------------------------------------------------------------------------------------

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

/// Reads the names and descriptions of all classes, in order of their numbers.
Names class_names(const std::string& path) {
  data::InputFile file("decode_predictions", path);
  constexpr const char* rule = "the class index must be {\"0\": [name, description], ...}";
  try {
    const Value index = from_json(file.rest());
    const Config& classes = index.config();
    Names names;
    for (std::size_t number = 0; number < classes.size(); ++number) {
      const Value::List& entry = classes.at(std::to_string(number)).list();
      if (entry.size() != 2) file.fail(rule, "class ", number, " has ", entry.size(), " entries");
      names.emplace_back(entry[0].string(), entry[1].string());
    }
    return names;
  } catch (const ValueError& error) {
    file.fail(rule, error.what());
  } catch (const TypeError& error) {
    file.fail(rule, error.what());
  }
}

}  // namespace

std::vector<std::vector<DecodedPrediction>> decode_predictions(const Tensor& predictions,
                                                               const std::string& class_index,
                                                               const DecodeOptions& options) {
  if (options.top < 1) fail("[decode_predictions] top must be at least 1: received top=", options.top);
  const Names names = class_names(class_index);
  const auto classes = static_cast<std::int64_t>(names.size());
  if (predictions.ndim() != 2 || predictions.shape()[1] != classes)
    fail("[decode_predictions] predictions must have the shape (samples, ", classes, ") for the classes of ",
         class_index, ": received shape=", predictions.shape());
  const K::TopK best = K::top_k(K::cast(predictions, DType::Float64), std::min(options.top, classes));
  std::vector<std::vector<DecodedPrediction>> decoded(static_cast<std::size_t>(predictions.shape()[0]));
  for (std::int64_t row = 0; row < best.values.shape()[0]; ++row)
    for (std::int64_t place = 0; place < best.values.shape()[1]; ++place) {
      const auto& [name, description] = names[best.indices.item<std::size_t>(row, place)];
      decoded[static_cast<std::size_t>(row)].push_back(
          {name, description, best.values.item<double>(row, place)});
    }
  return decoded;
}

}  // namespace ktape::nn::applications
