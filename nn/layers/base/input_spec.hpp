#pragma once
#include <ktape/autograd/base/shape.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ktape::nn {

/// Requirements on an input. An error names the layer and the requirements. Mirrors `keras.InputSpec`.
///
///     nn::InputSpec spec{.ndim = 2};
///     std::cout << *spec.ndim;
struct InputSpec {
  std::optional<int> ndim = {}, min_ndim = {}, max_ndim = {};
  std::vector<std::pair<int, std::int64_t>> axes = {};  ///< (axis, required extent); axes may be negative

  /// Returns whether a shape meets the requirements. An extent of the shape that is None meets each.
  bool accepts(const Shape& shape) const;
  /// Returns the requirements for an error message: "ndim=3, shape[-1]=4".
  std::string text() const;
};

}  // namespace ktape::nn
