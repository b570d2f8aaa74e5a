#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>

namespace ktape::backend {

struct BiasOptions {
  std::optional<std::string> data_format = {};  ///< image_data_format() when it is not given
};

/// x plus a bias for each channel: x of shape (batch, ..., channels), or (batch, channels, ...) with
/// channels_first, and a bias of shape (channels,). A bias of the rank of x less one is added to every
/// sample; with channels_first it is *reshaped* (not transposed) to (1, channels, ...), as TF2 does. Throws
/// ValueError for other ranks, an unknown data format and sizes that do not fit. `K.bias_add`.
Tensor bias_add(const Tensor& x, const Tensor& bias, const BiasOptions& options = {});

}  // namespace ktape::backend
