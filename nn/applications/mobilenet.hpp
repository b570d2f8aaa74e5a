#pragma once
#include <ktape/nn/applications/application.hpp>

/// Small networks: images of 224 x 224 pixels, at least 32. `alpha` is the width: the numbers of filters are
/// multiplied by alpha and rounded to multiples of 8. Throws ValueError, naming the function, for an alpha
/// that is not above 0, beside the errors of all applications.
namespace ktape::nn::applications {

struct MobileNetV2Options {
  Shape input_shape = {};
  double alpha = 1;  ///< published: 0.35, 0.5, 0.75, 1, 1.3 and 1.4
  // The options of ApplicationOptions.
  bool include_top = true;
  std::string weights = {};
  Tensor input_tensor = {};
  std::string pooling = {};
  std::int64_t classes = 1000;
  ActivationFunction classifier_activation = "softmax";
  std::string name = {};  ///< "mobilenetv2_1.00_224" by default: alpha and the height of the images
};

/// Returns the network of "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018). 3,538,984 weights.
/// `keras.applications.MobileNetV2`.
///
///     std::cout << nn::applications::MobileNetV2(
///                      {.input_shape = {96, 96, 3}, .classes = 10})
///                      .count_params();
Model MobileNetV2(const MobileNetV2Options& options = {});

struct MobileNetV3Options {
  Shape input_shape = {};
  double alpha = 1;           ///< published: 0.75 and 1, and 1 for minimalistic networks
  bool minimalistic = false;  ///< without squeeze and excitation, hard swish and windows of 5 pixels
  // The options of ApplicationOptions.
  bool include_top = true;
  std::string weights = {};
  Tensor input_tensor = {};
  std::int64_t classes = 1000;
  std::string pooling = {};
  double dropout_rate = 0.2;  ///< rate of the dropout before the classifier
  ActivationFunction classifier_activation = "softmax";
  bool include_preprocessing = true;  ///< whether inputs are values from 0 to 255; otherwise from -1 to 1
  std::string name = {};
};

/// Returns the network of "Searching for MobileNetV3" (2019). By default the network takes images of any
/// size, also with the classifier. 2,554,968 weights. `keras.applications.MobileNetV3Small`.
///
///     nn::Model model = nn::applications::MobileNetV3Small(
///         {.input_shape = {64, 64, 3}, .classes = 10});
///     std::cout << model.count_params();
Model MobileNetV3Small(const MobileNetV3Options& options = {});

namespace mobilenet_v2 {
/// Calls `applications::preprocess_input` in the mode "tf".
///
///     std::cout << nn::applications::mobilenet_v2::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}));
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace mobilenet_v2

namespace mobilenet_v3 {
/// Returns the images unchanged: the model contains the preprocessing.
///
///     std::cout << nn::applications::mobilenet_v3::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}));
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace mobilenet_v3

}  // namespace ktape::nn::applications
