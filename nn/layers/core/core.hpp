#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>

#include <functional>

/// Dense layers, embeddings, and layers that apply a function or set a mask.
///
///     nn::Dense(10, {.activation = "softmax"})
namespace ktape::nn {

struct DenseOptions {
  std::optional<std::int64_t> units = {};  ///< required: the width of the output
  ActivationFunction activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  std::optional<std::int64_t> input_dim = {};  ///< short for `.input_shape = {input_dim}`
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A fully connected layer: activation(dot(x, kernel) + bias). x of shape (batch, ..., features) gives
/// (batch, ..., units). Weights: kernel (features, units) and bias (units,). Masks pass.
///
///     nn::Dense layer(3, {.activation = "relu"});
///     std::cout << layer(K::random_normal({2, 4})).shape()
///               << " weights: " << layer.count_params();
class Dense : public KernelLayer {
 public:
  explicit Dense(const DenseOptions& options);
  explicit Dense(std::int64_t units, const DenseOptions& options = {})
      : Dense(internal::with("Dense", "units", options, &DenseOptions::units, units)) {}
};

struct ActivationOptions {
  std::optional<ActivationFunction> activation = {};  ///< required: the function
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// An activation function as a layer, given by name, as an object, or as any callable. Masks pass.
///
///     nn::Activation layer("relu", {.name = "positive"});
///     std::cout << layer.name() << " " << layer(K::constant({-1., 2.}));
class Activation : public Layer {
 public:
  explicit Activation(const ActivationOptions& options);
  template <class = void>
  explicit Activation(const ActivationFunction& activation, const ActivationOptions& options = {})
      : Activation(internal::with("Activation", "activation", options, &ActivationOptions::activation,
                                  activation)) {}
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
  std::optional<std::int64_t> input_dim = {};   ///< required: the number of rows
  std::optional<std::int64_t> output_dim = {};  ///< required: the width of a row
  Initializer embeddings_initializer = "uniform";
  Regularizer embeddings_regularizer = {};
  nn::Constraint embeddings_constraint = {};
  bool mask_zero = false;  ///< whether 0 is padding: the output then carries the mask x != 0
  Tensor weights = {};     ///< the initial value of the table, instead of the initializer
  std::optional<std::int64_t> input_length = {};  ///< short for `.input_shape = {input_length}`
  Regularizer activity_regularizer = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A table of vectors: each number below input_dim becomes a row of the table, so (batch, steps) becomes
/// (batch, steps, output_dim). Weight: embeddings (input_dim, output_dim). Numbers of a floating dtype must
/// be whole. Throws ValueError for a number out of range, a fraction or NaN.
///
///     nn::Embedding layer(1000, 8);
///     std::cout << layer(K::constant({{1, 5, 7}}, {.dtype = "int32"})).shape();
class Embedding : public Layer {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Embedding(std::int64_t input_dim, const EmbeddingOptions& options)
      : Embedding(
            internal::with("Embedding", "input_dim", options, &EmbeddingOptions::input_dim, input_dim)) {}
  Embedding(std::int64_t input_dim, std::int64_t output_dim, const EmbeddingOptions& options = {})
      : Embedding(input_dim, internal::with("Embedding", "output_dim", options, &EmbeddingOptions::output_dim,
                                            output_dim)) {}
  Variable embeddings() const { return weight("embeddings"); }
};

struct MaskingOptions {
  double mask_value = 0;  ///< the value of all features of a masked step
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that masks the time steps whose features all equal mask_value, and sets these steps to 0. The
/// input is (batch, steps, ...).
///
///     nn::Masking layer({.mask_value = 0});
///     Tensor y = layer(K::constant({{{1.}, {0.}}}));
///     std::cout << y.shape() << " " << nn::mask_of(y);
class Masking : public Layer {
 public:
  explicit Masking(const MaskingOptions& options = {});
  explicit Masking(double mask_value, const MaskingOptions& options = {})
      : Masking(internal::with(options, &MaskingOptions::mask_value, mask_value)) {}
};

/// The function of a Lambda: a callable of a tensor, or of a vector of tensors, that returns one tensor or a vector
/// of tensors. A function of a tensor may have structs of options as further parameters, which keep their
/// defaults: nn::Lambda(nn::activations::relu).
///
///     nn::LambdaFunction half = [](const Tensor& x) { return x / 2.f; };
///     std::cout << nn::Lambda(half)(K::constant({2., 4.}));
class LambdaFunction {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

  LambdaFunction() = default;
  template <class F>
  requires std::invocable<F&, const Tensor&> || std::invocable < F&, const std::vector<Tensor>
  & > LambdaFunction(F f)
      : of_list_([f](const std::vector<Tensor>& inputs) mutable -> std::vector<Tensor> {
          if constexpr (std::invocable<F&, const Tensor&>) {
            if (inputs.size() != 1) fail_several(inputs.size());
            return TensorList(f(inputs[0])).vector();
          } else {
            return TensorList(f(inputs)).vector();
          }
        }) {}
  template <class R, class... Options>
  requires(sizeof...(Options) > 0) LambdaFunction(R (*f)(const Tensor&, Options...))
      : LambdaFunction(WithDefaults<std::function<Tensor(const Tensor&)>>::call("Lambda", f)) {}

  bool defined() const { return of_list_ != nullptr; }
  /// Returns the function as a function of a list of tensors.
  const Function& of_list() const { return of_list_; }

 private:
  [[noreturn]] static void fail_several(std::size_t received);
  Function of_list_;
};

struct LambdaOptions {
  LambdaFunction function = {};  ///< required: the function
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A function of a tensor, or of a vector of tensors, as a layer. The function returns one tensor or a vector
/// of tensors. A Lambda has no config from which the layer could be made again, but clone_model
/// copies it, with the same function.
///
///     nn::Lambda([](const Tensor& x) { return x / 255.f; })
///
/// For example:
///
///     nn::Lambda scale({.function = [](const Tensor& x) { return x / 255.f; }});
///     std::cout << scale(K::constant({51., 255.}));
class Lambda : public Layer {
 public:
  using Function = LambdaFunction::Function;

  explicit Lambda(const LambdaOptions& options);
  template <std::convertible_to<LambdaFunction> F>
  explicit Lambda(const F& function, const LambdaOptions& options = {})
      : Lambda(internal::with("Lambda", "function", options, &LambdaOptions::function,
                              LambdaFunction(function))) {}
};

}  // namespace ktape::nn
