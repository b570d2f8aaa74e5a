#pragma once
#include <ktape/nn/applications/application.hpp>

/// Residual networks of 50 layers: images of 224 x 224 pixels, at least 32.
namespace ktape::nn::applications {

/// Returns the network of "Deep Residual Learning for Image Recognition" (2015). 25,636,712 weights.
/// `keras.applications.ResNet50`.
///
///     nn::Model model =
///         nn::applications::ResNet50({.input_shape = {64, 64, 3}, .classes = 10});
///     std::cout << model.count_params();
Model ResNet50(const ApplicationOptions& options = {});

/// Returns the network of "Identity Mappings in Deep Residual Networks" (2016): normalization and activation
/// come before the convolutions. 25,613,800 weights. `keras.applications.ResNet50V2`.
///
///     nn::Model model =
///         nn::applications::ResNet50V2({.include_top = false, .pooling = "avg"});
///     std::cout << model.count_params() << " " << K::int_shape(model.outputs()[0]);
Model ResNet50V2(const ApplicationOptions& options = {});

namespace resnet {
/// Calls `applications::preprocess_input` in the mode "caffe".
///
///     Tensor pixel = K::constant({{{{255., 0., 127.5}}}});
///     std::cout << nn::applications::resnet::preprocess_input(pixel) << "\n"
///               << nn::applications::vgg16::preprocess_input(pixel);
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace resnet

namespace resnet_v2 {
/// Calls `applications::preprocess_input` in the mode "tf".
///
///     Tensor pixel = K::constant({{{{255., 0., 127.5}}}});
///     std::cout << nn::applications::resnet_v2::preprocess_input(pixel) << "\n"
///               << nn::applications::xception::preprocess_input(pixel);
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace resnet_v2

}  // namespace ktape::nn::applications
