#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <cmath>

namespace ktape {
namespace {

using op_helpers::along, op_helpers::chained, op_helpers::derivative;

Tensor need(bool wanted, const Tensor& x) { return wanted ? x : Tensor(); }

void expect_arithmetic(const char* op, const Tensor& x) {
  expect_defined(op, "x", x);
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x must be a number: received dtype=bool");
}

/// Returns the dtype in which integers are divided, as in TF.
DType quotient_dtype(const Tensor& x) {
  expect_arithmetic("divide", x);
  return x.dtype().size() < 4 ? DType::Float32 : DType::Float64;
}

/// Computes f(x, s) for a number s; for floating x, `d(g)` is the gradient.
template <class F, class D>
Tensor with_number(const char* op, const Tensor& x, Scalar s, F f, D d) {
  expect_arithmetic(op, x);
  expect_fits(op, s, x.dtype());
  if (is_symbolic(x))
    return defer_described(
        op, {x.shape(), x.dtype()}, [=](const Tensor& x, Scalar s) { return with_number(op, x, s, f, d); }, x,
        s);
  if (x.dtype().is_floating())
    return op_helpers::unary_linear(
        op, x, kernels::converting_halves([f, v = s.real()](auto a) { return f(a, v); }), d);
  Tensor out = op_helpers::result_like(x);
  dispatch_integer(x.dtype(), [&]<class T>() {
    const auto g = [f, v = s.to<T>()](auto a) { return f(a, v); };
    op_helpers::compute<op_helpers::Elements::Integer>(out, x.dtype(), g, x);
  });
  return out;
}

constexpr auto plus = kernels::converting_halves([](auto a, auto b) { return a + b; });
constexpr auto minus = kernels::converting_halves([](auto a, auto b) { return a - b; });
constexpr auto times = kernels::converting_halves([](auto a, auto b) { return a * b; });
constexpr auto over = kernels::converting_halves([](auto a, auto b) { return a / b; });
constexpr auto by_numerator = [](const auto& g, const auto& y) { return g / y; };
constexpr auto by_denominator = [](const auto& g, const auto& x, const auto& y) { return -g * (x / y) / y; };

/// Returns whether a number is an infinite slope or NaN: the product with a gradient of 0 needs a guard, which only
/// products of tensors have.
bool has_no_finite_slope(const Tensor& x, double slope) {
  return x.dtype().is_floating() && !std::isfinite(slope);
}

constexpr auto same = [](const auto& g) { return g; };
constexpr auto negated = [](const auto& g) { return -g; };
/// xsimd subtracts from 0, which loses the sign of 0.
constexpr auto opposite = [](auto a) { return a * -1; };

}  // namespace

Tensor operator+(const Tensor& x, const Tensor& y) {
  expect_arithmetic("add", x);
  if (is_symbolic(x, y))
    return defer(
        "add", op_helpers::broadcast_info("add", x, y),
        [](const Tensor& x, const Tensor& y) { return x + y; }, x, y);
  Tensor out = op_helpers::apply_broadcast("add", plus, x, y);
  if (recording(x, y))
    record("add", out, {x, y}, [xs = x.shape(), ys = y.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return backend::sum_to(g, xs); });
      grads.to(1, [&] { return backend::sum_to(g, ys); });
    });
  return out;
}

Tensor operator-(const Tensor& x, const Tensor& y) {
  expect_arithmetic("subtract", x);
  if (is_symbolic(x, y))
    return defer(
        "subtract", op_helpers::broadcast_info("subtract", x, y),
        [](const Tensor& x, const Tensor& y) { return x - y; }, x, y);
  Tensor out = op_helpers::apply_broadcast("subtract", minus, x, y);
  if (recording(x, y))
    record("subtract", out, {x, y}, [xs = x.shape(), ys = y.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return backend::sum_to(g, xs); });
      grads.to(1, [&] { return -backend::sum_to(g, ys); });
    });
  return out;
}

Tensor operator*(const Tensor& x, const Tensor& y) {
  expect_arithmetic("multiply", x);
  if (is_symbolic(x, y))
    return defer(
        "multiply", op_helpers::broadcast_info("multiply", x, y),
        [](const Tensor& x, const Tensor& y) { return x * y; }, x, y);
  Tensor out = op_helpers::apply_broadcast("multiply", times, x, y);
  if (recording(x, y))
    record("multiply", out, {x, y},
           [x = need(y.node(), x), y = need(x.node(), y), xs = x.shape(), ys = y.shape()](const Tensor& g,
                                                                                          Grads& grads) {
             grads.to(1, [&] { return backend::sum_to(chained(g, x), ys); });
             if (!grads.wants(0)) return;
             const bool fused = !recording() && y.shape() == g.shape() && xs == g.shape();
             grads.add(0, fused ? derivative(times, g, y) : backend::sum_to(chained(g, y), xs));
           });
  return out;
}

Tensor operator/(const Tensor& x, const Tensor& y) {
  expect_defined("divide", "x, y", x, y);
  if (!x.dtype().is_floating()) {
    op_helpers::expect_same_dtype("divide", x, y);
    return backend::as_dtype(x, quotient_dtype(x)) / backend::as_dtype(y, quotient_dtype(x));
  }
  if (is_symbolic(x, y))
    return defer(
        "divide", op_helpers::broadcast_info("divide", x, y),
        [](const Tensor& x, const Tensor& y) { return x / y; }, x, y);
  Tensor out = op_helpers::apply_broadcast("divide", over, x, y);
  if (recording(x, y))
    record("divide", out, {x, y}, [x = need(y.node(), x), y, xs = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return backend::sum_to(along(by_numerator, g, y), xs); });
      grads.to(1, [&] { return backend::sum_to(along(by_denominator, g, x, y), y.shape()); });
    });
  return out;
}

Tensor operator+(const Tensor& x, Scalar y) { return with_number("add", x, y, plus, same); }
Tensor operator-(const Tensor& x, Scalar y) { return with_number("subtract", x, y, minus, same); }
Tensor operator*(const Tensor& x, Scalar y) {
  expect_defined("multiply", "x", x);
  if (has_no_finite_slope(x, y.real())) return x * backend::full({}, y, x.dtype());
  return with_number("multiply", x, y, times, [v = y.real()](const auto& g) { return g * v; });
}
Tensor operator/(const Tensor& x, Scalar y) {
  expect_defined("divide", "x", x);
  if (!x.dtype().is_floating()) return backend::as_dtype(x, quotient_dtype(x)) / y.real();
  if (has_no_finite_slope(x, 1 / y.real())) return x / backend::full({}, y, x.dtype());
  return with_number("divide", x, y, over, [v = y.real()](const auto& g) { return g / v; });
}

Tensor operator+(Scalar x, const Tensor& y) { return y + x; }
Tensor operator*(Scalar x, const Tensor& y) { return y * x; }
Tensor operator-(Scalar x, const Tensor& y) {
  expect_defined("subtract", "y", y);
  if (is_symbolic(y)) {
    expect_arithmetic("subtract", y);
    expect_fits("subtract", x, y.dtype());
    return defer_described(
        "subtract", {y.shape(), y.dtype()}, [](Scalar x, const Tensor& y) { return x - y; }, x, y);
  }
  return with_number(
      "subtract", y, x, [](auto a, auto b) { return b - a; }, negated);
}
Tensor operator/(Scalar x, const Tensor& y) {
  expect_defined("divide", "y", y);
  if (!y.dtype().is_floating()) return x.real() / backend::as_dtype(y, quotient_dtype(y));
  expect_fits("divide", x, y.dtype());
  if (is_symbolic(y))
    return defer_described(
        "divide", {y.shape(), y.dtype()}, [](Scalar x, const Tensor& y) { return x / y; }, x, y);
  const double v = x.real();
  return op_helpers::unary_by_input(
      "divide", y, [v](auto b) { return v / b; },
      [v](const auto& g, const auto& b) { return -g * (v / b) / b; });
}

Tensor operator-(const Tensor& x) {
  expect_arithmetic("negative", x);
  if (is_symbolic(x))
    return defer(
        "negative", {x.shape(), x.dtype()}, [](const Tensor& x) { return -x; }, x);
  if (x.dtype().is_floating()) return op_helpers::unary_linear("negative", x, opposite, negated);
  return op_helpers::apply_integer([](auto a) { return -a; }, x);
}

Tensor& operator+=(Tensor& x, const Tensor& y) { return x = x + y; }
Tensor& operator-=(Tensor& x, const Tensor& y) { return x = x - y; }
Tensor& operator*=(Tensor& x, const Tensor& y) { return x = x * y; }
Tensor& operator/=(Tensor& x, const Tensor& y) { return x = x / y; }
Tensor& operator+=(Tensor& x, Scalar y) { return x = x + y; }
Tensor& operator-=(Tensor& x, Scalar y) { return x = x - y; }
Tensor& operator*=(Tensor& x, Scalar y) { return x = x * y; }
Tensor& operator/=(Tensor& x, Scalar y) { return x = x / y; }

Tensor operator==(const TensorOrNumber& x, const TensorOrNumber& y) { return backend::equal(x, y); }
Tensor operator!=(const TensorOrNumber& x, const TensorOrNumber& y) { return backend::not_equal(x, y); }
Tensor operator<(const TensorOrNumber& x, const TensorOrNumber& y) { return backend::less(x, y); }
Tensor operator<=(const TensorOrNumber& x, const TensorOrNumber& y) { return backend::less_equal(x, y); }
Tensor operator>(const TensorOrNumber& x, const TensorOrNumber& y) { return backend::greater(x, y); }
Tensor operator>=(const TensorOrNumber& x, const TensorOrNumber& y) { return backend::greater_equal(x, y); }

namespace {

/// Returns the dtype of the bits of x: UInt8 for bool. Throws TypeError for a floating x.
DType bits_of(const char* op, const Tensor& x) {
  if (x.dtype().is_floating())
    fail<TypeError>("[", op, "] x must be bool or of integers: received dtype=", x.dtype());
  return x.dtype().is_bool() ? DType(DType::UInt8) : x.dtype();
}

template <class F>
Tensor bitwise(const char* op, F f, const TensorOrNumber& left, const TensorOrNumber& right) {
  const Tensor &x = left.tensor(op, right), &y = right.tensor(op, left);
  expect_defined(op, "x, y", x, y);
  const DType bits = bits_of(op, x);
  const auto [shape, dtype] = op_helpers::broadcast_info(op, x, y);
  if (is_symbolic(x, y))
    return defer(
        op, {shape, dtype}, [op, f](const Tensor& x, const Tensor& y) { return bitwise(op, f, x, y); }, x, y);
  Tensor out = op_helpers::result(shape, dtype, op);
  op_helpers::compute<op_helpers::Elements::Integer>(out, bits, f, x, y);
  return out;
}

}  // namespace

Tensor operator&(const TensorOrNumber& x, const TensorOrNumber& y) {
  return bitwise("logical_and", std::bit_and<>(), x, y);
}
Tensor operator|(const TensorOrNumber& x, const TensorOrNumber& y) {
  return bitwise("logical_or", std::bit_or<>(), x, y);
}
Tensor operator^(const TensorOrNumber& x, const TensorOrNumber& y) {
  return bitwise("logical_xor", std::bit_xor<>(), x, y);
}
Tensor operator~(const Tensor& x) {
  expect_defined("logical_not", "x", x);
  bits_of("logical_not", x);
  if (is_symbolic(x))
    return defer(
        "logical_not", {x.shape(), x.dtype()}, [](const Tensor& x) { return ~x; }, x);
  if (x.dtype().is_bool()) return x ^ true;
  return op_helpers::apply_integer([](auto a) { return ~a; }, x);
}

}  // namespace ktape
