#pragma once
#include <ktape/autograd/shape_rules.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/activation/activation.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/regularization/regularization.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/unmasked.hpp>

/// The base class of the attention layers.
namespace ktape::nn {

/// A base class of layers that compute scores from query, value and key, and weights from the scores.
template <class Arguments>
class AttentionLayer : public LayerWith<Arguments> {
 public:
  AttentionLayer(const char* class_name, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, arguments) {
    expect_rate(class_name, "dropout", args.dropout);
    this->supports_masking = true;
  }

 protected:
  using LayerWith<Arguments>::args;

  void expect_inputs(std::size_t count) const {
    if (count < 2 || count > 3)
      fail("[", this->name(),
           "] the layer must be called on {query, value} or {query, value, key}: received ", count,
           count == 1 ? " tensor" : " tensors");
  }

  /// Throws ValueError unless value and key have compatible shapes except for the features.
  void expect_fit(const Shape& value, const Shape& key) const {
    Shape a = value, b = key;
    if (a.rank() == b.rank() && !a.empty()) a[-1] = b[-1] = None;
    if (!compatible(a, b))
      fail("[", this->name(),
           "] value and key must have the same shape but for the last axis: received value=", value,
           ", key=", key);
  }

  /// Returns the mask of input i, (batch, steps); undefined for an input without a mask. Throws ValueError
  /// for a mask of another shape.
  Tensor mask_at(const std::vector<Tensor>& inputs, const CallArguments& arguments, std::size_t i) const {
    const Tensor mask = i < arguments.mask.size() ? arguments.mask[i] : Tensor();
    if (!mask.defined()) return mask;
    const Shape& x = inputs[i].shape();
    if (!compatible(mask.shape(), Shape{x[0], x[1]}))
      fail("[", this->name(), "] a mask must be (batch, steps), as its input: received mask=", mask.shape(),
           " for shape=", x);
    return mask;
  }

  void build_weighing(const Axes& axes) {
    softmax_ = Softmax({.axis = axes, .dtype = this->dtype_policy(), .name = "softmax"});
    dropout_ = Dropout(args.dropout, {.seed = args.seed, .dtype = this->dtype_policy(), .name = "dropout"});
  }

  /// Returns whether a call needs the weights as a tensor: for returned scores or for dropout.
  bool needs_weights(const Tensor& query, const CallArguments& arguments) const {
    return arguments.return_attention_scores ||
           (args.dropout > 0 && (is_symbolic(query) || this->training(arguments)));
  }

  /// Returns the softmax of the scores. Scores that the mask hides get weight 0.
  Tensor weights(const Tensor& scores, const Tensor& mask) const {
    if (!mask.defined()) return softmax_(scores);
    if (!broadcasts_to(mask.shape(), scores.shape()))
      fail("[", this->name(), "] the masks must broadcast to the scores ", scores.shape(),
           ": received mask=", mask.shape());
    return with_mask(softmax_(scores, {.mask = mask}), Tensor());
  }
  Tensor dropped(const Tensor& weights) const { return args.dropout > 0 ? dropout_(weights) : weights; }
  /// Returns the weighed sums of the values. Values that a mask hides may be infinite or NaN.
  static Tensor weighed(const Tensor& weights, const Tensor& values, bool masked) {
    return masked ? op_helpers::weighed_sum(weights, values) : backend::matmul(weights, values);
  }

 private:
  Layer softmax_, dropout_;
};

}  // namespace ktape::nn
