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

/// Returns whether the format is "channels_first". Throws ValueError for an unknown one.
bool channels_first(const char* op, const std::optional<std::string>& data_format);
/// Throws ValueError unless there is one number for each spatial axis, none below 1.
void expect_positive(const char* op, const char* name, const Shape& numbers, int dims);
/// Throws TypeError unless both are floating and of one dtype, ValueError unless x and the kernel have dims +
/// 2 axes.
void expect_images(const char* op, const Tensor& x, const Tensor& kernel, int dims);

/// The tensor, or a shape, with the channels moved to the end, and back. Done for "channels_first" only.
Tensor channels_last(const Tensor& x, bool first);
Tensor channels_back(const Tensor& x, bool first);
Shape channels_last(const Shape& shape, bool first);
Shape channels_back(const Shape& shape, bool first);

/// The convolution of an input of the shape (channels last) with a window of the extents, in which None
/// stands for what is unknown. Throws ValueError for anything that does not fit.
op_helpers::Convolution canonical(const ConvolutionArguments& arguments, const Shape& input,
                                  const Shape& window);
/// Returns the shape of its result.
Shape result_shape(const op_helpers::Convolution& c, const Shape& input, std::int64_t filters);

}  // namespace ktape::backend
