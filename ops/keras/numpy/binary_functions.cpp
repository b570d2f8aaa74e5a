#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

/// The floating functions of two tensors that have kernels.
namespace ktape::ops {

namespace K = backend;
namespace vectors = kernels::functions;
using kernels::Batch;
using op_helpers::Operands, op_helpers::promoted, op_helpers::promoted_floating, op_helpers::smooth_binary;

namespace {

/// Returns the number after x in the direction of y: numbers of one sign are ordered as the integers of their bits.
template <class A>
Batch<A> next_after(const Batch<A>& given, const Batch<A>& towards) {
  using Numbers = kernels::Vec<A>;
  using Bits = kernels::Vec<kernels::bits_of<A>>;
  const Numbers x = given, y = towards, least = Numbers{} + std::numeric_limits<A>::denorm_min();
  const auto up = y > x, positive = x > A(0);
  const Bits bits = reinterpret_cast<Bits>(x);
  const Numbers next = reinterpret_cast<Numbers>(up == positive ? bits + 1 : bits - 1);
  const Numbers moved = x == A(0) ? kernels::wide::with_sign<A>(least, y) : next;
  return x == y ? y : x != x || y != y ? x + y : moved;
}

/// Returns x 2^n for whole n, as a product with up to three powers of 2. Only the last product can be subnormal, so that
/// the result is rounded once.
template <class A>
Batch<A> scaled(Batch<A> x, Batch<A> n) {
  using Limits = std::numeric_limits<A>;
  constexpr int up = Limits::max_exponent - 1, down = Limits::min_exponent - 1 + Limits::digits;
  const auto power = [](int k) { return Batch<A>(std::ldexp(A(1), k)); };
  const auto most = Batch<A>(A(up)), least = Batch<A>(A(Limits::min_exponent - 1));
  for (int i = 0; i < 2; ++i) {
    const auto above = n > most, below = n < least;
    x = xsimd::select(above, x * power(up), xsimd::select(below, x * power(down), x));
    n = xsimd::select(above, n - A(up), xsimd::select(below, n - A(down), n));
  }
  const kernels::Vec<A> rest = xsimd::max(least, xsimd::min(most, n));
  return x * Batch<A>(kernels::wide::scale_by_power(kernels::splat(A(1)), rest));
}

}  // namespace

Tensor ldexp(const Tensor& x1, const TensorOrNumber& x2) {
  const Tensor x = op_helpers::floating("ldexp", x1, "x1");
  const Tensor& exponent = x2.tensor("ldexp", DType::Int32);
  expect_defined("ldexp", "x2", exponent);
  if (exponent.dtype().is_floating())
    fail<TypeError>("[ldexp] x2 must hold integers: received x2=", exponent.dtype());
  if (is_symbolic(x, exponent))
    return defer(
        "ldexp", {broadcast_shapes("ldexp", x.shape(), exponent.shape(), "x1", "x2"), x.dtype()},
        [](const Tensor& x, const Tensor& n) { return ldexp(x, n); }, x, exponent);
  return smooth_binary(
      "ldexp", {x, K::cast(exponent, x.dtype())}, [](auto a, auto n) { return scaled(a, n); },
      [](const Tensor&, const Tensor& n, const Tensor&) { return exp2(n); }, nullptr);
}

namespace {
/// Returns x / h^2, without the square, which can overflow or vanish.
Tensor over_square(const Tensor& x, const Tensor& h) { return x / h / h; }
}  // namespace

Tensor arctan2(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "arctan2", promoted_floating("arctan2", x1, x2), [](auto y, auto x) { return vectors::atan2(y, x); },
      [](const Tensor& y, const Tensor& x, const Tensor&) { return over_square(x, hypot(x, y)); },
      [](const Tensor& y, const Tensor& x, const Tensor&) { return -over_square(y, hypot(x, y)); });
}

Tensor hypot(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "hypot", promoted_floating("hypot", x1, x2), [](auto x, auto y) { return vectors::hypot(x, y); },
      [](const Tensor& x, const Tensor&, const Tensor& h) { return divide_no_nan(x, h); },
      [](const Tensor&, const Tensor& y, const Tensor& h) { return divide_no_nan(y, h); });
}

Tensor logaddexp(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "logaddexp", promoted_floating("logaddexp", x1, x2),
      [](auto x, auto y) {
        using B = decltype(x);
        const B larger = xsimd::select(x > y, x, y), less = vectors::exp(B(-xsimd::abs(x - y)));
        return larger + xsimd::select(x == y, B(std::numbers::ln2), vectors::log1p_of_fraction(less));
      },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return K::sigmoid(x - y); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return K::sigmoid(y - x); });
}

Tensor logaddexp2(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "logaddexp2", promoted_floating("logaddexp2", x1, x2),
      [](auto x, auto y) {
        using B = decltype(x);
        const B larger = xsimd::select(x > y, x, y), less = vectors::exp2(B(-xsimd::abs(x - y)));
        return larger +
               xsimd::select(x == y, B(1), vectors::log1p_of_fraction(less) * B(std::numbers::log2e));
      },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return K::sigmoid((x - y) * std::numbers::ln2); },
      [](const Tensor& x, const Tensor& y, const Tensor&) {
        return K::sigmoid((y - x) * std::numbers::ln2);
      });
}

Tensor nextafter(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "nextafter", promoted_floating("nextafter", x1, x2), [](auto x, auto y) { return next_after(x, y); },
      nullptr, nullptr);
}

Tensor heaviside(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "heaviside", promoted_floating("heaviside", x1, x2),
      [](auto x, auto y) {
        using B = decltype(x);
        const B zero(0), step = xsimd::select(x > zero, B(1), xsimd::select(x < zero, zero, x));
        return xsimd::select(x == zero, y, step);
      },
      nullptr, nullptr);
}

namespace {

/// Returns where x is the result of fmax, or with less_equal of fmin: where x is equal or beyond y, or alone a number.
template <class Compare>
Tensor takes_first(const Tensor& x, const Tensor& y, Compare beyond) {
  return K::cast(beyond(x, y) | K::is_nan(y), x.dtype());
}

/// Returns the operand that `beyond` prefers, or the number beside a NaN.
template <class Compare>
Tensor preferred(const char* op, const Operands& o, Compare) {
  return smooth_binary(
      op, o, [](auto x, auto y) { return xsimd::select(Compare()(x, y) | !(y == y), x, y); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return takes_first(x, y, Compare()); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return 1 - takes_first(x, y, Compare()); });
}

}  // namespace

Tensor fmax(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("fmax");
  const Operands o = promoted("fmax", x1, x2);
  return o.x.dtype().is_floating() ? preferred("fmax", o, std::greater_equal<>()) : maximum(o.x, o.y);
}
Tensor fmin(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("fmin");
  const Operands o = promoted("fmin", x1, x2);
  return o.x.dtype().is_floating() ? preferred("fmin", o, std::less_equal<>()) : minimum(o.x, o.y);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations binary_function_operations() {
  static constexpr Operation rows[] = {
      {"Arctan2", "numpy", "x1, x2;", calls<ops::arctan2>},
      {"Fmax", "numpy", "x1, x2;", calls<ops::fmax>},
      {"Fmin", "numpy", "x1, x2;", calls<ops::fmin>},
      {"Heaviside", "numpy", "x1, x2;", calls<ops::heaviside>},
      {"Hypot", "numpy", "x1, x2;", calls<ops::hypot>},
      {"Ldexp", "numpy", "x1, x2;", calls<ops::ldexp>},
      {"Logaddexp", "numpy", "x1, x2;", calls<ops::logaddexp>},
      {"Logaddexp2", "numpy", "x1, x2;", calls<ops::logaddexp2>},
      {"Nextafter", "numpy", "x1, x2;", calls<ops::nextafter>},
  };
  return rows;
}

}  // namespace ktape::nn
