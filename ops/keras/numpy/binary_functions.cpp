#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/nn/activations.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

/// The functions of two tensors that have kernels: floating functions, and integers as int64.
namespace ktape::ops {

namespace K = backend;
namespace vectors = kernels::functions;
using kernels::Batch;
using op_helpers::Operands, op_helpers::promoted, op_helpers::promoted_floating, op_helpers::smooth_binary;

namespace {

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
  const Batch<A> rest = xsimd::fnma(quotient, y, x);
  const auto beyond = (rest < zero) ^ (x < zero);
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

using IntegerFunction = std::int64_t (*)(std::int64_t, std::int64_t);

/// Returns f(x, y) of integers, the low bits of the results in the dtype of the operands.
Tensor integer_function(const char* op, const Operands& o, IntegerFunction f) {
  const Shape shape = broadcast_shapes(op, o.x.shape(), o.y.shape(), "x1", "x2");
  if (is_symbolic(o.x, o.y))
    return defer(
        op, {shape, o.x.dtype()},
        [=](const Tensor& x, const Tensor& y) {
          return integer_function(op, {x, y}, f);
        },
        o.x, o.y);
  const Operands b = op_helpers::broadcast_together(op, o);
  const Tensor x = converted(b.x, DType::Int64), y = converted(b.y, DType::Int64);
  Tensor out = Tensor::empty(shape, b.x.dtype(), op);
  const auto *xs = x.pointer<std::int64_t>(), *ys = y.pointer<std::int64_t>();
  dispatch_integer(out.dtype(), [&]<class T>() {
    T* to = out.pointer<T>();
    parallel_for(out.size(), kernels::map_grain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(f(xs[i], ys[i]));
    });
  });
  return out;
}

Operands integers(const char* op, const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = promoted(op, x1, x2);
  if (!o.x.dtype().is_integer())
    fail<TypeError>("[", op, "] both tensors must hold integers: received dtype=", o.x.dtype());
  return o;
}

Operands numbers_of(const char* op, const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = promoted(op, x1, x2);
  return {op_helpers::counted(op, o.x), op_helpers::counted(op, o.y)};
}

/// Returns |x|, also for the lowest number.
std::uint64_t magnitude(std::int64_t x) {
  return x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
}

std::int64_t floor_quotient(std::int64_t x, std::int64_t y) {
  if (y == 0) return 0;
  if (y == -1)
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x));  // the lowest number wraps around
  const std::int64_t quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}

}  // namespace

Tensor floor_divide(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("floor_divide", x1, x2);
  if (o.x.dtype().is_integer()) return integer_function("floor_divide", o, floor_quotient);
  return smooth_binary(
      "floor_divide", o, [](auto x, auto y) { return xsimd::floor(x / y); }, nullptr, nullptr);
}

Tensor mod(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("mod", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_function("mod", o, [](std::int64_t x, std::int64_t y) {
      if (y == 0 || y == -1) return std::int64_t{0};
      const std::int64_t rest = x % y;
      return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    });
  return smooth_binary(
      "mod", o,
      [](auto x, auto y) {
        const auto rest = remainder(x, y), zero = decltype(rest)(0);
        return xsimd::select((rest != zero) & ((rest < zero) ^ (y < zero)), rest + y, rest);
      },
      [](const Tensor& x, const Tensor&, const Tensor&) { return K::ones_like(x); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return -floor(x / y); });
}

Tensor fmod(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const Operands o = numbers_of("fmod", x1, x2);
  if (o.x.dtype().is_integer())
    return integer_function("fmod", o, [](std::int64_t x, std::int64_t y) {
      return y == 0 || y == -1 ? std::int64_t{0} : x % y;
    });
  return smooth_binary(
      "fmod", o, [](auto x, auto y) { return remainder(x, y); },
      [](const Tensor& x, const Tensor&, const Tensor&) { return K::ones_like(x); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return -trunc(x / y); });
}

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

Tensor arctan2(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "arctan2", promoted_floating("arctan2", x1, x2), [](auto y, auto x) { return vectors::atan2(y, x); },
      [](const Tensor& y, const Tensor& x, const Tensor&) { return x / (x * x + y * y); },
      [](const Tensor& y, const Tensor& x, const Tensor&) { return -y / (x * x + y * y); });
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

Tensor gcd(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return integer_function("gcd", integers("gcd", x1, x2), [](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(std::gcd(magnitude(x), magnitude(y)));
  });
}
Tensor lcm(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return integer_function("lcm", integers("lcm", x1, x2), [](std::int64_t x, std::int64_t y) {
    if (x == 0 || y == 0) return std::int64_t{0};
    return static_cast<std::int64_t>(magnitude(x) / std::gcd(magnitude(x), magnitude(y)) * magnitude(y));
  });
}

Tensor bitwise_left_shift(const TensorOrNumber& x, const TensorOrNumber& y) {
  return integer_function("bitwise_left_shift", integers("bitwise_left_shift", x, y),
                          [](std::int64_t a, std::int64_t n) {
                            return n > 63 ? std::int64_t{0} : a << std::max<std::int64_t>(n, 0);
                          });
}
Tensor bitwise_right_shift(const TensorOrNumber& x, const TensorOrNumber& y) {
  return integer_function(
      "bitwise_right_shift", integers("bitwise_right_shift", x, y),
      [](std::int64_t a, std::int64_t n) { return a >> std::clamp<std::int64_t>(n, 0, 63); });
}
Tensor left_shift(const TensorOrNumber& x, const TensorOrNumber& y) { return bitwise_left_shift(x, y); }
Tensor right_shift(const TensorOrNumber& x, const TensorOrNumber& y) { return bitwise_right_shift(x, y); }

}  // namespace ktape::ops
