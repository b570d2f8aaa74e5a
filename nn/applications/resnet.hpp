#pragma once
#include <ktape/nn/applications/application.hpp>

/// Residual networks of 50 layers: images of 224 x 224 pixels, at least 32.
namespace ktape::nn::applications {

/// Returns the network of "Deep Residual Learning for Image Recognition" (2015). 25,636,712 weights.
/// `keras.applications.ResNet50`.
Model ResNet50(const ApplicationOptions& options = {});

/// Returns the network of "Identity Mappings in Deep Residual Networks" (2016): normalization and activation
/// come before the convolutions. 25,613,800 weights. `keras.applications.ResNet50V2`.
Model ResNet50V2(const ApplicationOptions& options = {});

namespace resnet {
/// Calls `applications::preprocess_input` in the mode "caffe".
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace resnet

namespace resnet_v2 {
/// Calls `applications::preprocess_input` in the mode "tf".
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace resnet_v2

}  // namespace ktape::nn::applications
