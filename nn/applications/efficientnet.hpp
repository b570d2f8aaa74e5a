#pragma once
#include <ktape/nn/applications/application.hpp>

namespace ktape::nn::applications {

/// Returns the network of "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019):
/// images of 224 x 224 pixels, at least 32, with values from 0 to 255. 5,330,571 weights, of which 7 are the
/// mean, the variance and the count of its Normalization. `keras.applications.EfficientNetB0`.
///
/// The files that Keras publishes hold standard deviations in place of variances, for which Keras adds a
/// layer after downloading them; here `weights` squares the deviations.
///
///     std::cout << nn::applications::EfficientNetB0(
///                      {.include_top = false, .input_shape = {64, 64, 3}})
///                      .count_params();
Model EfficientNetB0(const ApplicationOptions& options = {});

namespace efficientnet {
/// Returns the images unchanged: the model contains the preprocessing.
///
///     std::cout << nn::applications::efficientnet::preprocess_input(
///         K::constant({{{{255., 0., 127.5}}}}));
Tensor preprocess_input(const Tensor& images, const std::string& data_format = {});
}  // namespace efficientnet

}  // namespace ktape::nn::applications
