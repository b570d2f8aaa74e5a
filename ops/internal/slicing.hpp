#pragma once
#include <ktape/autograd/tensor.hpp>

#include <span>
#include <vector>

/// Slicing, padding, joining and repeating: copies between a tensor and a part of another tensor, for any
/// dtype, differentiable to any order. Arguments are not checked; `op` is the name on the tape.
namespace ktape::op_helpers {

/// The elements start + i * step, 0 <= i < size, along each axis; steps may be negative.
struct Window {
  Shape start, step, size;
};

/// Returns the elements of x in the window, as a tensor of the window's size.
Tensor take(const char* op, const Tensor& x, const Window& window);

/// Writes x, which has the size of the window, into the window of row-major memory with the given shape.
void write(void* memory, const Shape& shape, const Tensor& x, const Window& window);

/// Returns a tensor in which every element is `value`, which the dtype must hold.
Tensor filled(const char* op, const Shape& shape, Scalar value, DType dtype);

/// Returns a tensor of the shape with x in the window, whose size is x's shape, and `fill` elsewhere. The
/// inverse of `take`.
Tensor place(const char* op, const Tensor& x, const Shape& shape, const Window& window, Scalar fill = 0);

/// Joins the parts, each viewed as `outer` rows: row i of the result is row i of all parts, one after
/// another.
Tensor join(const char* op, std::span<const Tensor> parts, std::int64_t outer, const Shape& shape);

/// Splits x into parts of the given shapes: the inverse of `join`.
std::vector<Tensor> cut(const char* op, const Tensor& x, std::int64_t outer, std::span<const Shape> shapes);

/// Returns x, viewed as `outer` rows, with each row n times in succession.
Tensor repeat_rows(const char* op, const Tensor& x, std::int64_t outer, std::int64_t n, const Shape& shape);

}  // namespace ktape::op_helpers
