#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <vector>

/// Preprocessing of pictures for models trained on ImageNet, and decoding of their scores.
namespace ktape::nn::applications {

struct PreprocessOptions {
  std::string data_format = {};  ///< K::image_data_format() by default
  std::string mode = "caffe";
};

/// Converts images, (height, width, 3) or a batch, with values from 0 to 255, to the input of a model;
/// integers become floatx(). The modes:
///
/// - "caffe": blue, green, red in this order, each minus its mean over ImageNet;
/// - "tf": from -1 to 1;
/// - "torch": from 0 to 1, then normalized by each channel's mean and deviation over ImageNet.
///
/// Throws ValueError for an unknown mode or data format, and for images that do not have 3 channels.
/// `keras.applications.imagenet_utils.preprocess_input`.
///
///     std::cout << nn::applications::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}), {.mode = "tf"});
Tensor preprocess_input(const Tensor& images, const PreprocessOptions& options = {});

/// A class and its score.
struct DecodedPrediction {
  std::string class_name;  ///< WordNet's number: "n02504458"
  std::string class_description;
  double score;
};

struct DecodeOptions {
  std::int64_t top = 5;  ///< the number of classes for each image
};

/// Returns the classes with the highest scores for each row of (samples, classes), the best first; of equal
/// scores the class with the lower number. `class_index` is a JSON file like Keras's
/// imagenet_class_index.json: {"0": ["n01440764", "tench"], ...}. Throws ValueError for predictions whose
/// columns are not the file's classes and for a `top` below 1, IOError for a file that is missing or of
/// another form. Mirrors `keras.applications.imagenet_utils.decode_predictions`.
///
///     // Keras's imagenet_class_index.json has 1000 of these.
///     std::ofstream("classes.json") << R"({"0": ["n01440764", "tench"],
///         "1": ["n01443537", "goldfish"], "2": ["n01484850", "great_white_shark"]})";
///     Tensor scores = K::constant({{0.2, 0.7, 0.1}});
///     auto best =
///         nn::applications::decode_predictions(scores, "classes.json", {.top = 2});
///     for (const nn::applications::DecodedPrediction& found : best[0])
///       std::cout << found.class_name << " " << found.class_description << " "
///                 << found.score << "\n";
std::vector<std::vector<DecodedPrediction>> decode_predictions(const Tensor& predictions,
                                                               const std::string& class_index,
                                                               const DecodeOptions& options = {});

}  // namespace ktape::nn::applications
