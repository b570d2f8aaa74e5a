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
#include <numeric>

/// The functions of two tensors that have kernels: floating functions, and integers as int64.
namespace ktape::ops {

namespace K = backend;
using op_helpers::Operands, op_helpers::promoted, op_helpers::promoted_floating, op_helpers::smooth_binary;

namespace {

/// Returns f of each pair of lanes, one by one.
template <class A, class F>
xsimd::batch<A> pair_by_pair(const xsimd::batch<A>& x, const xsimd::batch<A>& y, F f) {
  A a[xsimd::batch<A>::size], b[xsimd::batch<A>::size];
  x.store_unaligned(a), y.store_unaligned(b);
  for (std::size_t i = 0; i < xsimd::batch<A>::size; ++i) a[i] = static_cast<A>(f(a[i], b[i]));
  return xsimd::batch<A>::load_unaligned(a);
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
  return floor(o.x / o.y);
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
        return pair_by_pair(x, y, [](auto a, auto b) {
          const auto rest = std::fmod(a, b);
          return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        });
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
      "fmod", o,
      [](auto x, auto y) { return pair_by_pair(x, y, [](auto a, auto b) { return std::fmod(a, b); }); },
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
      "ldexp", {x, K::cast(exponent, x.dtype())},
      [](auto a, auto n) {
        return pair_by_pair(a, n, [](auto t, auto e) {
          return std::ldexp(t, static_cast<int>(std::clamp(e, decltype(e)(-1e5), decltype(e)(1e5))));
        });
      },
      [](const Tensor&, const Tensor& n, const Tensor&) { return exp2(n); }, nullptr);
}

Tensor arctan2(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "arctan2", promoted_floating("arctan2", x1, x2),
      [](auto y, auto x) { return pair_by_pair(y, x, [](auto a, auto b) { return std::atan2(a, b); }); },
      [](const Tensor& y, const Tensor& x, const Tensor&) { return x / (x * x + y * y); },
      [](const Tensor& y, const Tensor& x, const Tensor&) { return -y / (x * x + y * y); });
}

Tensor hypot(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "hypot", promoted_floating("hypot", x1, x2),
      [](auto x, auto y) { return pair_by_pair(x, y, [](auto a, auto b) { return std::hypot(a, b); }); },
      [](const Tensor& x, const Tensor&, const Tensor& h) { return divide_no_nan(x, h); },
      [](const Tensor&, const Tensor& y, const Tensor& h) { return divide_no_nan(y, h); });
}

Tensor logaddexp(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "logaddexp", promoted_floating("logaddexp", x1, x2),
      [](auto x, auto y) {
        return pair_by_pair(x, y, [](auto a, auto b) {
          if (a == b) return a + std::log(decltype(a)(2));
          return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
        });
      },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return K::sigmoid(x - y); },
      [](const Tensor& x, const Tensor& y, const Tensor&) { return K::sigmoid(y - x); });
}

Tensor nextafter(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return smooth_binary(
      "nextafter", promoted_floating("nextafter", x1, x2),
      [](auto x, auto y) { return pair_by_pair(x, y, [](auto a, auto b) { return std::nextafter(a, b); }); },
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
