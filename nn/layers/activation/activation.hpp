#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Activation functions as layers, computed element by element or along axes. Masks pass. For an activation
/// function without a class in this file, see nn::Activation.
namespace ktape::nn {

struct ReLUOptions {
  std::optional<double> max_value = {};  ///< the largest result
  double negative_slope = 0;             ///< the slope below the threshold
  double threshold = 0;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The function activations::relu as a layer. Throws ValueError for a negative argument.
///
///     nn::ReLU layer({.max_value = 6});
///     std::cout << layer(K::constant({-1., 2., 9.}));
class ReLU : public Layer {
 public:
  explicit ReLU(const ReLUOptions& options = {});
};

struct LeakyReLUOptions {
  double negative_slope = 0.3;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A leaky rectifier: x above 0, negative_slope * x elsewhere. Throws ValueError for a negative slope.
///
///     nn::LeakyReLU layer({.negative_slope = 0.1});
///     std::cout << layer(K::constant({-1., 2.}));
class LeakyReLU : public Layer {
 public:
  explicit LeakyReLU(const LeakyReLUOptions& options = {});
};

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  nn::Constraint alpha_constraint = {};
  std::vector<int> shared_axes = {};  ///< the axes with one common slope; the batch axis is axis 0
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A rectifier with learned slopes: x above 0, alpha * x elsewhere. Weight: alpha, a slope for each element
/// of a sample.
///
///     nn::PReLU layer({.alpha_initializer = "ones"});
///     Tensor x = K::constant({{-1., 2.}});
///     std::cout << nn::PReLU()(x) << " " << layer(x) << " " << layer.count_params();
class PReLU : public Layer {
 public:
  explicit PReLU(const PReLUOptions& options = {});
  Variable alpha() const { return weight("alpha"); }
};

struct ELUOptions {
  double alpha = 1;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// An exponential linear unit: x above 0, alpha * (exp(x) - 1) elsewhere.
///
///     nn::ELU layer, half({.alpha = 0.5});
///     Tensor x = K::constant({-1., 2.});
///     std::cout << layer(x) << "\n" << half(x);
class ELU : public Layer {
 public:
  explicit ELU(const ELUOptions& options = {});
};

struct SoftmaxOptions {
  Axes axis = -1;  ///< one axis, or several axes that are normalized together
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The softmax function exp(x) / sum(exp(x)). A mask, which broadcasts to x, excludes elements, whatever they
/// are. Excluded elements become 0, even when the mask excludes all elements of the sum.
///
///     nn::Softmax rows, columns({.axis = 1});
///     Tensor x = K::constant({{1., 2.}, {1., 4.}});
///     std::cout << rows(x) << "\n" << columns(K::expand_dims(x, 0));
class Softmax : public Layer {
 public:
  explicit Softmax(const SoftmaxOptions& options = {});
};

}  // namespace ktape::nn
