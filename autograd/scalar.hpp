#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ktape {

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

/// One number of any arithmetic type, as an argument: it takes the dtype of the tensor that it meets.
class Scalar {
 public:
  enum Kind : std::uint8_t { Bool, Integer, Real };

  template <Arithmetic T>
  Scalar(T value) : kind_(std::is_same_v<T, bool> ? Bool
                          : std::is_integral_v<T> ? Integer
                                                  : Real) {
    if constexpr (std::is_integral_v<T>) integer_ = static_cast<std::int64_t>(value);
    else real_ = static_cast<double>(value);
  }

  Kind kind() const { return kind_; }
  double real() const { return kind_ == Real ? real_ : static_cast<double>(integer_); }
  /// Truncates towards zero; out of range saturates and NaN becomes 0, so that no conversion is undefined.
  std::int64_t integer() const {
    if (kind_ != Real) return integer_;
    if (!(real_ > -9223372036854775808.0))
      return std::isnan(real_) ? 0 : std::numeric_limits<std::int64_t>::min();
    return real_ >= 9223372036854775808.0 ? std::numeric_limits<std::int64_t>::max()
                                          : static_cast<std::int64_t>(real_);
  }
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) return kind_ == Real ? real_ != 0 : integer_ != 0;
    else if constexpr (std::is_integral_v<T>) return static_cast<T>(integer());
    else
      return static_cast<T>(
          static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(real()));
  }

 private:
  Kind kind_;
  union {
    std::int64_t integer_;
    double real_;
  };
};

}  // namespace ktape
