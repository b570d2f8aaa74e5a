#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>

namespace ktape::nn {

struct EinsumDenseOptions {
  ByName by_name = {};
  std::string equation = {};        ///< required: as for einsum: input, kernel -> output
  OptionalShape output_shape = {};  ///< required: the extents of the output without the batch
  ActivationFunction activation = {};
  /// The letters of the output for which the bias has an axis, such as "c". Without letters there is no bias.
  OptionalString bias_axes = {};
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  Regularizer activity_regularizer = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A dense layer over any axes: activation(einsum(equation, {x, kernel}) + bias). The equation names the axes
/// of the input, of the kernel and of the output. An ellipsis before or after the letters of both input and
/// output stands for axes that do not change.
///
///     nn::EinsumDense("abc,cd->abd", {None, 64}, {.bias_axes = "d"})  // a Dense over sequences
///     nn::EinsumDense("...x,xy->...y", 64, {.bias_axes = "y"})        // over any axes
///
/// `output_shape` has the extents of the output without the batch axis and the axes of an ellipsis; None
/// stands for an extent that follows from the input. Weights: kernel, with one axis for each letter of the
/// kernel, and bias, with the axes of the output from the first letter of `bias_axes` on, where axes that are
/// not in `bias_axes` have extent 1. Masks do not pass. Throws ValueError for an equation of another form,
/// for a letter of the kernel or output that no other term has, and for inputs that do not fit.
///
///     nn::EinsumDense layer("abc,cd->abd", {None, 64}, {.bias_axes = "d"});
///     std::cout << layer(K::random_normal({2, 5, 16})).shape()
///               << " weights: " << layer.count_params();
class EinsumDense : public KernelLayer {
 public:
  explicit EinsumDense(const EinsumDenseOptions& options);
  EinsumDense(const std::string& equation, const EinsumDenseOptions& options)
      : EinsumDense(
            internal::with("EinsumDense", "equation", options, &EinsumDenseOptions::equation, equation)) {}
  template <class = void>
  EinsumDense(const std::string& equation, const Shape& output_shape, const EinsumDenseOptions& options = {})
      : EinsumDense(equation, internal::with("EinsumDense", "output_shape", options,
                                             &EinsumDenseOptions::output_shape, output_shape)) {}
  EinsumDense(const std::string& equation, std::int64_t units, const EinsumDenseOptions& options = {})
      : EinsumDense(equation, Shape{units}, options) {}
};

}  // namespace ktape::nn
