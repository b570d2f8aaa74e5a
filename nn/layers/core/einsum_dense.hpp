#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>

namespace ktape::nn {

struct EinsumDenseOptions {
  ActivationFunction activation = {};
  /// The letters of the output that the bias has an axis for, such as "c"; without them there is no bias.
  OptionalString bias_axes = {};
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// activation(einsum(equation, {x, kernel}) + bias). The equation names the axes of the input, of the kernel
/// and of the output; an ellipsis before, or after, the letters of both input and output stands for axes that
/// the layer leaves as they are.
///
///     nn::EinsumDense("abc,cd->abd", {None, 64}, {.bias_axes = "d"})  // a Dense over sequences
///     nn::EinsumDense("...x,xy->...y", 64, {.bias_axes = "y"})        // over any axes
///
/// `output_shape` has the extents of the output without the batch axis and the axes of an ellipsis; None
/// stands for an extent that follows from the input. Weights: kernel, with an axis for each of its letters,
/// and bias, whose axes begin with the first letter of `bias_axes`; an axis that `bias_axes` does not name
/// has extent 1. Masks end here. Throws ValueError for an equation of another form, letters that occur
/// nowhere else, and inputs that do not fit.
class EinsumDense : public KernelLayer {
 public:
  EinsumDense(const std::string& equation, const Shape& output_shape, const EinsumDenseOptions& options = {});
  EinsumDense(const std::string& equation, std::int64_t units, const EinsumDenseOptions& options = {});
};

}  // namespace ktape::nn
