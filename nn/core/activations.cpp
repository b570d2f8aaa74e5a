#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

namespace ktape::nn {
namespace K = backend;

namespace activations {

using op_helpers::like, op_helpers::select;

namespace {

/// Returns f(x, arguments...), a function of keras.ops, which makes floats of integers. Integers are an error here, as in
/// the functions of K.
template <class F, class... T>
Tensor of_floating(const char* op, F f, const Tensor& x, T... arguments) {
  op_helpers::expect_floating(op, x);
  return f(x, arguments...);
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
Tensor selu(const Tensor& x) { return of_floating("selu", ops::selu, x); }
Tensor celu(const Tensor& x, const AlphaOptions& o) { return of_floating("celu", ops::celu, x, o.alpha); }
Tensor gelu(const Tensor& x, const GeluOptions& o) { return K::gelu(x, {.approximate = o.approximate}); }
Tensor glu(const Tensor& x, const AxisOptions& o) { return of_floating("glu", ops::glu, x, o.axis); }
Tensor silu(const Tensor& x) { return of_floating("silu", ops::silu, x); }
Tensor mish(const Tensor& x) { return x * K::tanh(K::softplus(x)); }
Tensor sigmoid(const Tensor& x) { return K::sigmoid(x); }

Tensor hard_sigmoid(const Tensor& x, const HardSigmoidOptions& o) {
  if (o.slope != HardSigmoidOptions().slope) return K::clip(o.slope * x + 0.5, 0, 1);
  constexpr double slope = 1 / 6.F;  // the float32 value of 1/6 for all dtypes, as in Keras
  return op_helpers::unary_by_input(
      "hard_sigmoid", x,
      [](auto a) { return select(a < -3, like(a, 0), select(a > 3, like(a, 1), (a + 3) / 6)); },
      [=](auto g, auto a) { return select(a <= -3, like(g, 0), select(a >= 3, like(g, 0), g * slope)); });
}

Tensor hard_silu(const Tensor& x) { return of_floating("hard_silu", ops::hard_silu, x); }
Tensor hard_tanh(const Tensor& x) { return of_floating("hard_tanh", ops::hard_tanh, x); }
Tensor hard_shrink(const Tensor& x, const ShrinkOptions& o) {
  return of_floating("hard_shrink", ops::hard_shrink, x, o.threshold);
}
Tensor soft_shrink(const Tensor& x, const ShrinkOptions& o) {
  return of_floating("soft_shrink", ops::soft_shrink, x, o.threshold);
}
Tensor tanh(const Tensor& x) { return K::tanh(x); }
Tensor tanh_shrink(const Tensor& x) { return of_floating("tanh_shrink", ops::tanh_shrink, x); }

Tensor threshold(const Tensor& x, const ThresholdOptions& o) {
  return of_floating("threshold", ops::threshold, x, o.threshold, o.default_value);
}

Tensor softmax(const Tensor& x, const AxisOptions& o) { return K::softmax(x, o.axis); }
Tensor log_softmax(const Tensor& x, const AxisOptions& o) { return K::log_softmax(x, o.axis); }
Tensor log_sigmoid(const Tensor& x) { return of_floating("log_sigmoid", ops::log_sigmoid, x); }
Tensor softplus(const Tensor& x) { return K::softplus(x); }
Tensor softsign(const Tensor& x) { return K::softsign(x); }
Tensor squareplus(const Tensor& x, const SquareplusOptions& o) {
  return of_floating("squareplus", ops::squareplus, x, o.b);
}
Tensor exponential(const Tensor& x) { return K::exp(x); }
Tensor linear(const Tensor& x) { return x; }
Tensor sparsemax(const Tensor& x, const AxisOptions& o) {
  return of_floating("sparsemax", ops::sparsemax, x, o.axis);
}
Tensor sparse_plus(const Tensor& x) { return of_floating("sparse_plus", ops::sparse_plus, x); }
Tensor sparse_sigmoid(const Tensor& x) { return of_floating("sparse_sigmoid", ops::sparse_sigmoid, x); }

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
