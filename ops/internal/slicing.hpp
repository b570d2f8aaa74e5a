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

/// The elements of x in the window, as a tensor of its size.
Tensor take(const char* op, const Tensor& x, const Window& window);

/// A tensor of the shape that holds `value` throughout, made by the op. The dtype holds the value.
Tensor filled(const char* op, const Shape& shape, Scalar value, DType dtype);

/// A tensor of the shape that holds x in the window, whose size is x's shape, and `fill` elsewhere. The
/// inverse of `take`.
Tensor place(const char* op, const Tensor& x, const Shape& shape, const Window& window, Scalar fill = 0);

/// The parts, each seen as `outer` rows, side by side in the rows of the result.
Tensor join(const char* op, std::span<const Tensor> parts, std::int64_t outer, const Shape& shape);

/// The inverse of `join`: parts of the given shapes.
std::vector<Tensor> cut(const char* op, const Tensor& x, std::int64_t outer, std::span<const Shape> shapes);

/// x seen as `outer` rows, each n times in succession.
Tensor repeat_rows(const char* op, const Tensor& x, std::int64_t outer, std::int64_t n, const Shape& shape);

}  // namespace ktape::op_helpers
