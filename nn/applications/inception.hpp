#pragma once
#include <ktape/nn/applications/application.hpp>

namespace ktape::nn::applications {

/// Returns the network of "Rethinking the Inception Architecture for Computer Vision" (2015): images of 299 x
/// 299 pixels, at least 75. The convolutions have automatic names: conv2d to conv2d_93 if the program has
/// made no other convolutions, or after `backend::reset_uids()`. Files load by position in any case, by name
/// only with these names. 23,851,784 weights. `keras.applications.InceptionV3`.
///
///     std::cout << nn::applications::InceptionV3(
///                      {.include_top = false, .input_shape = {96, 96, 3}})
///                      .count_params();
Model InceptionV3(const ApplicationOptions& options = {});

namespace inception_v3 {
/// Calls `applications::preprocess_input` in the mode "tf".
///
///     std::cout << nn::applications::inception_v3::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}));
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace inception_v3

}  // namespace ktape::nn::applications
