#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <type_traits>

namespace ktape {

class DType;

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

/// An argument that is one number of any arithmetic type. The number takes the dtype of the other operand, a
/// tensor. An unsigned integer that int64 cannot hold is stored as a real number.
///
///     std::cout << K::full({2}, 3) << " " << K::full({2}, 3.5);
class Scalar {
 public:
  enum Kind : std::uint8_t { Bool, Integer, Real };

  template <Arithmetic T>
  Scalar(T value) : kind_(std::is_same_v<T, bool> ? Bool
                          : std::is_integral_v<T> ? Integer
                                                  : Real) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t))
      if (value > static_cast<T>(std::numeric_limits<std::int64_t>::max())) kind_ = Real;
    if (kind_ == Real) real_ = static_cast<double>(value);
    else integer_ = static_cast<std::int64_t>(value);
  }

  Kind kind() const { return kind_; }
  double real() const { return kind_ == Real ? real_ : static_cast<double>(integer_); }
  std::int64_t integer() const { return to<std::int64_t>(); }
  /// Returns the next whole number below (`floor`) or above (`ceil`).
  Scalar floor() const { return kind_ == Real ? Scalar(std::floor(real_)) : *this; }
  Scalar ceil() const { return kind_ == Real ? Scalar(std::ceil(real_)) : *this; }

  /// Converts by the rules of `K::cast`: to bool by `!= 0`, to integers by truncation (out of range
  /// saturates, NaN becomes 0), to floating types by rounding.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) return kind_ == Real ? real_ != 0 : integer_ != 0;
    else if constexpr (!std::is_integral_v<T>)
      return static_cast<T>(
          static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(real()));
    else if (in_range<T>()) return kind_ == Real ? static_cast<T>(real_) : static_cast<T>(integer_);
    else if (std::isnan(real())) return 0;
    else return real() < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }

  /// Returns whether `to<T>()` keeps the number except for rounding: a whole number in the range of an
  /// integer type, a number that a floating type T does not round to infinity, 0 or 1 for bool.
  template <class T>
  bool fits() const {
    if constexpr (std::is_same_v<T, bool>) return real() == 0 || real() == 1;
    else return in_range<T>() && (!std::is_integral_v<T> || real() == std::trunc(real()));
  }

  /// Returns `to<T>()`. Throws ValueError for a number outside the range of T.
  template <class T>
  T in() const {
    if (!in_range<T>()) out_of_range();
    return to<T>();
  }

 private:
  /// Returns whether the number is in the range of T. Fractions do not matter, because `to` cuts fractions
  /// off; every number is in the range of bool.
  template <class T>
  bool in_range() const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) return true;
    else if constexpr (!std::is_integral_v<T>)
      return !std::isfinite(real()) || std::isfinite(static_cast<double>(to<T>()));
    else if (kind_ == Real)
      return std::trunc(real_) >= static_cast<double>(Limits::min()) &&
             std::trunc(real_) < static_cast<double>(Limits::max()) + 1;
    else
      return integer_ < 0 ? integer_ >= static_cast<std::int64_t>(Limits::min())
                          : static_cast<std::uint64_t>(integer_) <= static_cast<std::uint64_t>(Limits::max());
  }
  [[noreturn]] void out_of_range() const;

  Kind kind_;
  union {
    std::int64_t integer_;
    double real_;
  };
};

/// Writes an integer with all digits, and a real number with the fewest digits that identify the number.
std::ostream& operator<<(std::ostream& out, Scalar number);

/// Returns whether the dtype holds the number; see Scalar::fits.
///
///     std::cout << ktape::fits(300, ktape::DType::UInt8) << "\n";
///     try {
///       ktape::expect_fits("my_op", 300, ktape::DType::UInt8);
///     } catch (const ktape::TypeError& error) {
///       std::cout << error.what();
///     }
bool fits(Scalar number, DType dtype);
/// Throws TypeError, naming the op, for a number that the dtype does not hold. Every number converts to bool.
void expect_fits(const char* op, Scalar number, DType dtype);

}  // namespace ktape
