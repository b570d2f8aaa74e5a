#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that make one tensor of several. The inputs of Add, Subtract, Multiply, Average, Maximum and
/// Minimum broadcast; an input of lower rank gets axes of extent 1 after the batch axis. The mask of the
/// result is true where the mask of any input is true; if an input has no mask, the result has none. Fewer
/// than two inputs are a ValueError.
namespace ktape::nn {

/// The sum of the inputs.
class Add : public Layer {
 public:
  explicit Add(const LayerOptions& options = {});
};

/// The first input minus the second; there are two.
class Subtract : public Layer {
 public:
  explicit Subtract(const LayerOptions& options = {});
};

class Multiply : public Layer {
 public:
  explicit Multiply(const LayerOptions& options = {});
};

class Average : public Layer {
 public:
  explicit Average(const LayerOptions& options = {});
};

class Maximum : public Layer {
 public:
  explicit Maximum(const LayerOptions& options = {});
};

class Minimum : public Layer {
 public:
  explicit Minimum(const LayerOptions& options = {});
};

struct ConcatenateOptions {
  int axis = -1;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Joins the inputs along an axis. The mask of the result joins the masks of the inputs; a missing mask
/// counts as true.
class Concatenate : public Layer {
 public:
  explicit Concatenate(const ConcatenateOptions& options = {});
};

struct DotOptions {
  bool normalize = false;  ///< scale both to norm 1 along their axes: the cosine of the angle
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// The products of two inputs, summed over an axis of each: see `K::batch_dot`. Two vectors per sample give
/// (batch, 1). No mask leaves it.
class Dot : public Layer {
 public:
  /// Takes one axis for both inputs, or an axis for each.
  explicit Dot(const Axes& axes, const DotOptions& options = {});
};

// --- As functions -----------------------------------------------------------------------------------------

// The call of a new layer of the class, as in `keras.layers.add`:
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
