#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>

#include <functional>

/// Dense layers, embeddings, and layers that apply a function or set a mask.
///
///     nn::Dense(10, {.activation = "softmax"})
namespace ktape::nn {

struct DenseOptions {
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  std::optional<std::int64_t> input_dim = {};  ///< short for `.input_shape = {input_dim}`
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// A fully connected layer: activation(dot(x, kernel) + bias). x of shape (batch, ..., features) gives
/// (batch, ..., units). Weights: kernel (features, units) and bias (units,). Masks pass.
///
///     nn::Dense layer(3, {.activation = "relu"});
///     std::cout << layer(K::random_normal({2, 4})).shape()
///               << " weights: " << layer.count_params();
class Dense : public KernelLayer {
 public:
  explicit Dense(std::int64_t units, const DenseOptions& options = {});
};

/// An activation function as a layer, given by name, as an object, or as any callable. Masks pass.
///
///     nn::Activation layer("relu", {.name = "positive"});
///     std::cout << layer.name() << " " << layer(K::constant({-1., 2.}));
class Activation : public Layer {
 public:
  explicit Activation(const ActivationFunction& activation, const LayerOptions& options = {});
};

/// A layer that returns the input. Masks pass.
///
///     nn::Identity layer;
///     std::cout << layer(K::constant({-1., 2.}));
class Identity : public Layer {
 public:
  explicit Identity(const LayerOptions& options = {});
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {}, activity_regularizer = {};
  nn::Constraint embeddings_constraint = {};
  bool mask_zero = false;  ///< whether 0 is padding: the output then carries the mask x != 0
  Tensor weights = {};     ///< the initial value of the table, instead of the initializer
  std::optional<std::int64_t> input_length = {};  ///< short for `.input_shape = {input_length}`
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
};

/// A table of vectors: each number below input_dim becomes a row of the table, so (batch, steps) becomes
/// (batch, steps, output_dim). Weight: embeddings (input_dim, output_dim). Numbers of a floating dtype must
/// be whole. Throws ValueError for a number out of range, a fraction or NaN.
///
///     nn::Embedding layer(1000, 8);
///     std::cout << layer(K::constant({{1, 5, 7}}, {.dtype = "int32"})).shape();
class Embedding : public Layer {
 public:
  Embedding(std::int64_t input_dim, std::int64_t output_dim, const EmbeddingOptions& options = {});
  Variable embeddings() const { return weight("embeddings"); }
};

/// A layer that masks the time steps whose features all equal mask_value, and sets these steps to 0. The
/// input is (batch, steps, ...).
///
///     nn::Masking layer(0.);
///     Tensor y = layer(K::constant({{{1.}, {0.}}}));
///     std::cout << y.shape() << " " << nn::mask_of(y);
class Masking : public Layer {
 public:
  explicit Masking(double mask_value = 0, const LayerOptions& options = {});
};

/// A function of a tensor, or of a vector of tensors, as a layer. The function returns one tensor or a vector
/// of tensors. A Lambda has no config from which the layer could be made again, but clone_model
/// copies it, with the same function.
///
///     nn::Lambda([](const Tensor& x) { return x / 255.f; })
///
/// For example:
///
///     nn::Lambda scale([](const Tensor& x) { return x / 255.f; });
///     std::cout << scale(K::constant({51., 255.}));
class Lambda : public Layer {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  template <class F>
  requires std::invocable<F&, const Tensor&> || std::invocable < F&, const std::vector<Tensor>
  & > explicit Lambda(F f, const LayerOptions& options = {})
      : Lambda(Function([f](const std::vector<Tensor>& inputs) mutable -> std::vector<Tensor> {
                 if constexpr (std::invocable<F&, const Tensor&>) {
                   if (inputs.size() != 1) fail_several(inputs.size());
                   return TensorList(f(inputs[0])).vector();
                 } else {
                   return TensorList(f(inputs)).vector();
                 }
               }),
               options) {}
  explicit Lambda(Function f, const LayerOptions& options = {});
  /// Makes a layer of a function of a tensor that has structs of options as further parameters, which keep
  /// their defaults: nn::Lambda(nn::activations::relu).
  template <class R, class... Options>
  requires(sizeof...(Options) > 0) explicit Lambda(R (*f)(const Tensor&, Options...),
                                                   const LayerOptions& options = {})
      : Lambda(WithDefaults<std::function<Tensor(const Tensor&)>>::call("Lambda", f), options) {}

 private:
  [[noreturn]] static void fail_several(std::size_t received);
};

}  // namespace ktape::nn
