#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/nn/activations.hpp>

#include <optional>

/// Activation functions: the type of the `activation` argument of layers, and Keras's activations as
/// functions.
namespace ktape::nn {

/// The base class of activation functions.
///
///     struct SquashImpl : nn::ActivationImpl {
///       std::string class_name() const override { return "Squash"; }
///       Tensor call(const Tensor& x) const override { return x / (1.f + K::abs(x)); }
///     };
///     nn::ActivationFunction squash(std::make_shared<SquashImpl>());
///     nn::Dense layer(2, {.activation = squash, .kernel_initializer = "ones"});
///     std::cout << layer(K::ones({1, 3}));
class ActivationImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "activation";
  static Value known(AnyFunction function);
  /// Returns only the name if the options have their default values, else {class_name, config}.
  Value to_value() const override;
};

/// A function of a tensor, element by element or along an axis: given by name, as an object, as a function of
/// Keras, or as any callable.
///
///     nn::Dense(8, {.activation = "relu"})
///     nn::Dense(8, {.activation = nn::activations::relu})   // equal to "relu", as is K::relu
///     nn::Dense(8, {.activation = [](const Tensor& x) { return K::sin(x); }})
///
/// None, the default, is the linear function: the result is the argument.
///
///     nn::ActivationFunction f = "relu";
///     std::cout << f(K::constant({-1., 2.}));
class ActivationFunction : public FunctionHandle<ActivationImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  Tensor operator()(const Tensor& x) const { return defined() ? impl().call(x) : x; }
  Value to_value() const { return defined() ? impl().to_value() : Value("linear"); }
};

/// Keras's activations. The argument x must be floating (else TypeError). The result has the dtype of x and,
/// except for `glu`, the shape of x. Each function is differentiable to any order, and returns a symbol if x
/// is symbolic.
namespace activations {

struct ReluOptions {
  double negative_slope = 0;             ///< the slope below the threshold
  std::optional<double> max_value = {};  ///< the largest result
  double threshold = 0;                  ///< elements up to the threshold are scaled by negative_slope
};
struct NegativeSlopeOptions {
  double negative_slope = 0.2;
};
struct AlphaOptions {
  double alpha = 1;
};
struct GeluOptions {
  bool approximate = false;  ///< computes tanh in place of erf
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
  double default_value = 0;  ///< the result for elements up to the threshold
};
struct SquareplusOptions {
  double b = 4;
};

/// Returns x above the threshold, negative_slope * (x - threshold) elsewhere, and at most max_value.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::relu(x) << "\n"
///               << nn::activations::relu(x, {.max_value = 0.5});
Tensor relu(const Tensor& x, const ReluOptions& options = {});
/// Returns min(max(x, 0), 6).
///
///     std::cout << nn::activations::relu6(K::constant({-2., 0., 1.}));
Tensor relu6(const Tensor& x);
/// Returns x above 0, negative_slope * x elsewhere.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::leaky_relu(x) << "\n"
///               << nn::activations::leaky_relu(x, {.negative_slope = 0.01});
Tensor leaky_relu(const Tensor& x, const NegativeSlopeOptions& options = {});
/// Returns x above 0, alpha * (exp(x) - 1) elsewhere.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::elu(x) << "\n"
///               << nn::activations::elu(x, {.alpha = 0.5});
Tensor elu(const Tensor& x, const AlphaOptions& options = {});
/// Returns 1.0507 * elu(x, 1.6733), which keeps mean 0 and variance 1.
///
///     std::cout << nn::activations::selu(K::constant({-2., 0., 1.}));
Tensor selu(const Tensor& x);
/// Returns x above 0, alpha * (exp(x / alpha) - 1) elsewhere.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::celu(x) << "\n"
///               << nn::activations::celu(x, {.alpha = 0.5});
Tensor celu(const Tensor& x, const AlphaOptions& options = {});
/// Returns x times the standard normal distribution function of x.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::gelu(x) << "\n"
///               << nn::activations::gelu(x, {.approximate = true});
Tensor gelu(const Tensor& x, const GeluOptions& options = {});
/// Returns the first half of x along the axis times the sigmoid of the second half. Throws ValueError for an
/// odd extent.
///
///     Tensor x = K::constant({{1., 2.}, {0., 100.}});
///     std::cout << nn::activations::glu(x) << "\n"
///               << nn::activations::glu(x, {.axis = 0});
Tensor glu(const Tensor& x, const AxisOptions& options = {});
/// Returns x * sigmoid(x), also known as swish.
///
///     std::cout << nn::activations::silu(K::constant({-2., 0., 1.}));
Tensor silu(const Tensor& x);
/// Returns x * tanh(softplus(x)).
///
///     std::cout << nn::activations::mish(K::constant({-2., 0., 1.}));
Tensor mish(const Tensor& x);
/// Returns 1 / (1 + exp(-x)).
///
///     std::cout << nn::activations::sigmoid(K::constant({-2., 0., 1.}));
Tensor sigmoid(const Tensor& x);
/// Returns slope * x + 0.5, limited to 0 and 1; with the default slope relu6(x + 3) / 6.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::hard_sigmoid(x) << "\n"
///               << nn::activations::hard_sigmoid(x, {.slope = 0.2});
Tensor hard_sigmoid(const Tensor& x, const HardSigmoidOptions& options = {});
/// Returns x * hard_sigmoid(x), also known as hard_swish.
///
///     std::cout << nn::activations::hard_silu(K::constant({-2., 0., 1.}));
Tensor hard_silu(const Tensor& x);
/// Returns -1 below -1, 1 above 1, and x between -1 and 1.
///
///     std::cout << nn::activations::hard_tanh(K::constant({-2., 0., 1.}));
Tensor hard_tanh(const Tensor& x);
/// Returns x where |x| > threshold, else 0.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::hard_shrink(x) << "\n"
///               << nn::activations::hard_shrink(x, {.threshold = 1.5});
Tensor hard_shrink(const Tensor& x, const ShrinkOptions& options = {});
/// Returns x moved by the threshold towards 0, at most to 0.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::soft_shrink(x) << "\n"
///               << nn::activations::soft_shrink(x, {.threshold = 1.5}) << "\n"
///               << nn::activations::tanh(x);
Tensor soft_shrink(const Tensor& x, const ShrinkOptions& options = {});
Tensor tanh(const Tensor& x);
/// Returns x - tanh(x).
///
///     std::cout << nn::activations::tanh_shrink(K::constant({-2., 0., 1.}));
Tensor tanh_shrink(const Tensor& x);
/// Returns x above the threshold, default_value elsewhere.
///
///     std::cout << nn::activations::threshold(K::constant({-2., 0.5, 3.}),
///                                             {.threshold = 1, .default_value = 0});
Tensor threshold(const Tensor& x, const ThresholdOptions& options = {});
/// Returns exp(x) / sum(exp(x)) along the axis.
///
///     Tensor x = K::constant({{1., 2., 3.}, {1., 2., 5.}});
///     std::cout << nn::activations::softmax(x) << "\n"
///               << nn::activations::softmax(x, {.axis = 0}) << "\n"
///               << nn::activations::log_softmax(x) << "\n"
///               << nn::activations::sparsemax(x);
Tensor softmax(const Tensor& x, const AxisOptions& options = {});
Tensor log_softmax(const Tensor& x, const AxisOptions& options = {});
/// Returns log(sigmoid(x)).
///
///     std::cout << nn::activations::log_sigmoid(K::constant({-2., 0., 1.}));
Tensor log_sigmoid(const Tensor& x);
/// Returns log(1 + exp(x)).
///
///     std::cout << nn::activations::softplus(K::constant({-2., 0., 1.}));
Tensor softplus(const Tensor& x);
/// Returns x / (1 + |x|).
///
///     std::cout << nn::activations::softsign(K::constant({-2., 0., 1.}));
Tensor softsign(const Tensor& x);
/// Returns (x + sqrt(x^2 + b)) / 2.
///
///     Tensor x = K::constant({-2., 0., 1.});
///     std::cout << nn::activations::squareplus(x) << "\n"
///               << nn::activations::squareplus(x, {.b = 1});
Tensor squareplus(const Tensor& x, const SquareplusOptions& options = {});
/// Returns exp(x).
///
///     std::cout << nn::activations::exponential(K::constant({-2., 0., 1.}));
Tensor exponential(const Tensor& x);
/// Returns x itself.
///
///     std::cout << nn::activations::linear(K::constant({-2., 0., 1.}));
Tensor linear(const Tensor& x);
/// Returns the point of the probability simplex that is nearest to x, along the axis.
Tensor sparsemax(const Tensor& x, const AxisOptions& options = {});
/// Returns 0 below -1, x above 1, and ((x + 1) / 2)^2 between -1 and 1.
///
///     std::cout << nn::activations::sparse_plus(K::constant({-2., 0., 1.}));
Tensor sparse_plus(const Tensor& x);
/// Returns 0 below -1, 1 above 1, and (x + 1) / 2 between -1 and 1.
///
///     std::cout << nn::activations::sparse_sigmoid(K::constant({-2., 0., 1.}));
Tensor sparse_sigmoid(const Tensor& x);

/// Keras's other names of `silu` and `hard_silu`.
inline constexpr auto& swish = silu;
inline constexpr auto& hard_swish = hard_silu;

/// Returns Keras's name of a function in nn::activations, or of a function in `K` that computes an activation
/// of Keras. Returns an empty string for any other function.
///
///     std::cout << nn::activations::name_of(nn::any_function(nn::activations::relu));
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

/// Returns the name under which configs hold a function of the library; null for other functions.
/// `K::hard_sigmoid` is the function of Keras 2 and gets slope=0.2.
inline Value ActivationImpl::known(AnyFunction function) {
  if (function == any_function(backend::hard_sigmoid))
    return Config{{"class_name", "hard_sigmoid"}, {"config", Config{{"slope", 0.2}}}};
  const std::string name = activations::name_of(function);
  return name.empty() ? Value() : Value(name);
}

}  // namespace ktape::nn
