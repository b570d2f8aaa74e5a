#pragma once
#include <ktape/nn/applications/application.hpp>

namespace ktape::nn::applications {

/// Returns the network of "Very Deep Convolutional Networks for Large-Scale Image Recognition" (2014): images
/// of 224 x 224 pixels, at least 32. The classifier has two more layers, of 4096 units, on the flattened
/// features. 138,357,544 weights. `keras.applications.VGG16`.
///
///     nn::Model model = nn::applications::VGG16(
///         {.include_top = false, .input_shape = {64, 64, 3}, .pooling = "avg"});
///     std::cout << model.count_params() << " "
///               << model.predict(K::ones({1, 64, 64, 3}), {.verbose = 0}).shape();
Model VGG16(const ApplicationOptions& options = {});

namespace vgg16 {
/// Calls `applications::preprocess_input` in the mode "caffe".
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace vgg16

}  // namespace ktape::nn::applications
