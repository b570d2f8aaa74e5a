#pragma once
#include <ktape/nn/applications/application.hpp>

namespace ktape::nn::applications {

/// Returns the network of "Densely Connected Convolutional Networks" (2016): images of 224 x 224 pixels, at
/// least 32, with their channels last. 8,062,504 weights. `keras.applications.DenseNet121`.
///
///     std::cout << nn::applications::DenseNet121(
///                      {.include_top = false, .input_shape = {64, 64, 3}})
///                      .count_params();
Model DenseNet121(const ApplicationOptions& options = {});

namespace densenet {
/// Calls `applications::preprocess_input` in the mode "torch".
///
///     std::cout << nn::applications::densenet::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}));
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace densenet

}  // namespace ktape::nn::applications
