#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

/// Quotients and remainders of two tensors.
namespace ktape::ops {

namespace K = backend;
namespace vectors = kernels::functions;
using kernels::Batch;
using op_helpers::integer_binary, op_helpers::Operands, op_helpers::promoted, op_helpers::promoted_floating,
    op_helpers::smooth_binary;

namespace {

/// Returns where exactly one of two conditions holds. xsimd 8.1 has no correct form: with AVX-512, ^ is |, and with AVX,
/// != is false for two conditions that hold.
template <class Mask>
Mask differ(const Mask& a, const Mask& b) {
  return (a | b) & !(a & b);
}

/// Returns C's remainder of x / y, which has the sign of x. The quotient may be rounded up to the next integer; the
/// remainder of that integer is exact and has the wrong sign. Large quotients are computed pair by pair.
template <class A>
Batch<A> remainder(const Batch<A>& x, const Batch<A>& y) {
  const auto exact = [](A a, A b) { return std::fmod(a, b); };
#if defined(KTAPE_FUSED)
  constexpr A most = A(1) / std::numeric_limits<A>::epsilon();
  const Batch<A> quotient = xsimd::trunc(x / y), zero(A(0)), one(A(1));
  const auto small =
      (xsimd::abs(quotient) < Batch<A>(most)) & (xsimd::abs(y) <= Batch<A>(std::numeric_limits<A>::max()));
  const Batch<A> rest = kernels::detail::fused(-quotient, y, x);
  const auto beyond = differ(rest < zero, x < zero);
  const Batch<A> mended = xsimd::select(beyond & (rest != zero), rest + xsimd::copysign(y, x), rest);
  const Batch<A> result = xsimd::copysign(mended, x);
  if (xsimd::all(small)) return result;
  return xsimd::select(
      small, result,
      vectors::pair_by_pair(xsimd::select(small, one, x), xsimd::select(small, one, y), exact));
#else
  return vectors::pair_by_pair(x, y, exact);
#endif
}

/// Returns x / y, where a quotient by 0 is 0.
template <class A>
Batch<A> quotient_or_zero(const Batch<A>& x, const Batch<A>& y) {
  const auto none = y == Batch<A>(A(0));
  return xsimd::select(none, Batch<A>(A(0)), x / y);
}

/// Returns the quotient of integers, rounded by `round`, a function of doubles; 0 for the divisor 0. Quotients of up to 32
/// bits are computed as doubles, which have vectors: rounding moves no quotient over an integer.
template <class T, class F>
T rounded_quotient(T x, T y, F round) {
  using Bits = std::make_unsigned_t<T>;
  const bool plain = y != 0 && (std::is_unsigned_v<T> || y != static_cast<T>(-1));
  const T divisor = plain ? y : T(1);
  T quotient;
  if constexpr (sizeof(T) <= 4) {
    quotient = static_cast<T>(round(static_cast<double>(x) / static_cast<double>(divisor)));
  } else {
    quotient = x / divisor;
    if (round(-0.5) < 0) quotient -= x % divisor != 0 && (x < 0) != (divisor < 0);
  }
  const T negative = static_cast<T>(Bits(0) - static_cast<Bits>(x));  // the lowest number wraps around
  return plain ? quotient : y == 0 ? T(0) : negative;
}

/// Returns x - y q for the quotient q that `rounded_quotient` returns; 0 for the divisor 0.
template <class T, class F>
T rest_of(T x, T y, F round) {
  return y == 0 ? T(0) : static_cast<T>(x - y * rounded_quotient(x, y, round));
}

constexpr auto down = [](double x) { return std::floor(x); };
constexpr auto to_zero = [](double x) { return std::trunc(x); };

Operands numbers_of(const char* op, const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = promoted(op, x1, x2);
  return {op_helpers::counted(op, o.x), op_helpers::counted(op, o.y)};
}

}  // namespace

Tensor divide_no_nan(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "divide_no_nan", promoted_floating("divide_no_nan", x1, x2),
      [](auto x, auto y) { return quotient_or_zero(x, y); },
      [](const Tensor&, const Tensor& y, const Tensor&) { return divide_no_nan(1, y); },
      [](const Tensor&, const Tensor& y, const Tensor& result) { return -divide_no_nan(result, y); });
}

Tensor floor_divide(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("floor_divide", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_binary("floor_divide", o, [](auto x, auto y) { return rounded_quotient(x, y, down); });
  return smooth_binary(
      "floor_divide", o, [](auto x, auto y) { return vectors::floor(x / y); }, nullptr, nullptr);
}

Tensor mod(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("mod", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_binary("mod", o, [](auto x, auto y) { return rest_of(x, y, down); });
  return smooth_binary(
      "mod", o,
      [](auto x, auto y) {
        const auto rest = remainder(x, y), zero = decltype(rest)(0);
        return xsimd::select((rest != zero) & differ(rest < zero, y < zero), rest + y, rest);
      },
      [](const Tensor& x, const Tensor&, const Tensor&) { return K::ones_like(x); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return -floor(x / y); });
}

Tensor fmod(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("fmod", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_binary("fmod", o, [](auto x, auto y) { return rest_of(x, y, to_zero); });
  return smooth_binary(
      "fmod", o, [](auto x, auto y) { return remainder(x, y); },
      [](const Tensor& x, const Tensor&, const Tensor&) { return K::ones_like(x); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return -trunc(x / y); });
}

}  // namespace ktape::ops
