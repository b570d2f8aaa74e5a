#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/schema/typed_call.hpp>

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

/// A division with a rest: x = quotient y + rest. Python rounds the quotient down, so that the rest has the sign of y; C rounds it
/// to zero, so that the rest has the sign of x.
template <class B>
struct Division {
  B quotient, rest;
};
enum class Rounding { Down, ToZero };

/// Returns the whole quotient, and the rest, which is exact, as Python and NumPy compute them: x / y rounds 1 / 0.1 up to 10.
template <Rounding rounding, class A>
Division<A> division_of(A x, A y) {
  A rest = std::fmod(x, y);
  if (y == 0) return {x / y, rest};
  long double quotient = (static_cast<long double>(x) - rest) / y;  // whole, but for rounding errors
  if (rounding == Rounding::Down && rest != 0 && (rest < 0) != (y < 0)) quotient -= 1, rest += y;
  if (rest == 0) rest = std::copysign(rest, rounding == Rounding::Down ? y : x);
  return {quotient == 0 ? std::copysign(A(0), x / y) : static_cast<A>(std::nearbyint(quotient)), rest};
}

template <Rounding rounding, class A>
Division<Batch<A>> division_one_by_one(const Batch<A>& x, const Batch<A>& y) {
  A a[Batch<A>::size], b[Batch<A>::size];
  x.store_unaligned(a), y.store_unaligned(b);
  for (std::size_t i = 0; i < Batch<A>::size; ++i) {
    const Division<A> found = division_of<rounding>(a[i], b[i]);
    a[i] = found.quotient, b[i] = found.rest;
  }
  return {Batch<A>::load_unaligned(a), Batch<A>::load_unaligned(b)};
}

/// Divides vectors. A quotient that is rounded to a whole number can be one too large; the rest for that quotient is exact and has
/// the wrong sign. Large quotients are computed one by one.
template <Rounding rounding, class A>
Division<Batch<A>> division_of(const Batch<A>& x, const Batch<A>& y) {
#if defined(KTAPE_FUSED)
  using Result = Division<Batch<A>>;
  constexpr A most = A(1) / std::numeric_limits<A>::epsilon();
  const Batch<A> ratio = x / y, nearly = vectors::trunc(ratio), zero(A(0)), one(A(1));
  const auto small =
      (xsimd::abs(nearly) < Batch<A>(most)) & (xsimd::abs(y) <= Batch<A>(std::numeric_limits<A>::max()));
  const Batch<A> rest = kernels::detail::fused(-nearly, y, x);
  const bool down = rounding == Rounding::Down;
  // The rest must have the sign of x or, rounded down, of y.
  const auto beyond = differ(rest < zero, (down ? y : x) < zero) & (rest != zero);
  const Batch<A> step = down ? one : xsimd::copysign(one, ratio);
  const Batch<A> mended = xsimd::select(beyond, rest + (down ? y : xsimd::copysign(y, x)), rest);
  const Batch<A> quotient = xsimd::select(beyond, nearly - step, nearly);
  const Result result{xsimd::select(quotient == zero, xsimd::copysign(quotient, ratio), quotient),
                      xsimd::select(mended == zero, xsimd::copysign(mended, down ? y : x), mended)};
  if (xsimd::all(small)) return result;
  const Result exact =
      division_one_by_one<rounding>(xsimd::select(small, one, x), xsimd::select(small, one, y));
  return {xsimd::select(small, result.quotient, exact.quotient),
          xsimd::select(small, result.rest, exact.rest)};
#else
  return division_one_by_one<rounding>(x, y);
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
      "floor_divide", o, [](auto x, auto y) { return division_of<Rounding::Down>(x, y).quotient; }, nullptr,
      nullptr);
}

Tensor mod(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("mod", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_binary("mod", o, [](auto x, auto y) { return rest_of(x, y, down); });
  return smooth_binary(
      "mod", o, [](auto x, auto y) { return division_of<Rounding::Down>(x, y).rest; },
      [](const Tensor& x, const Tensor&, const Tensor&) { return K::ones_like(x); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return -floor_divide(x, y); });
}

Tensor fmod(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("fmod", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_binary("fmod", o, [](auto x, auto y) { return rest_of(x, y, to_zero); });
  return smooth_binary(
      "fmod", o, [](auto x, auto y) { return division_of<Rounding::ToZero>(x, y).rest; },
      [](const Tensor& x, const Tensor&, const Tensor&) { return K::ones_like(x); },
      [](const Tensor& x, const Tensor& y, const Tensor&) {
        return -smooth_binary(
            "fmod", {x, y}, [](auto x, auto y) { return division_of<Rounding::ToZero>(x, y).quotient; },
            nullptr, nullptr);
      });
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations division_operations() {
  static constexpr Operation rows[] = {
      {"DivideNoNan", "numpy", "x1, x2;", calls<ops::divide_no_nan>},
      {"FloorDivide", "numpy", "x1, x2;", calls<ops::floor_divide>},
      {"Fmod", "numpy", "x1, x2;", calls<ops::fmod>},
      {"Mod", "numpy", "x1, x2;", calls<ops::mod>},
  };
  return rows;
}

}  // namespace ktape::nn
