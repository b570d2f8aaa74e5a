#pragma once
#include <ktape/nn/applications/application.hpp>

namespace ktape::nn::applications {

struct ConvNeXtOptions {
  // The options of ApplicationOptions.
  bool include_top = true;
  bool include_preprocessing = true;  ///< whether the model normalizes values from 0 to 255 (3 channels only)
  std::string weights = {};
  Tensor input_tensor = {};
  Shape input_shape = {};
  std::string pooling = {};
  std::int64_t classes = 1000;
  ActivationFunction classifier_activation = "softmax";
  std::string name = {};  ///< "convnext_tiny" by default; the names of the layers begin with it
};

/// Returns the network of "A ConvNet for the 2020s" (2022): images of 224 x 224 pixels, at least 32, with
/// their channels last. 28,589,128 weights. `keras.applications.ConvNeXtTiny`.
///
///     std::cout << nn::applications::ConvNeXtTiny(
///                      {.include_top = false, .input_shape = {64, 64, 3}})
///                      .count_params();
Model ConvNeXtTiny(const ConvNeXtOptions& options = {});

namespace convnext {
/// Returns the images unchanged: the model contains the preprocessing.
///
///     std::cout << nn::applications::convnext::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}));
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace convnext

}  // namespace ktape::nn::applications
