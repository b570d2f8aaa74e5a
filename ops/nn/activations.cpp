#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/internal/multi_axis_reduction.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/kernels/softmax/softmax_backward.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <cmath>
#include <numbers>

namespace ktape::backend {

template <class F>
void fields(ReluOptions& options, F&& field) {
  field("alpha", options.alpha);
  field("max_value", options.max_value);
  field("threshold", options.threshold);
}
template <class F>
void fields(GeluOptions& options, F&& field) {
  field("approximate", options.approximate);
}

// The functions of vectors, beside those of tensors.
using kernels::functions::exp, kernels::functions::expm1;

namespace {

using kernels::functions::normal_cdf;
using op_helpers::bounded, op_helpers::chained, op_helpers::like, op_helpers::select;
using op_helpers::narrowed, op_helpers::widened;
using op_helpers::unary_by_input, op_helpers::unary_by_output;

using kernels::functions::logistic, kernels::functions::logistic_slope;
Tensor logistic(const Tensor& a) { return sigmoid(a); }
Tensor logistic_slope(const Tensor& a) { return sigmoid(a) * sigmoid(-a); }

template <class B>
B magnitude(const B& a) {
  return abs(a);
}
Tensor magnitude(const Tensor& a) { return abs(a); }

Tensor softmax_gradient(const Tensor& y, const Tensor& g, int axis) {
  if (recording()) return chained(g - sum(chained(g, y), axis, true), y);
  const Tensor shares = widened(y), slopes = widened(g), dx = op_helpers::scratch_like(slopes);
  const kernels::AxisShape line = op_helpers::axis_shape_of(y.shape(), axis);
  const ktape_softmax call{.dtype = kernels::engine_dtype(shares.dtype()),
                           .outer = line.outer,
                           .axis = line.axis,
                           .inner = line.inner,
                           .x = nullptr,
                           .y = shares.raw(),
                           .dy = slopes.raw(),
                           .dx = dx.raw()};
  op_helpers::engine().run(kernels::Kernel::SoftmaxBackward, &call);
  return narrowed(dx, g.dtype());
}

Tensor log_softmax_gradient(const Tensor& y, const Tensor& g, int axis) {
  if (recording()) return g - chained(sum(g, axis, true), exp(y));
  const Tensor logs = widened(y), slopes = widened(g), dx = op_helpers::scratch_like(slopes);
  const kernels::AxisShape line = op_helpers::axis_shape_of(y.shape(), axis);
  dispatch_native_floating(logs.dtype(), [&]<class T>() {
    kernels::log_softmax_backward(logs.pointer<T>(), slopes.pointer<T>(), dx.pointer<T>(), line);
  });
  return narrowed(dx, g.dtype());
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  op_helpers::expect_floating("softmax", x);
  const int at = canonical_axis("softmax", axis, x.ndim());
  if (is_symbolic(x)) return defer_described("softmax", {x.shape(), x.dtype()}, softmax, x, axis);
  const Tensor values = widened(x), shares = Tensor::empty(x.shape(), values.dtype());
  const kernels::AxisShape line = op_helpers::axis_shape_of(x.shape(), at);
  const ktape_softmax call{.dtype = kernels::engine_dtype(values.dtype()),
                           .outer = line.outer,
                           .axis = line.axis,
                           .inner = line.inner,
                           .x = values.raw(),
                           .y = shares.raw(),
                           .dy = nullptr,
                           .dx = nullptr};
  op_helpers::engine().run(kernels::Kernel::Softmax, &call);
  Tensor out = narrowed(shares, x.dtype());
  if (recording(x))
    record("softmax", out, {x}, [at](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] { return softmax_gradient(y, g, at); });
    });
  set_computed_from(out, {.op = "softmax", .input = x, .axis = at});
  return out;
}

Tensor log_softmax(const Tensor& x, int axis) {
  op_helpers::expect_floating("log_softmax", x);
  const int at = canonical_axis("log_softmax", axis, x.ndim());
  if (is_symbolic(x)) return defer_described("log_softmax", {x.shape(), x.dtype()}, log_softmax, x, axis);
  const Tensor values = widened(x), logs = Tensor::empty(x.shape(), values.dtype());
  const kernels::AxisShape line = op_helpers::axis_shape_of(x.shape(), at);
  dispatch_native_floating(
      values.dtype(), [&]<class T>() { kernels::log_softmax(values.pointer<T>(), logs.pointer<T>(), line); });
  Tensor out = narrowed(logs, x.dtype());
  if (recording(x))
    record("log_softmax", out, {x}, [at](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] { return log_softmax_gradient(y, g, at); });
    });
  return out;
}

Tensor sigmoid(const Tensor& x) {
  op_helpers::expect_floating("sigmoid", x);
  if (is_symbolic(x)) return defer("sigmoid", {x.shape(), x.dtype()}, sigmoid, x);
  // The slope y (1 - y) would lose the digits that y has not near 1; the result keeps x in any case.
  Tensor out = unary_by_input(
      "sigmoid", x, [](auto a) { return logistic(a); }, [](auto g, auto a) { return g * logistic_slope(a); });
  set_computed_from(out, {.op = "sigmoid", .input = x});
  return out;
}

Tensor hard_sigmoid(const Tensor& x) {
  op_helpers::expect_floating("hard_sigmoid", x);
  if (is_symbolic(x))  // Keras 3's function of this name has another slope
    return defer_described(
        "hard_sigmoid", {x.shape(), x.dtype()}, [](const Tensor& x, double) { return hard_sigmoid(x); }, x,
        0.2);
  return unary_by_input(
      "hard_sigmoid", x,
      [](auto a) {
        const auto v = a * 0.2 + 0.5;
        return select(v < 0, like(a, 0), select(v > 1, like(a, 1), v));
      },
      // x is compared with the bounds, because 0.2 is rounded: 0.2 x + 0.5 may be below 0 at -2.5.
      [](auto g, auto a) { return select(a >= -2.5, select(a <= 2.5, g * 0.2, like(g, 0)), like(g, 0)); });
}

namespace {

/// relu with all options, composed as in TF. The options are numbers of type N.
template <class N>
struct Relu {
  N alpha, threshold, most;
  bool clips, six;

  explicit Relu(const ReluOptions& o)
      : alpha(Scalar(o.alpha).to<N>()),
        threshold(Scalar(o.threshold).to<N>()),
        most(Scalar(o.max_value.value_or(0)).to<N>()),
        clips(o.max_value.has_value()),
        six(o.max_value == 6 && o.threshold == 0) {}

  template <class B>
  B operator()(B a) const {
    B v = select(a <= threshold, like(a, 0), a);
    if (clips)
      v = select(v > std::max(most, N(0)), like(a, std::max(most, N(0))), select(v < 0, like(a, 0), v));
    if (alpha == 0) return v;
    return v + select(a < threshold, (a - threshold) * alpha, like(a, 0));
  }
  template <class B>
  B operator()(B g, B a) const {
    const auto zero = like(g, 0);
    auto slope = select(a > threshold, g, zero);
    if (clips) slope = select(a < 0, zero, select(a > most, zero, slope));
    if (six) slope = select(a < 6, slope, zero);
    if (alpha == 0) return slope;
    return slope + select(a < threshold, g * alpha, zero);
  }
};

/// Computes relu of integers: in float32, as TF, for `alpha` without other options; otherwise in integers.
Tensor integer_relu(const Tensor& x, const ReluOptions& options) {
  if (options.alpha != 0 && !options.max_value && options.threshold == 0)
    return relu(cast(x, DType::Float32), options);
  if (options.alpha != 0 && x.dtype() == DType::UInt8)
    fail<TypeError>("[relu] a slope below the threshold needs a signed dtype: received dtype=", x.dtype());
  for (double number : {options.alpha, options.max_value.value_or(0), options.threshold})
    expect_fits("relu", number, x.dtype());
  if (is_symbolic(x)) return defer_described("relu", {x.shape(), x.dtype()}, integer_relu, x, options);
  return op_helpers::apply_integer(
      [f = Relu<std::int64_t>(options)](auto a) { return static_cast<decltype(a)>(f(std::int64_t{a})); }, x);
}

}  // namespace

Tensor relu(const Tensor& x, const ReluOptions& options) {
  expect_defined("relu", "x", x);
  if (x.dtype().is_integer()) return integer_relu(x, options);
  if (is_symbolic(x)) {
    op_helpers::expect_floating("relu", x);
    return defer_described("relu", {x.shape(), x.dtype()}, relu, x, options);
  }
  if (options.alpha == 0 && !options.max_value && options.threshold == 0)
    return unary_by_output(
        "relu", x, [](auto a) { return select(a <= 0, like(a, 0), a); },
        bounded([](auto g, auto y) { return select(y > 0, g, like(g, 0)); }));
  if (!options.max_value && options.threshold == 0)
    return unary_by_input(
        "relu", x, [alpha = options.alpha](auto a) { return select(a > 0, a, a * alpha); },
        bounded([alpha = options.alpha](auto g, auto a) { return select(a > 0, g, g * alpha); }));
  return unary_by_input(
      "relu", x, [f = Relu<double>(options)](auto a) { return f(a); },
      bounded([f = Relu<double>(options)](auto g, auto a) { return f(g, a); }));
}

Tensor elu(const Tensor& x, double alpha) {
  op_helpers::expect_floating("elu", x);
  if (is_symbolic(x)) return defer_described("elu", {x.shape(), x.dtype()}, elu, x, alpha);
  return unary_by_input(
      "elu", x, [alpha](auto a) { return select(a > 0, a, expm1(a) * alpha); },
      [alpha](auto g, auto a) { return select(a > 0, g, g * alpha * exp(select(a > 0, like(a, 0), a))); });
}

Tensor softplus(const Tensor& x) {
  return unary_by_input(
      "softplus", x,
      [](auto a) {
        return select(a < 0, like(a, 0), a) + kernels::functions::log1p_of_fraction(exp(-magnitude(a)));
      },
      [](auto g, auto a) { return g * logistic(a); });
}

Tensor softsign(const Tensor& x) {
  return unary_by_input(
      "softsign", x, [](auto a) { return a / (magnitude(a) + 1); },
      [](auto g, auto a) {
        const auto scale = magnitude(a) + 1;
        return g / scale / scale;
      });
}

namespace {

constexpr double root_half = std::numbers::sqrt2 / 2;
constexpr double density_scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
constexpr double tanh_scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, tanh_cube = 0.044715;

Tensor normal_cdf(const Tensor& a) { return (erf(a * root_half) + 1) * 0.5; }

template <class A>
xsimd::batch<A> normal_density(const xsimd::batch<A>& a) {
  return kernels::wide::exp_of_square<A>(a, A(-0.5)) * A(density_scale);
}
Tensor normal_density(const Tensor& a) { return exp(a * a * -0.5) * density_scale; }

constexpr auto gelu_slope = [](auto g, auto a) { return g * (normal_cdf(a) + a * normal_density(a)); };

/// (1 + tanh(u)) / 2 is the logistic function of 2 u, which keeps its digits where tanh(u) is near -1.
constexpr auto twice_gelu_argument = [](auto a) { return (a * a * a * tanh_cube + a) * (2 * tanh_scale); };
constexpr auto gelu_tanh_slope = [](auto g, auto a) {
  const auto u = twice_gelu_argument(a);
  const auto near =
      select(magnitude(a) < 32, a, like(a, 0));  // further away, the slope of the logistic function is 0
  return g *
         (logistic(u) + near * logistic_slope(u) * (near * near * (3 * tanh_cube) + 1) * (2 * tanh_scale));
};

}  // namespace

Tensor gelu(const Tensor& x, const GeluOptions& options) {
  op_helpers::expect_floating("gelu", x);
  if (is_symbolic(x)) return defer_described("gelu", {x.shape(), x.dtype()}, gelu, x, options);
  if (options.approximate)
    return unary_by_input(
        "gelu", x, [](auto a) { return a * logistic(twice_gelu_argument(a)); }, gelu_tanh_slope);
  return unary_by_input(
      "gelu", x, [](auto a) { return a * normal_cdf(a); }, gelu_slope);
}

Tensor l2_normalize(const Tensor& x, const Axes& axis) {
  op_helpers::expect_floating("l2_normalize", x);
  canonical_axes("l2_normalize", axis, x.ndim());
  const bool composed = is_symbolic(x) || recording(x);
  const Tensor values = as_dtype(x, op_helpers::compute_dtype(x.dtype()));
  const Tensor squares = composed ? sum(square(values), axis, true)
                                  : op_helpers::reduced<op_helpers::SumOfSquaresOf, op_helpers::SumOf>(
                                        values, op_helpers::ReducedAxes("l2_normalize", values, axis, true));
  return cast(values / sqrt(maximum(squares, full({}, 1e-12, squares.dtype()))), x.dtype());
}

namespace {

template <class T, class Index>
void find_top_k(const T* predictions, const Index* targets, bool* out, std::int64_t rows,
                std::int64_t classes, std::int64_t k) {
  for (std::int64_t r = 0; r < rows; ++r, predictions += classes) {
    const auto target = static_cast<std::int64_t>(targets[r]);
    out[r] = false;
    if (target < 0 || target >= classes) continue;
    const double wanted = static_cast<double>(predictions[target]);
    std::int64_t larger = 0;
    bool finite = true;
    for (std::int64_t c = 0; c < classes; ++c) {
      const double p = static_cast<double>(predictions[c]);
      larger += p > wanted;
      finite &= std::isfinite(p);
    }
    out[r] = finite && larger < k;
  }
}

}  // namespace

Tensor in_top_k(const Tensor& predictions, const Tensor& targets, std::int64_t k) {
  expect_defined("in_top_k", "predictions, targets", predictions, targets);
  op_helpers::expect_floating("in_top_k", predictions);
  if (!targets.dtype().is_integer())
    fail<TypeError>("[in_top_k] targets must be integers: received dtype=", targets.dtype());
  if (predictions.ndim() != 2 || !compatible(targets.shape(), Shape{predictions.shape()[0]}))
    fail("[in_top_k] predictions must be (samples, classes) and targets (samples,): received predictions=",
         predictions.shape(), ", targets=", targets.shape());
  const Shape shape{merged(targets.shape()[0], predictions.shape()[0])};
  if (is_symbolic(predictions, targets))
    return defer_described("in_top_k", {shape, DType::Bool}, in_top_k, predictions, targets, k);
  Tensor out = Tensor::empty(shape, DType::Bool);
  const Tensor indices = converted(targets, DType::Int64);
  const Tensor values = widened(predictions);
  dispatch_native_floating(values.dtype(), [&]<class T>() {
    find_top_k(values.pointer<T>(), indices.pointer<std::int64_t>(), out.pointer<bool>(),
               predictions.shape()[0], predictions.shape()[1], k);
  });
  return out;
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

/// Writes the forms of relu that Keras has as operations of their own.
const char* written_relu(const std::vector<OperationArgument>&, Config& attributes) {
  const double alpha = attributes.at("alpha").number(), threshold = attributes.at("threshold").number();
  const Value most = attributes.at("max_value");
  if (threshold != 0 || (alpha != 0 && !most.is_null())) return nullptr;
  if (!most.is_null() && most != Value(6.0)) return nullptr;
  attributes = {};
  if (alpha == 0) return most.is_null() ? "Relu" : "Relu6";
  attributes.set("negative_slope", alpha);
  return "LeakyRelu";
}

Tensor l2_normalize(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  return x / backend::sqrt(backend::maximum(backend::sum(backend::square(x), call.axes("axis"), true),
                                            call.number("epsilon")));
}

}  // namespace

Operations backend_activation_operations() {
  static constexpr Operation rows[] = {
      {"relu", "", "x; alpha, max_value, threshold", calls<backend::relu>, "", "", written_relu},
      {"l2_normalize", "", "x; axis=null, epsilon=1e-12", l2_normalize, "-"},
  };
  return rows;
}

}  // namespace ktape::nn
