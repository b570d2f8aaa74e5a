#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

/// The functions of two tensors of integers.
namespace ktape::ops {

using op_helpers::integer_binary, op_helpers::Operands;

namespace {

Operands integers(const char* op, const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = op_helpers::promoted(op, x1, x2);
  if (!o.x.dtype().is_integer())
    fail<TypeError>("[", op, "] both tensors must hold integers: received dtype=", o.x.dtype());
  return o;
}

/// Returns |x|, also for the lowest number.
template <class T>
std::make_unsigned_t<T> magnitude(T x) {
  using Bits = std::make_unsigned_t<T>;
  return static_cast<Bits>(x < 0 ? Bits(0) - static_cast<Bits>(x) : static_cast<Bits>(x));
}

/// Returns the places by which a shift moves bits, at least 0 and below the number of bits.
template <class T>
int places(T n) {
  return static_cast<int>(std::clamp<T>(n, 0, static_cast<T>(8 * sizeof(T) - 1)));
}

}  // namespace

Tensor gcd(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return integer_binary("gcd", integers("gcd", x1, x2), [](auto x, auto y) {
    return static_cast<decltype(x)>(std::gcd(magnitude(x), magnitude(y)));
  });
}
Tensor lcm(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return integer_binary("lcm", integers("lcm", x1, x2), [](auto x, auto y) {
    if (x == 0 || y == 0) return decltype(x)(0);
    return static_cast<decltype(x)>(magnitude(x) / std::gcd(magnitude(x), magnitude(y)) * magnitude(y));
  });
}

Tensor bitwise_left_shift(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("bitwise_left_shift");
  return integer_binary("bitwise_left_shift", integers("bitwise_left_shift", x, y), [](auto a, auto n) {
    using T = decltype(a);
    const T shifted = static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << places(n));
    return n < static_cast<T>(8 * sizeof(T)) ? shifted : T(0);
  });
}
Tensor bitwise_right_shift(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("bitwise_right_shift");
  return integer_binary("bitwise_right_shift", integers("bitwise_right_shift", x, y), [](auto a, auto n) {
    using T = decltype(a);
    const T shifted = static_cast<T>(a >> places(n));
    return std::is_signed_v<T> || n < static_cast<T>(8 * sizeof(T)) ? shifted : T(0);
  });
}
Tensor left_shift(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("left_shift");
  return bitwise_left_shift(x, y);
}
Tensor right_shift(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("right_shift");
  return bitwise_right_shift(x, y);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations integer_operations() {
  static constexpr Operation rows[] = {
      {"Gcd", "numpy", "x1, x2;", calls<ops::gcd>},
      {"Lcm", "numpy", "x1, x2;", calls<ops::lcm>},
      {"BitwiseLeftShift", "numpy", "x, y;", calls<ops::bitwise_left_shift>},
      {"BitwiseRightShift", "numpy", "x, y;", calls<ops::bitwise_right_shift>},
      {"LeftShift", "numpy", "x, y;", calls<ops::left_shift>},
      {"RightShift", "numpy", "x, y;", calls<ops::right_shift>},
  };
  return rows;
}

}  // namespace ktape::nn
