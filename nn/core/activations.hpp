#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/ops/activations.hpp>
#include <ktape/ops/elementwise.hpp>

#include <optional>

/// Activation functions: what an `activation` argument takes, and Keras's own as functions.
namespace ktape::nn {

/// The class behind an ActivationFunction.
class ActivationImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "activation";
  static Value known(AnyFunction function);
  /// The name alone, where that says all.
  Value to_value() const override;
};

/// A function of a tensor, element by element or along an axis: by name, as an object, as one of Keras's
/// functions, or any callable.
///
///     nn::Dense(8, {.activation = "relu"})
///     nn::Dense(8, {.activation = nn::activations::relu})   // the same, as is K::relu
///     nn::Dense(8, {.activation = [](const Tensor& x) { return K::sin(x); }})
///
/// None, the default, is the linear one: it returns its argument.
class ActivationFunction : public FunctionHandle<ActivationImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  Tensor operator()(const Tensor& x) const { return defined() ? impl().call(x) : x; }
  Value to_value() const { return defined() ? impl().to_value() : Value("linear"); }
};

/// Keras's activations. x is floating (TypeError), the result has its dtype and, but for `glu`, its shape.
/// They are differentiable to any order, and wait where x is symbolic.
namespace activations {

struct ReluOptions {
  double negative_slope = 0;             ///< below the threshold
  std::optional<double> max_value = {};  ///< the largest result
  double threshold = 0;                  ///< a gate: x passes above it
};
struct NegativeSlopeOptions {
  double negative_slope = 0.2;
};
struct AlphaOptions {
  double alpha = 1;
};
struct GeluOptions {
  bool approximate = false;  ///< with tanh in place of erf
};
struct HardSigmoidOptions {
  double slope = 1 / 6.;  ///< 0.2 in Keras 2 and TensorFlow.js
};
struct AxisOptions {
  int axis = -1;
};
struct ShrinkOptions {
  double threshold = 0.5;
};
struct ThresholdOptions {
  double threshold = 0;
  double default_value = 0;  ///< the result up to the threshold
};
struct SquareplusOptions {
  double b = 4;
};

/// x above the threshold, negative_slope * (x - threshold) elsewhere, at most max_value.
Tensor relu(const Tensor& x, const ReluOptions& options = {});
/// min(max(x, 0), 6).
Tensor relu6(const Tensor& x);
/// x above 0, negative_slope * x elsewhere.
Tensor leaky_relu(const Tensor& x, const NegativeSlopeOptions& options = {});
/// x above 0, alpha * (exp(x) - 1) elsewhere.
Tensor elu(const Tensor& x, const AlphaOptions& options = {});
/// 1.0507 * elu(x, 1.6733): keeps mean 0 and variance 1.
Tensor selu(const Tensor& x);
/// x above 0, alpha * (exp(x / alpha) - 1) elsewhere.
Tensor celu(const Tensor& x, const AlphaOptions& options = {});
/// x times the standard normal distribution function of x.
Tensor gelu(const Tensor& x, const GeluOptions& options = {});
/// The first half of x along the axis times the sigmoid of the second half. Throws ValueError for an odd
/// extent.
Tensor glu(const Tensor& x, const AxisOptions& options = {});
/// x * sigmoid(x), also known as swish.
Tensor silu(const Tensor& x);
/// x * tanh(softplus(x)).
Tensor mish(const Tensor& x);
/// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
/// slope x + 0.5 between 0 and 1: relu6(x + 3) / 6, by default.
Tensor hard_sigmoid(const Tensor& x, const HardSigmoidOptions& options = {});
/// x * hard_sigmoid(x), also known as hard_swish.
Tensor hard_silu(const Tensor& x);
/// -1 below -1, 1 above 1, x between them.
Tensor hard_tanh(const Tensor& x);
/// x where |x| > threshold, else 0.
Tensor hard_shrink(const Tensor& x, const ShrinkOptions& options = {});
/// x moved by the threshold towards 0, at most to 0.
Tensor soft_shrink(const Tensor& x, const ShrinkOptions& options = {});
Tensor tanh(const Tensor& x);
/// x - tanh(x).
Tensor tanh_shrink(const Tensor& x);
/// x above the threshold, default_value elsewhere.
Tensor threshold(const Tensor& x, const ThresholdOptions& options = {});
/// exp(x) / sum(exp(x)) along the axis.
Tensor softmax(const Tensor& x, const AxisOptions& options = {});
Tensor log_softmax(const Tensor& x, const AxisOptions& options = {});
/// log(sigmoid(x)).
Tensor log_sigmoid(const Tensor& x);
/// log(1 + exp(x)).
Tensor softplus(const Tensor& x);
/// x / (1 + |x|).
Tensor softsign(const Tensor& x);
/// (x + sqrt(x^2 + b)) / 2.
Tensor squareplus(const Tensor& x, const SquareplusOptions& options = {});
/// exp(x).
Tensor exponential(const Tensor& x);
/// x itself.
Tensor linear(const Tensor& x);
/// The point of the probability simplex that is nearest to x, along the axis.
Tensor sparsemax(const Tensor& x, const AxisOptions& options = {});
/// 0 below -1, x above 1, ((x + 1) / 2)^2 between them.
Tensor sparse_plus(const Tensor& x);
/// 0 below -1, 1 above 1, (x + 1) / 2 between them.
Tensor sparse_sigmoid(const Tensor& x);

/// Keras's other names.
inline constexpr auto& swish = silu;
inline constexpr auto& hard_swish = hard_silu;

/// The name of one of these functions, or of one of `K` that computes the same; empty for another function.
inline std::string name_of(AnyFunction function) {
  static const NamedFunction all[] = {
      {any_function(relu), "relu"},
      {any_function(relu6), "relu6"},
      {any_function(leaky_relu), "leaky_relu"},
      {any_function(elu), "elu"},
      {any_function(selu), "selu"},
      {any_function(celu), "celu"},
      {any_function(gelu), "gelu"},
      {any_function(glu), "glu"},
      {any_function(silu), "silu"},
      {any_function(mish), "mish"},
      {any_function(sigmoid), "sigmoid"},
      {any_function(hard_sigmoid), "hard_sigmoid"},
      {any_function(hard_silu), "hard_silu"},
      {any_function(hard_tanh), "hard_tanh"},
      {any_function(hard_shrink), "hard_shrink"},
      {any_function(soft_shrink), "soft_shrink"},
      {any_function(tanh), "tanh"},
      {any_function(tanh_shrink), "tanh_shrink"},
      {any_function(threshold), "threshold"},
      {any_function(softmax), "softmax"},
      {any_function(log_softmax), "log_softmax"},
      {any_function(log_sigmoid), "log_sigmoid"},
      {any_function(softplus), "softplus"},
      {any_function(softsign), "softsign"},
      {any_function(squareplus), "squareplus"},
      {any_function(exponential), "exponential"},
      {any_function(linear), "linear"},
      {any_function(sparsemax), "sparsemax"},
      {any_function(sparse_plus), "sparse_plus"},
      {any_function(sparse_sigmoid), "sparse_sigmoid"},
      {any_function(backend::relu), "relu"},
      {any_function(backend::elu), "elu"},
      {any_function(backend::softmax), "softmax"},
      {any_function(backend::log_softmax), "log_softmax"},
      {any_function(backend::sigmoid), "sigmoid"},
      {any_function(backend::softplus), "softplus"},
      {any_function(backend::softsign), "softsign"},
      {any_function(backend::gelu), "gelu"},
      {any_function(backend::tanh), "tanh"},
      {any_function(backend::exp), "exponential"},
  };
  return name_in(all, function);
}

}  // namespace activations

/// K's hard_sigmoid is that of Keras 2.
inline Value ActivationImpl::known(AnyFunction function) {
  if (function == any_function(backend::hard_sigmoid))
    return Config{{"class_name", "hard_sigmoid"}, {"config", Config{{"slope", 0.2}}}};
  const std::string name = activations::name_of(function);
  return name.empty() ? Value() : Value(name);
}

}  // namespace ktape::nn
