#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/nn/internal/convolution_op.hpp>

#include <optional>
#include <string>

/// Checked arguments of convolutions. Internal: sources only.
namespace ktape::backend {

/// The arguments as they were given.
struct ConvolutionArguments {
  const char* op;
  int dims;  ///< spatial axes
  Shape strides, dilation_rate;
  std::string padding, data_format;
};

/// Returns whether the format is "channels_first". Throws ValueError for an unknown format.
bool channels_first(const char* op, const std::optional<std::string>& data_format);
/// Throws ValueError unless there is one number for each spatial axis, none below 1.
void expect_positive(const char* op, const char* name, const Shape& numbers, int dims);
/// Throws TypeError unless x and the kernel are floating and of one dtype, ValueError unless both have dims +
/// 2 axes.
void expect_images(const char* op, const Tensor& x, const Tensor& kernel, int dims);

/// Moves the channels of a tensor or of a shape to the end, and back. With `first` false, the argument is
/// returned unchanged.
Tensor channels_last(const Tensor& x, bool first);
Tensor channels_back(const Tensor& x, bool first);
Shape channels_last(const Shape& shape, bool first);
Shape channels_back(const Shape& shape, bool first);

/// Returns the convolution of an input of this shape (channels last, with None for unknown extents) with this
/// window. Throws ValueError for shapes and options that do not fit.
op_helpers::Convolution canonical(const ConvolutionArguments& arguments, const Shape& input,
                                  const Shape& window);
/// Returns the shape of the convolution's result.
Shape result_shape(const op_helpers::Convolution& c, const Shape& input, std::int64_t filters);

}  // namespace ktape::backend
