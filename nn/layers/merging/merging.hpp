#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that merge several tensors into one. The inputs of Add, Subtract, Multiply, Average, Maximum and
/// Minimum broadcast; an input of lower rank gets axes of extent 1 after the batch axis. The mask of the
/// result is true where the mask of any input is true; the result has no mask unless each input has a mask.
/// Fewer than two inputs are a ValueError.
///
///     nn::Add()({x, memory})
namespace ktape::nn {

/// The sum of the inputs.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Add()({a, b}) << " " << nn::add({a, b});
class Add : public Layer {
 public:
  explicit Add(const LayerOptions& options = {});
};

/// The first input minus the second input. Throws ValueError unless there are two inputs.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Subtract()({a, b}) << " " << nn::subtract({a, b});
class Subtract : public Layer {
 public:
  explicit Subtract(const LayerOptions& options = {});
};

/// The product of the inputs.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Multiply()({a, b}) << " " << nn::multiply({a, b});
class Multiply : public Layer {
 public:
  explicit Multiply(const LayerOptions& options = {});
};

/// The mean of the inputs.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Average()({a, b}) << " " << nn::average({a, b});
class Average : public Layer {
 public:
  explicit Average(const LayerOptions& options = {});
};

/// The largest of the inputs, element by element.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Maximum()({a, b}) << " " << nn::maximum({a, b});
class Maximum : public Layer {
 public:
  explicit Maximum(const LayerOptions& options = {});
};

/// The smallest of the inputs, element by element.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Minimum()({a, b}) << " " << nn::minimum({a, b});
class Minimum : public Layer {
 public:
  explicit Minimum(const LayerOptions& options = {});
};

struct ConcatenateOptions {
  int axis = -1;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The concatenation of the inputs along an axis. The mask of the result is the concatenation of the masks of
/// the inputs; a missing mask counts as true, unless all masks are missing. Along the last axis, a step is
/// valid where the mask of any input is true.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Concatenate({.axis = -1})({a, b}) << " "
///               << nn::concatenate({a, b});
class Concatenate : public Layer {
 public:
  explicit Concatenate(const ConcatenateOptions& options = {});
};

struct DotOptions {
  ByName by_name = {};
  Axes axes = {};          ///< required: one axis for both inputs, or one for each input
  bool normalize = false;  ///< whether both inputs are scaled to norm 1 along their axes (cosine similarity)
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// The products of two inputs, summed over one axis of each input: see `K::batch_dot`. Two vectors per sample
/// give (batch, 1). The result has no mask.
///
///     Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
///     std::cout << nn::Dot(1)({a, b}) << " " << nn::dot({a, b}, 1) << "\n"
///               << nn::dot({a, b}, 1, {.normalize = true});  // the cosine
class Dot : public Layer {
 public:
  explicit Dot(const DotOptions& options);
  template <class = void>
  explicit Dot(const Axes& axes, const DotOptions& options = {})
      : Dot(internal::with("Dot", "axes", options, &DotOptions::axes, axes)) {}
};

// --- As functions -----------------------------------------------------------------------------------------

// Each function calls a new layer of the class, as `keras.layers.add` does:
//
//     Tensor y = nn::add({x, shortcut});

Tensor add(const std::vector<Tensor>& inputs, const LayerOptions& options = {});
Tensor subtract(const std::vector<Tensor>& inputs, const LayerOptions& options = {});
Tensor multiply(const std::vector<Tensor>& inputs, const LayerOptions& options = {});
Tensor average(const std::vector<Tensor>& inputs, const LayerOptions& options = {});
Tensor maximum(const std::vector<Tensor>& inputs, const LayerOptions& options = {});
Tensor minimum(const std::vector<Tensor>& inputs, const LayerOptions& options = {});
Tensor concatenate(const std::vector<Tensor>& inputs, const ConcatenateOptions& options = {});
Tensor concatenate(const std::vector<Tensor>& inputs, int axis);
Tensor dot(const std::vector<Tensor>& inputs, const Axes& axes, const DotOptions& options = {});

}  // namespace ktape::nn
