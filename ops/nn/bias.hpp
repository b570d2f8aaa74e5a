#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>

namespace ktape::backend {

struct BiasOptions {
  std::optional<std::string> data_format = {};  ///< image_data_format() when not given
};

/// Returns x plus a bias. x is (batch, ..., channels), or (batch, channels, ...) with channels_first. A bias
/// of shape (channels,) adds one number to each channel. A bias whose rank is the rank of x minus 1 is added
/// to every sample; with channels_first this bias is *reshaped* (not transposed) to (1, channels, ...), as in
/// TF2. Throws ValueError for a bias of another rank, an unknown data format and sizes that do not fit.
/// `K.bias_add`.
///
///     std::cout << K::bias_add(K::zeros({2, 3}), K::constant({1., 2., 3.})) << "\n"
///               << K::bias_add(K::zeros({1, 2, 3}), K::constant({1., 2.}),
///                              {.data_format = "channels_first"});
Tensor bias_add(const Tensor& x, const Tensor& bias, const BiasOptions& options = {});

}  // namespace ktape::backend
