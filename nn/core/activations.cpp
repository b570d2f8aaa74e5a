#include <ktape/autograd/described_call.hpp>
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

namespace ktape::nn {
namespace K = backend;

namespace activations {
namespace {

using K::exp, K::sqrt;
using kernels::functions::exp;
using op_helpers::like, op_helpers::select, op_helpers::unary_by_input;

template <class B>
B logistic(const B& a) {
  return 1 / (1 + exp(-a));
}
Tensor logistic(const Tensor& a) { return K::sigmoid(a); }

/// Returns a symbolic f(x, options) that keeps the options for the configs of models.
template <class Options>
Tensor described(const char* op, const Tensor& x, Tensor (*f)(const Tensor&, const Options&),
                 const Options& options) {
  op_helpers::expect_floating(op, x);
  return defer_described(op, info_of(x), f, x, options);
}

}  // namespace

Tensor relu(const Tensor& x, const ReluOptions& o) {
  return K::relu(x, {.alpha = o.negative_slope, .max_value = o.max_value, .threshold = o.threshold});
}

Tensor relu6(const Tensor& x) { return K::relu(x, {.max_value = 6.0}); }
Tensor leaky_relu(const Tensor& x, const NegativeSlopeOptions& o) {
  return K::relu(x, {.alpha = o.negative_slope});
}
Tensor elu(const Tensor& x, const AlphaOptions& o) { return K::elu(x, o.alpha); }
Tensor selu(const Tensor& x) { return 1.0507009873554805 * K::elu(x, 1.6732632423543772); }

Tensor celu(const Tensor& x, const AlphaOptions& o) {
  if (o.alpha == 0) fail("[celu] alpha must not be 0: received alpha=0");
  if (is_symbolic(x)) return described("celu", x, celu, o);
  return unary_by_input(
      "celu", x, [c = o.alpha](auto a) { return select(a > 0, a, c * (exp(a / c) - 1)); },
      [c = o.alpha](auto g, auto a) { return select(a > 0, g, g * exp(select(a > 0, like(a, 0), a) / c)); });
}

Tensor gelu(const Tensor& x, const GeluOptions& o) { return K::gelu(x, {.approximate = o.approximate}); }

Tensor glu(const Tensor& x, const AxisOptions& o) {
  const std::vector<Tensor> halves = K::split(x, 2, o.axis);
  return halves[0] * K::sigmoid(halves[1]);
}

Tensor silu(const Tensor& x) {
  return unary_by_input(
      "silu", x, [](auto a) { return a * logistic(a); },
      [](auto g, auto a) {
        const auto s = logistic(a);
        return g * (s * (1 + a * (1 - s)));
      });
}

Tensor mish(const Tensor& x) { return x * K::tanh(K::softplus(x)); }
Tensor sigmoid(const Tensor& x) { return K::sigmoid(x); }

Tensor hard_sigmoid(const Tensor& x, const HardSigmoidOptions& o) {
  if (o.slope != HardSigmoidOptions().slope) return K::clip(o.slope * x + 0.5, 0, 1);
  constexpr double slope = 1 / 6.F;  // the float32 value of 1/6 for all dtypes, as in Keras
  return unary_by_input(
      "hard_sigmoid", x,
      [](auto a) { return select(a < -3, like(a, 0), select(a > 3, like(a, 1), (a + 3) / 6)); },
      [=](auto g, auto a) { return select(a <= -3, like(g, 0), select(a >= 3, like(g, 0), g * slope)); });
}

Tensor hard_silu(const Tensor& x) {
  return unary_by_input(
      "hard_silu", x, [](auto a) { return select(a < -3, like(a, 0), select(a > 3, a, a * ((a + 3) / 6))); },
      [](auto g, auto a) { return select(a <= -3, like(g, 0), select(a >= 3, g, g * (a / 3 + 0.5))); });
}

Tensor hard_tanh(const Tensor& x) { return K::clip(x, -1, 1); }

Tensor hard_shrink(const Tensor& x, const ShrinkOptions& o) {
  if (is_symbolic(x)) return described("hard_shrink", x, hard_shrink, o);
  return unary_by_input(
      "hard_shrink", x, [t = o.threshold](auto a) { return select(a > t, a, select(a < -t, a, like(a, 0))); },
      [t = o.threshold](auto g, auto a) { return select(a > t, g, select(a < -t, g, like(g, 0))); });
}

Tensor soft_shrink(const Tensor& x, const ShrinkOptions& o) {
  if (is_symbolic(x)) return described("soft_shrink", x, soft_shrink, o);
  return unary_by_input(
      "soft_shrink", x,
      [t = o.threshold](auto a) { return select(a > t, a - t, select(a < -t, a + t, like(a, 0))); },
      [t = o.threshold](auto g, auto a) { return select(a > t, g, select(a < -t, g, like(g, 0))); });
}

Tensor tanh(const Tensor& x) { return K::tanh(x); }
Tensor tanh_shrink(const Tensor& x) { return x - K::tanh(x); }

Tensor threshold(const Tensor& x, const ThresholdOptions& o) {
  if (is_symbolic(x)) return described("threshold", x, threshold, o);
  return unary_by_input(
      "threshold", x, [t = o.threshold, v = o.default_value](auto a) { return select(a > t, a, like(a, v)); },
      [t = o.threshold](auto g, auto a) { return select(a > t, g, like(g, 0)); });
}

Tensor softmax(const Tensor& x, const AxisOptions& o) { return K::softmax(x, o.axis); }
Tensor log_softmax(const Tensor& x, const AxisOptions& o) { return K::log_softmax(x, o.axis); }
Tensor log_sigmoid(const Tensor& x) { return -K::softplus(-x); }
Tensor softplus(const Tensor& x) { return K::softplus(x); }
Tensor softsign(const Tensor& x) { return K::softsign(x); }

Tensor squareplus(const Tensor& x, const SquareplusOptions& o) {
  if (is_symbolic(x)) return described("squareplus", x, squareplus, o);
  return unary_by_input(
      "squareplus", x, [b = o.b](auto a) { return (a + sqrt(a * a + b)) * 0.5; },
      [b = o.b](auto g, auto a) { return g * ((1 + a / sqrt(a * a + b)) * 0.5); });
}

Tensor exponential(const Tensor& x) { return K::exp(x); }
Tensor linear(const Tensor& x) { return x; }

Tensor sparsemax(const Tensor& x, const AxisOptions& o) {
  const Tensor z = x - K::stop_gradient(K::max(x, o.axis, true));
  const Tensor sorted = K::sort(z, o.axis, {.direction = "DESCENDING"});
  const Tensor rank = K::cumsum(K::ones_like(sorted), o.axis);
  const Tensor inside = K::cast(1 + rank * sorted > K::cumsum(sorted, o.axis), x.dtype());
  const Tensor level = (K::sum(inside * sorted, o.axis, true) - 1) / K::sum(inside, o.axis, true);
  return K::relu(z - level);
}

Tensor sparse_plus(const Tensor& x) {
  return unary_by_input(
      "sparse_plus", x,
      [](auto a) {
        const auto half = (a + 1) * 0.5;
        return select(a <= -1, like(a, 0), select(a >= 1, a, half * half));
      },
      [](auto g, auto a) { return select(a <= -1, like(g, 0), select(a >= 1, g, g * ((a + 1) * 0.5))); });
}

Tensor sparse_sigmoid(const Tensor& x) {
  return unary_by_input(
      "sparse_sigmoid", x,
      [](auto a) { return select(a <= -1, like(a, 0), select(a >= 1, like(a, 1), (a + 1) * 0.5)); },
      [](auto g, auto a) { return select(a <= -1, like(g, 0), select(a >= 1, like(g, 0), g * 0.5)); });
}

template <class F>
void fields(ReluOptions& o, F&& field) {
  field("negative_slope", o.negative_slope);
  field("max_value", o.max_value);
  field("threshold", o.threshold);
}
template <class F>
void fields(NegativeSlopeOptions& o, F&& field) {
  field("negative_slope", o.negative_slope);
}
template <class F>
void fields(AlphaOptions& o, F&& field) {
  field("alpha", o.alpha);
}
template <class F>
void fields(GeluOptions& o, F&& field) {
  field("approximate", o.approximate);
}
template <class F>
void fields(HardSigmoidOptions& o, F&& field) {
  field("slope", o.slope);
}
template <class F>
void fields(AxisOptions& o, F&& field) {
  field("axis", o.axis);
}
template <class F>
void fields(ShrinkOptions& o, F&& field) {
  field("threshold", o.threshold);
}
template <class F>
void fields(ThresholdOptions& o, F&& field) {
  field("threshold", o.threshold);
  field("default_value", o.default_value);
}
template <class F>
void fields(SquareplusOptions& o, F&& field) {
  field("b", o.b);
}

}  // namespace activations

namespace {

/// Adds activation functions to the catalogue.
struct Functions {
  ClassRegistry& registry;

  void add(const char* name, Tensor (*f)(const Tensor&), const std::vector<std::string>& aliases = {}) {
    const auto make = [=](const Config& config) {
      const auto options = options_from<NoOptions>(name, config);
      return ActivationFunction(function_object<ActivationImpl>(
          name, options, [f](const Tensor& x, const NoOptions&) { return f(x); }));
    };
    registry.add(name, make, aliases);
  }
  template <class Options>
  void add(const char* name, Tensor (*f)(const Tensor&, const Options&)) {
    registry.add(name, [=](const Config& config) {
      return ActivationFunction(
          function_object<ActivationImpl>(name, options_from<Options>(name, config), f));
    });
  }
};

}  // namespace

Value ActivationImpl::to_value() const {
  const std::string name = class_name();
  return name == "function" || get_config() != ActivationFunction(name).get_config() ? Object::to_value()
                                                                                     : Value(name);
}

void add_activations(ClassRegistry& registry) {
  using namespace activations;
  Functions functions{registry};
  functions.add("relu", relu);
  functions.add("relu6", relu6);
  functions.add("leaky_relu", leaky_relu);
  functions.add("elu", elu);
  functions.add("selu", selu);
  functions.add("celu", celu);
  functions.add("gelu", gelu);
  functions.add("glu", glu);
  functions.add("silu", silu, {"swish"});
  functions.add("mish", mish);
  functions.add("sigmoid", sigmoid);
  functions.add("hard_sigmoid", hard_sigmoid);
  functions.add("hard_silu", hard_silu, {"hard_swish"});
  functions.add("hard_tanh", hard_tanh);
  functions.add("hard_shrink", hard_shrink);
  functions.add("soft_shrink", soft_shrink);
  functions.add("tanh", tanh);
  functions.add("tanh_shrink", tanh_shrink);
  functions.add("threshold", threshold);
  functions.add("softmax", softmax);
  functions.add("log_softmax", log_softmax);
  functions.add("log_sigmoid", log_sigmoid);
  functions.add("softplus", softplus);
  functions.add("softsign", softsign);
  functions.add("squareplus", squareplus);
  functions.add("exponential", exponential);
  functions.add("linear", linear);
  functions.add("sparsemax", sparsemax);
  functions.add("sparse_plus", sparse_plus);
  functions.add("sparse_sigmoid", sparse_sigmoid);
}

}  // namespace ktape::nn
