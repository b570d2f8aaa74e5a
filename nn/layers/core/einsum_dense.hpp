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
/// and of the output; an ellipsis in front of, or behind, the letters of both input and output stands for
/// axes that stay as they are.
///
///     nn::EinsumDense("abc,cd->abd", {None, 64}, {.bias_axes = "d"})  // a Dense over sequences
///     nn::EinsumDense("...x,xy->...y", 64, {.bias_axes = "y"})        // over any axes
///
/// `output_shape` has the extents of the output without the batch axis and the axes of an ellipsis; None is
/// for those that follow from the input. Weights: kernel, one axis for each of its letters, and bias, from
/// the first of its axes on, with extent 1 for an axis that it does not have. Masks end here. Throws
/// ValueError for an equation of another form, letters that occur nowhere else, and inputs that do not fit.
class EinsumDense : public KernelLayer {
 public:
  EinsumDense(const std::string& equation, const Shape& output_shape, const EinsumDenseOptions& options = {});
  EinsumDense(const std::string& equation, std::int64_t units, const EinsumDenseOptions& options = {});
};

}  // namespace ktape::nn
