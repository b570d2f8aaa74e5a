#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ktape::kernels {

/// A product kept as mantissa 2^exponent, so that no part of it overflows or vanishes: a product with a factor 0 is 0, however large
/// the others are together. It is NaN for NaN, and for 0 times an infinite factor.
template <class A>
class ScaledProduct {
 public:
  void multiply(A factor) {
    int power = 0;
    mantissa_ *= std::frexp(factor, &power);  // two mantissas of at least a half
    exponent_ += power;
    mantissa_ = std::frexp(mantissa_, &power);
    exponent_ += power;
  }
  A value() const {
    constexpr std::int64_t most = 4 * std::numeric_limits<A>::max_exponent;
    return std::ldexp(mantissa_, static_cast<int>(std::clamp(exponent_, -most, most)));
  }

 private:
  A mantissa_ = 1;
  std::int64_t exponent_ = 0;
};

}  // namespace ktape::kernels
