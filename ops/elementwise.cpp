#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/kernels/elementwise/broadcast_reader.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::backend {

// The functions of SIMD vectors, beside the functions of tensors with equal names.
using kernels::functions::cos, kernels::functions::erf, kernels::functions::exp, kernels::functions::expm1;
using kernels::functions::gaussian;
using kernels::functions::log, kernels::functions::log1p, kernels::functions::pow, kernels::functions::sin;
using kernels::functions::tanh;

namespace {

using op_helpers::Elements, op_helpers::bounded, op_helpers::like, op_helpers::select;
using op_helpers::unary_by_input, op_helpers::unary_by_output;

void expect_number(const char* op, const Tensor& x) {
  expect_defined(op, "x", x);
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x must be a number: received dtype=bool");
}

constexpr double two_over_sqrt_pi = 1.1283791670955126;

/// Returns 1 - tanh(a)^2; for vectors, with the digits that tanh(a) has not near 1.
template <class A>
xsimd::batch<A> tanh_slope(const xsimd::batch<A>& a) {
  return kernels::functions::logistic_slope(a + a) * A(4);
}
Tensor tanh_slope(const Tensor& a) {
  const Tensor t = tanh(a);
  return 1 - t * t;
}
Tensor gaussian(const Tensor& a) { return exp(-(a * a)); }

}  // namespace

Tensor abs(const Tensor& x) {
  expect_number("abs", x);
  if (is_symbolic(x)) return defer("abs", {x.shape(), x.dtype()}, abs, x);
  if (!x.dtype().is_floating())
    return op_helpers::apply_integer([](auto a) { return a < decltype(a)(0) ? -a : a; }, x);
  return unary_by_input(
      "abs", x, [](auto a) { return abs(a); }, [](auto g, auto a) { return g * sign(a); });
}

Tensor sqrt(const Tensor& x) {
  return unary_by_input(
      "sqrt", x, [](auto a) { return sqrt(select(a < 0, like(a, 0), a)); },
      [](auto g, auto a) { return select(a >= 0, g * 0.5 / sqrt(a), like(g, 0)); });
}

Tensor square(const Tensor& x) {
  expect_number("square", x);
  if (is_symbolic(x)) return defer("square", {x.shape(), x.dtype()}, square, x);
  if (!x.dtype().is_floating()) return op_helpers::apply_integer([](auto a) { return a * a; }, x);
  return unary_by_input(
      "square", x, [](auto a) { return a * a; }, [](auto g, auto a) { return g * (a + a); });
}

Tensor exp(const Tensor& x) {
  return unary_by_output(
      "exp", x, [](auto a) { return exp(a); }, [](auto g, auto y) { return g * y; });
}

Tensor expm1(const Tensor& x) {
  return unary_by_input(
      "expm1", x, [](auto a) { return expm1(a); }, [](auto g, auto a) { return g * exp(a); });
}

Tensor log(const Tensor& x) {
  return unary_by_input(
      "log", x, [](auto a) { return log(a); }, [](auto g, auto a) { return g / a; });
}

Tensor log1p(const Tensor& x) {
  return unary_by_input(
      "log1p", x, [](auto a) { return log1p(a); }, [](auto g, auto a) { return g / (a + 1); });
}

Tensor round(const Tensor& x) {
  expect_number("round", x);
  if (is_symbolic(x)) return defer("round", {x.shape(), x.dtype()}, round, WithoutGradient{x});
  if (!x.dtype().is_floating()) return x.detach();
  return op_helpers::apply([](auto a) { return nearbyint(a); }, x);
}

Tensor sign(const Tensor& x) {
  expect_number("sign", x);
  if (is_symbolic(x)) return defer("sign", {x.shape(), x.dtype()}, sign, x);
  if (!x.dtype().is_floating())
    return op_helpers::apply_integer([](auto a) { return (a > decltype(a)(0)) - (a < decltype(a)(0)); }, x);
  return unary_by_input(
      "sign", x, [](auto a) { return select(a > 0, like(a, 1), select(a < 0, like(a, -1), a)); },
      [](auto g, auto) { return like(g, 0); });
}

Tensor sin(const Tensor& x) {
  return unary_by_input(
      "sin", x, [](auto a) { return sin(a); }, [](auto g, auto a) { return g * cos(a); });
}

Tensor cos(const Tensor& x) {
  return unary_by_input(
      "cos", x, [](auto a) { return cos(a); }, [](auto g, auto a) { return -g * sin(a); });
}

Tensor tanh(const Tensor& x) {
  return unary_by_input(
      "tanh", x, [](auto a) { return tanh(a); }, [](auto g, auto a) { return g * tanh_slope(a); });
}

Tensor erf(const Tensor& x) {
  return unary_by_input(
      "erf", x, [](auto a) { return erf(a); },
      [](auto g, auto a) { return g * two_over_sqrt_pi * gaussian(a); });
}

namespace {
/// Returns x ** n by repeated squaring.
template <class B>
B integer_power(B x, std::int64_t n) {
  B result = like(x, 1);
  for (; n > 0; n >>= 1, x = x * x) result = n & 1 ? result * x : result;
  return result;
}

template <class A>
xsimd::batch<A> real_power(const xsimd::batch<A>& x, double a) {
  const bool whole = a == std::trunc(a);
  if (whole && a >= 0 && a <= 4) return integer_power(x, static_cast<std::int64_t>(a));
  if (whole && std::fabs(a) <= 16) return kernels::wide::whole_power<A>(x, static_cast<int>(a));
  const auto y = kernels::functions::pow(x, like(x, a));
  return whole && a / 2 != std::trunc(a / 2) ? xsimd::copysign(y, x) : y;  // floats of 2^24 or more are even
}
Tensor real_power(const Tensor& x, double a) { return pow(x, Scalar(a)); }
}  // namespace

namespace {
Tensor number_pow(const Tensor& x, Scalar a) {
  expect_number("pow", x);
  if (!x.dtype().is_floating() &&
      (a.real() < 0 || !std::isfinite(a.real()) || a.real() != std::trunc(a.real())))
    fail("[pow] an integer tensor takes whole exponents of at least 0: received a=", a.real());
  if (is_symbolic(x)) return defer_described("pow", {x.shape(), x.dtype()}, number_pow, x, a);
  if (!x.dtype().is_floating())
    return op_helpers::apply_integer([n = a.integer()](auto v) { return integer_power(v, n); }, x);
  if (!std::isfinite(a.real())) return pow(x, full({}, a, x.dtype()));
  return unary_by_input(
      "pow", x, [n = a.real()](auto v) { return real_power(v, n); },
      [n = a.real()](auto g, auto v) { return n == 0 ? like(g, 0) : g * n * real_power(v, n - 1); });
}

/// Returns x ** n for 0 <= n < 32, without a loop that would keep the compiler from using vectors.
constexpr auto small_power = []<class T>(T x, T n) {
  T result = 1;
  const auto step = [&](int bit) {
    result = static_cast<T>(n >> bit & 1 ? result * x : result);
    x = static_cast<T>(x * x);
  };
  step(0), step(1), step(2), step(3), step(4);
  return result;
};

Tensor integer_pow(const Tensor& x, const Tensor& a, const Shape& shape) {
  Tensor out = Tensor::empty(shape, x.dtype(), "pow");
  bool small = true;
  dispatch_integer(x.dtype(), [&]<class T>() {
    T least = 0, most = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      least = std::min(least, a.pointer<T>()[i]);
      most = std::max(most, a.pointer<T>()[i]);
    }
    if (least < 0) fail("[pow] an integer tensor takes whole exponents of at least 0: received a=", +least);
    small = most < 32;
  });
  if (small) op_helpers::compute<Elements::Integer>(out, x.dtype(), small_power, x, a);
  else
    op_helpers::compute<Elements::Integer>(
        out, x.dtype(), [](auto v, auto n) { return integer_power(v, static_cast<std::int64_t>(n)); }, x, a);
  return out;
}

constexpr auto slope_of_base = [](const auto& g, const auto& x, const auto& a) {
  // The slope of x ** 0 is 0 everywhere, but 0 * 0 ** -1 is NaN: x = 1 is used in place of x = 0.
  const auto both_zero = abs(x) + abs(a) == like(x, 0);
  const auto p = pow(select(both_zero, like(x, 1), x), a - 1);
  // The power is 0 around x, so the slope is 0 and not infinity * 0, which is NaN.
  const auto stays = abs(p) + 1 / abs(a) == like(x, 0);
  return g * select(stays, like(x, 0), a) * p;
};
constexpr auto slope_of_exponent = [](const auto& g, const auto& x, const auto& y) {
  const auto positive = x > like(x, 0);
  return g * select(positive, y * log(select(positive, x, like(x, 1))), like(x, 0));
};
}  // namespace

Tensor pow(const TensorOrNumber& base, const TensorOrNumber& exponent) {
  const Tensor& x = base.tensor("pow", exponent);
  if (exponent.is_number()) return number_pow(x, exponent.number());
  const Tensor& a = exponent.tensor("pow", base);
  expect_defined("pow", "x, a", x, a);
  expect_number("pow", x);
  const OutputInfo info = op_helpers::broadcast_info("pow", x, a, "a");
  const Shape& shape = info.shape;
  if (is_symbolic(x, a))
    return defer(
        "pow", info, [](const Tensor& x, const Tensor& a) { return pow(x, a); }, x, a);
  if (x.dtype().is_integer()) return integer_pow(x, a, shape);
  Tensor out = op_helpers::result(shape, x.dtype(), "pow");
  op_helpers::compute<Elements::Floating>(
      out, x.dtype(), [](auto v, auto n) { return kernels::functions::pow(v, n); }, x, a);
  if (recording(x, a))
    record("pow", out, {x, a}, [x, a](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] { return sum_to(op_helpers::along(slope_of_base, g, x, a), x.shape()); });
      grads.to(1, [&] { return sum_to(op_helpers::along(slope_of_exponent, g, x, y), a.shape()); });
    });
  return out;
}

namespace {
constexpr auto larger = [](auto x, auto y) { return select((y > x) | !(y == y), y, x); };
constexpr auto smaller = [](auto x, auto y) { return select((y < x) | !(y == y), y, x); };

/// Records maximum or minimum: the gradient flows to x where `takes_x` holds, and to y elsewhere.
template <class Takes>
void record_choice(const char* op, const Tensor& out, const Tensor& x, const Tensor& y, Takes takes_x) {
  if (!recording(x, y)) return;
  record(op, out, {x, y}, [x, y, takes_x](const Tensor& g, Grads& grads) {
    const auto to_x = [=](const auto& g, const auto& x, const auto& y) {
      return select(takes_x(x, y), g, like(g, 0));
    };
    const auto to_y = [=](const auto& g, const auto& x, const auto& y) {
      return select(takes_x(x, y), like(g, 0), g);
    };
    grads.to(0, [&] { return sum_to(op_helpers::along(bounded(to_x), g, x, y), x.shape()); });
    grads.to(1, [&] { return sum_to(op_helpers::along(bounded(to_y), g, x, y), y.shape()); });
  });
}
}  // namespace

Tensor maximum(const TensorOrNumber& left, const TensorOrNumber& right) {
  const Tensor &x = left.tensor("maximum", right), &y = right.tensor("maximum", left);
  expect_number("maximum", x);
  if (is_symbolic(x, y)) return defer("maximum", op_helpers::broadcast_info("maximum", x, y), maximum, x, y);
  Tensor out = op_helpers::apply_broadcast("maximum", larger, x, y);
  record_choice("maximum", out, x, y, std::greater_equal<>());
  return out;
}

Tensor minimum(const TensorOrNumber& left, const TensorOrNumber& right) {
  const Tensor &x = left.tensor("minimum", right), &y = right.tensor("minimum", left);
  expect_number("minimum", x);
  if (is_symbolic(x, y)) return defer("minimum", op_helpers::broadcast_info("minimum", x, y), minimum, x, y);
  Tensor out = op_helpers::apply_broadcast("minimum", smaller, x, y);
  record_choice("minimum", out, x, y, std::less_equal<>());
  return out;
}

namespace {
/// Clips to numbers; a number that the dtype cannot hold is replaced by the nearest value of the dtype.
Tensor clip_between(const Tensor& x, Scalar min_value, Scalar max_value) {
  if (is_symbolic(x))
    return defer_described("clip", {x.shape(), x.dtype()}, clip_between, x, min_value, max_value);
  if (!x.dtype().is_floating()) {
    Tensor out = Tensor::empty(x.shape(), x.dtype());
    dispatch_integer(x.dtype(), [&]<class T>() {
      kernels::map<T>(
          x.size(), out.pointer<T>(),
          [low = min_value.ceil().to<T>(), high = max_value.floor().to<T>()](T a) {
            return std::max(low, std::min(a, high));
          },
          x.pointer<T>());
    });
    return out;
  }
  const double low = min_value.real(), high = std::max(low, max_value.real());
  return unary_by_input(
      "clip", x,
      [low, high](auto a) { return select(a < low, like(a, low), select(a > high, like(a, high), a)); },
      // NaN lies between no bounds.
      bounded([low, high](auto g, auto a) {
        return select(a >= low, select(a <= high, g, like(g, 0)), like(g, 0));
      }));
}

/// Returns a bound that is a number as a tensor of x's dtype; a number outside of the dtype's range becomes
/// the nearest value.
Tensor bound_tensor(const Tensor& x, const Bound& bound, Scalar (Scalar::*round)() const) {
  if (!bound.number()) return bound.tensor();
  const Scalar number = x.dtype().is_floating() ? *bound.number() : ((*bound.number()).*round)();
  Tensor out = Tensor::empty({}, x.dtype());
  dispatch(x.dtype(), [&]<class T>() { *out.pointer<T>() = number.to<T>(); });
  return out;
}
}  // namespace

namespace {
void check_bound(const Tensor& x, const char* name, const Bound& bound) {
  if (bound.none()) return;
  if (bound.number()) {
    if (std::isnan(bound.number()->real()))
      fail("[clip] ", name, " must be a number: received ", name, "=nan");
    return;
  }
  expect_defined("clip", name, bound.tensor());
  if (!broadcasts_to(bound.tensor().shape(), x.shape()))
    fail("[clip] ", name, " must broadcast to x of shape ", x.shape(), ": received ", name, '=',
         bound.tensor().shape());
}
}  // namespace

Tensor clip(const Tensor& x, const Bound& min_value, const Bound& max_value) {
  const CalledOp called("clip");
  expect_number("clip", x);
  check_bound(x, "min_value", min_value), check_bound(x, "max_value", max_value);
  if (!min_value.tensor().defined() && !max_value.tensor().defined())
    return clip_between(x, min_value.number().value_or(-INFINITY), max_value.number().value_or(INFINITY));
  Tensor out = x;
  if (!max_value.none()) out = minimum(out, bound_tensor(x, max_value, &Scalar::floor));
  if (!min_value.none()) out = maximum(out, bound_tensor(x, min_value, &Scalar::ceil));
  return out;
}

namespace {
/// Computes f(x, number) for a number that the dtype cannot hold: all elements of x lie on one side of the
/// number.
template <class F>
Tensor compare_sides(F f, const Tensor& x, double number, bool swapped) {
  Tensor out = Tensor::empty(x.shape(), DType::Bool);
  const auto result = [&](double side) { return swapped ? f(0.0, side) : f(side, 0.0); };
  const bool less = result(-1), greater = result(1), unordered = result(NAN);
  dispatch(x.dtype(), [&]<class T>() {
    parallel_for(x.size(), kernels::map_grain,
                 [=, to = out.pointer<bool>(), from = x.pointer<T>()](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const double v = from[i];
                     to[i] = v <= number ? less : v > number ? greater : unordered;
                   }
                 });
  });
  return out;
}

template <class F>
Tensor compare_number(const char* op, F f, const Tensor& x, Scalar number, bool swapped) {
  if (!fits(number, x.dtype())) return compare_sides(f, x, number.real(), swapped);
  return op_helpers::compare(op, f, x, full({}, number, x.dtype()), swapped);
}

/// Computes the bool tensor f(x, y), or f(y, x) if `swapped`: x > y is y < x, which saves compiled loops.
template <class F>
Tensor compare(const char* op, F f, const TensorOrNumber& x, const TensorOrNumber& y, bool swapped = false) {
  if (x.is_number() == y.is_number())
    return op_helpers::compare(op, f, x.tensor(op, y), y.tensor(op, x), swapped);
  const Tensor& tensor = y.is_number() ? x.tensor(op, y) : y.tensor(op, x);
  expect_defined(op, y.is_number() ? "x" : "y", tensor);
  const OutputInfo result{tensor.shape(), DType::Bool};
  if (y.is_number()) {
    const auto later = [=](const Tensor& x, Scalar y) { return compare(op, f, x, y, swapped); };
    if (is_symbolic(tensor)) return defer_described(op, result, later, tensor, y.number());
    return compare_number(op, f, tensor, y.number(), swapped);
  }
  const auto later = [=](Scalar x, const Tensor& y) { return compare(op, f, x, y, swapped); };
  if (is_symbolic(tensor)) return defer_described(op, result, later, x.number(), tensor);
  return compare_number(op, f, tensor, x.number(), !swapped);
}

constexpr auto differ = [](auto a, auto b) { return !(a == b); };  // xsimd's != is false of NaN
}  // namespace

Tensor equal(const TensorOrNumber& x, const TensorOrNumber& y) {
  return compare("equal", std::equal_to<>(), x, y);
}
Tensor not_equal(const TensorOrNumber& x, const TensorOrNumber& y) {
  return compare("not_equal", differ, x, y);
}
Tensor less(const TensorOrNumber& x, const TensorOrNumber& y) { return compare("less", std::less<>(), x, y); }
Tensor less_equal(const TensorOrNumber& x, const TensorOrNumber& y) {
  return compare("less_equal", std::less_equal<>(), x, y);
}
Tensor greater(const TensorOrNumber& x, const TensorOrNumber& y) {
  return compare("greater", std::less<>(), x, y, true);
}
Tensor greater_equal(const TensorOrNumber& x, const TensorOrNumber& y) {
  return compare("greater_equal", std::less_equal<>(), x, y, true);
}

Tensor is_nan(const Tensor& x) {
  expect_defined("is_nan", "x", x);
  return not_equal(x, x);
}

Tensor is_finite(const Tensor& x) {
  expect_defined("is_finite", "x", x);
  if (!x.dtype().is_floating()) return equal(x, x);
  return op_helpers::condition(
      "is_finite", [](auto a) { return a - a == a - a; }, x);
}

namespace {
/// Computes out = condition ? x : y, for elements as wide as the unsigned type T. Conditions are read as
/// bytes, which the compiler can widen to masks; a branch would be slow for random conditions.
template <class T>
void choose(std::int64_t n, T* out, const std::uint8_t* condition, const T* x, const T* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T mask = static_cast<T>(-static_cast<T>(condition[i]));
    out[i] = static_cast<T>((x[i] & mask) | (y[i] & ~mask));
  }
}

template <class T>
void choose_loop(const void*, std::int64_t, std::int64_t n, void* out, const void* const* x,
                 const kernels::ElementLoop::Step*) {
  choose(n, static_cast<T*>(out), static_cast<const std::uint8_t*>(x[0]), static_cast<const T*>(x[1]),
         static_cast<const T*>(x[2]));
}

template <class T>
void choose(const Tensor& out, const Tensor& condition, const Tensor& x, const Tensor& y) {
  if (out.get()->storage->pending()) {
    const kernels::ElementLoop loop{choose_loop<T>,      nullptr, 3, sizeof(T), sizeof(T), 1,
                                    kernels::Half::None, false};
    return fusion::add_op(loop, 0, out, {&condition, &x, &y});
  }
  parallel_for(out.size(), kernels::map_grain,
               [&, to = static_cast<T*>(out.raw())](std::int64_t begin, std::int64_t end) {
                 kernels::BroadcastReader<std::uint8_t> cs(static_cast<std::uint8_t*>(condition.raw()),
                                                           condition.shape(), out.shape());
                 kernels::BroadcastReader<T> xs(static_cast<T*>(x.raw()), x.shape(), out.shape());
                 kernels::BroadcastReader<T> ys(static_cast<T*>(y.raw()), y.shape(), out.shape());
                 kernels::for_blocks(begin, end, [&](std::int64_t i, std::int64_t n) {
                   choose(n, to + i, cs(i, n), xs(i, n), ys(i, n));
                 });
               });
}
}  // namespace

Tensor where(const TensorOrNumber& wanted, const TensorOrNumber& left, const TensorOrNumber& right) {
  const Tensor& condition = wanted.tensor("where", DType::Bool);
  const Tensor &x = left.tensor("where", right), &y = right.tensor("where", left);
  expect_defined("where", "condition, x, y", condition, x, y);
  const auto [chosen, dtype] = op_helpers::broadcast_info("where", x, y);
  const Shape shape = broadcast_shapes("where", condition.shape(), chosen, "condition", "x and y");
  if (is_symbolic(condition, x, y))
    return defer("where", {shape, dtype}, where, WithoutGradient{condition}, x, y);
  const Tensor taken = as_dtype(condition, DType::Bool);
  Tensor out = op_helpers::result(shape, x.dtype(), "where");
  switch (x.dtype().size()) {
    case 1:
      choose<std::uint8_t>(out, taken, x, y);
      break;
    case 2:
      choose<std::uint16_t>(out, taken, x, y);
      break;
    case 4:
      choose<std::uint32_t>(out, taken, x, y);
      break;
    default:
      choose<std::uint64_t>(out, taken, x, y);
  }
  if (recording(x, y))
    record("where", out, {x, y}, [taken, xs = x.shape(), ys = y.shape()](const Tensor& g, Grads& grads) {
      const Tensor zero = full({}, 0, g.dtype());
      grads.to(0, [&] { return sum_to(where(taken, g, zero), xs); });
      grads.to(1, [&] { return sum_to(where(taken, zero, g), ys); });
    });
  return out;
}

}  // namespace ktape::backend
