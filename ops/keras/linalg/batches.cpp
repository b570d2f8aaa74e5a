#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/linalg/batches.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <cstring>

namespace ktape::op_helpers {

Tensor matrices(const char* op, const Tensor& given, bool square, const char* name) {
  const Tensor x = floating(op, given, name);
  if (x.ndim() < 2) fail("[", op, "] ", name, " must have rank 2 or more: received ", name, '=', x.shape());
  if (square && !compatible(x.shape()[-1], x.shape()[-2]))
    fail("[", op, "] ", name, " must hold square matrices: received ", name, '=', x.shape());
  return x.dtype().is_half() ? backend::cast(x, DType::Float32) : x;
}

Tensor copied(const char* op, const Tensor& x) {
  expect_value(op, x);
  Tensor out = Tensor::empty(x.shape(), x.dtype(), op);
  std::memcpy(out.raw(), x.raw(), static_cast<std::size_t>(x.size()) * x.dtype().size());
  return out;
}

Tensor transposed(const Tensor& x) {
  Shape pattern;
  for (int d = 0; d < x.ndim(); ++d) pattern.push_back(d);
  std::swap(pattern[-1], pattern[-2]);
  return backend::permute_dimensions(x, pattern);
}

Shape batch_of(const Tensor& x) { return {x.shape().begin(), x.ndim() - 2}; }

Shape appended(Shape shape, std::initializer_list<std::int64_t> extents) {
  for (const std::int64_t extent : extents) shape.push_back(extent);
  return shape;
}

void fail_matrix(const char* op, const char* rule, std::int64_t index, const Shape& batch) {
  Shape position = batch;
  for (int d = batch.rank() - 1; d >= 0; --d) position[d] = index % batch[d], index /= batch[d];
  if (batch.rank() == 0) fail<LinAlgError>("[", op, "] ", rule, ": received the only matrix");
  fail<LinAlgError>("[", op, "] ", rule, ": received the matrix ", numbers(position), " of the batch ",
                    batch);
}

Tensor taken(const Tensor& x, const Tensor& g, const Tensor& unfit) {
  const Axes matrix{-2, -1};
  Tensor unusable = ~backend::all(backend::is_finite(x), matrix, true);
  if (unfit.defined()) unusable = unusable | unfit;
  const Tensor untaken = unusable & ~backend::any(backend::not_equal(g, 0), matrix, true);
  return backend::where(untaken, ops::eye(x.shape()[-2], x.shape()[-1], 0, x.dtype()), x);
}

Tensor has_zero_pivot(const Tensor& x) {
  const Tensor diagonal = ops::diagonal(x, 0, -2, -1);
  return backend::expand_dims(backend::any(backend::equal(diagonal, 0), -1, true));
}

}  // namespace ktape::op_helpers
