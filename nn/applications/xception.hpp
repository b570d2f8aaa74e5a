#pragma once
#include <ktape/nn/applications/application.hpp>

namespace ktape::nn::applications {

/// Returns the network of "Xception: Deep Learning with Depthwise Separable Convolutions" (2016): images of
/// 299 x 299 pixels, at least 71. The convolutions of its shortcuts have automatic names. 22,910,480 weights.
/// `keras.applications.Xception`.
///
///     std::cout << nn::applications::Xception(
///                      {.include_top = false, .input_shape = {96, 96, 3}})
///                      .count_params();
Model Xception(const ApplicationOptions& options = {});

namespace xception {
/// Calls `applications::preprocess_input` in the mode "tf".
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace xception

}  // namespace ktape::nn::applications
