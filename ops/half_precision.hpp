#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>

/// float16 and bfloat16 in ops whose kernels compute in float and double: the operands are converted, and the
/// result is rounded. Internal: sources only.
namespace ktape::op_helpers {

/// Returns the dtype in which kernels compute numbers of a dtype: float32 for half precision.
inline DType compute_dtype(DType dtype) { return dtype.is_half() ? DType(DType::Float32) : dtype; }

/// Returns x as float32 if x has half precision, else x itself. Not recorded; an undefined x stays undefined.
inline Tensor widened(const Tensor& x) {
  return x.defined() && x.dtype().is_half() ? converted(x, DType::Float32) : x;
}

/// Returns the result of a kernel, which has the compute dtype of `dtype`, in `dtype`. Not recorded.
inline Tensor narrowed(const Tensor& x, DType dtype) {
  return x.defined() && x.dtype() != dtype ? converted(x, dtype) : x;
}

}  // namespace ktape::op_helpers
