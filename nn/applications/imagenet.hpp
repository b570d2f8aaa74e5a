#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <vector>

/// Between pictures and what networks of ImageNet read, and between their scores and words.
namespace ktape::nn::applications {

struct PreprocessOptions {
  std::string data_format = {};  ///< K::image_data_format() by default
  std::string mode = "caffe";
};

/// Images, (height, width, 3) or a batch of them with values from 0 to 255, as networks want them; integers
/// become floatx():
///
/// - "caffe": blue, green, red in this order, each minus its mean over ImageNet;
/// - "tf": from -1 to 1;
/// - "torch": from 0 to 1, then normalized by each channel's mean and deviation over ImageNet.
///
/// Throws ValueError for an unknown mode or data format, and for images that do not have 3 channels.
/// `keras.applications.imagenet_utils.preprocess_input`.
Tensor preprocess_input(const Tensor& images, const PreprocessOptions& options = {});

/// A class, and how sure a network is of it.
struct DecodedPrediction {
  std::string class_name;  ///< WordNet's number: "n02504458"
  std::string class_description;
  double score;
};

struct DecodeOptions {
  std::int64_t top = 5;  ///< how many classes for each image
};

/// The classes with the highest scores for each row of (samples, classes), the best first; of equal scores
/// the class with the lower number. `class_index` is a JSON file like Keras's imagenet_class_index.json:
/// {"0":
/// ["n01440764", "tench"], ...}. Throws ValueError for predictions of another shape than it has classes and
/// for a `top` below 1, IOError for a file that is missing or says something else.
/// `keras.applications.imagenet_utils.decode_predictions`.
std::vector<std::vector<DecodedPrediction>> decode_predictions(const Tensor& predictions,
                                                               const std::string& class_index,
                                                               const DecodeOptions& options = {});

}  // namespace ktape::nn::applications
