#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/object.hpp>

#include <optional>

/// Activation functions: what an `activation` argument takes, and Keras's own as functions.
namespace ktape::nn {

/// The class behind an ActivationFunction.
class ActivationImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "activation";
  /// The name alone, where that says all.
  Value to_value() const override;
};

/// A function of a tensor, element by element or along an axis: by name, as an object, or any callable.
///
///     nn::Dense(8, {.activation = "relu"})
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

}  // namespace activations
}  // namespace ktape::nn
