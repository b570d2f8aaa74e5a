#pragma once
#include <string>

namespace ktape::nn {

/// Returns Keras's default name for an object of a class: "conv2d_transpose" for "Conv2DTranspose".
///
///     std::cout << nn::to_snake_case("BatchNormalization");
std::string to_snake_case(const std::string& class_name);

}  // namespace ktape::nn
