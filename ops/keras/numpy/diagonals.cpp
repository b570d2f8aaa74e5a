#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/deferred.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>

/// The functions of shape.hpp that read and write diagonals.
namespace ktape::ops {

namespace K = backend;
using op_helpers::int64_tensor, op_helpers::pick_rows;

namespace {

/// Returns the positions of the diagonal `offset` in a matrix, row-major.
std::vector<std::int64_t> positions(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = std::max<std::int64_t>(0, -offset); i < rows && i + offset < columns; ++i)
    out.push_back(i * columns + i + offset);
  return out;
}

/// Returns the diagonals of the last two axes.
Tensor last_diagonals(const Tensor& x, int offset) {
  const std::int64_t rows = x.shape()[-2], columns = x.shape()[-1];
  const auto at = positions(rows, columns, offset);
  Shape shape(x.shape().begin(), x.ndim() - 2);
  const std::int64_t matrices = shape.count();
  shape.push_back(static_cast<std::int64_t>(at.size()));
  return pick_rows("diagonal", x, int64_tensor(at), {matrices, rows * columns, 1}, shape);
}

}  // namespace

Tensor diagonal(const Tensor& x, int offset, int axis1, int axis2) {
  const CalledOp called("diagonal");
  expect_defined("diagonal", "x", x);
  if (x.ndim() < 2) fail("[diagonal] x must have rank 2 or more: received x=", x.shape());
  const int a = canonical_axis("diagonal", axis1, x.ndim()), b = canonical_axis("diagonal", axis2, x.ndim());
  if (a == b) fail("[diagonal] axis1 and axis2 must differ: received axis1=", axis1, ", axis2=", axis2);
  const auto compute = [=](const std::vector<Tensor>& v) {
    return std::vector{last_diagonals(moveaxis(v[0], {a, b}, {-2, -1}), offset)};
  };
  return is_symbolic(x) ? op_helpers::defer_by_trace("diagonal", {x}, compute, offset, axis1, axis2)[0]
                        : compute({x})[0];
}

Tensor trace(const Tensor& x, int offset, int axis1, int axis2) {
  const CalledOp called("trace");
  return sum(diagonal(x, offset, axis1, axis2), -1);
}

Tensor diag(const Tensor& x, int k) {
  const CalledOp called("diag");
  expect_defined("diag", "x", x);
  if (x.ndim() == 2) return diagonal(x, k);
  if (x.ndim() != 1) fail("[diag] x must be a vector or a matrix: received x=", x.shape());
  const std::int64_t given = x.shape()[0], n = given == None ? std::int64_t{None} : given + std::abs(k);
  if (is_symbolic(x)) return defer_described("diag", {{n, n}, x.dtype()}, diag, x, k);
  const auto at = positions(n, n, k);
  if (x.dtype().is_bool()) return K::cast(diag(K::cast(x, DType::UInt8), k), DType::Bool);
  return op_helpers::add_rows("diag", x, int64_tensor(at), {1, n * n, 1}, {n, n});
}
Tensor diagflat(const Tensor& x, int k) {
  const CalledOp called("diagflat");
  expect_defined("diagflat", "x", x);
  return diag(K::reshape(x, {-1}), k);
}

namespace {

Tensor triangle(const char* op, const Tensor& x, int k, bool lower) {
  expect_defined(op, "x", x);
  if (x.ndim() < 2) fail("[", op, "] x must have rank 2 or more: received x=", x.shape());
  const std::int64_t rows = x.shape()[-2], columns = x.shape()[-1];
  if (rows == None || columns == None)
    return defer_described(op, {x.shape(), x.dtype()}, triangle, op, x, k, lower);
  const Tensor below = tri(rows, columns, lower ? k : k - 1, DType::Bool);
  return K::where(lower ? below : ~below, x, K::cast(K::full({}, 0, DType::UInt8), x.dtype()));
}

}  // namespace

Tensor tril(const Tensor& x, int k) {
  const CalledOp called("tril");
  return triangle("tril", x, k, true);
}
Tensor triu(const Tensor& x, int k) {
  const CalledOp called("triu");
  return triangle("triu", x, k, false);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations diagonal_operations() {
  static constexpr Operation rows[] = {
      {"Diag", "numpy", "x; k=0", calls<ops::diag>},
      {"Diagflat", "numpy", "x; k=0", calls<ops::diagflat>},
      {"Tril", "numpy", "x; k=0", calls<ops::tril>, "", "x, k, -"},
      {"Triu", "numpy", "x; k=0", calls<ops::triu>, "", "x, k, -"},
      {"Diagonal", "numpy", "x; offset=0, axis1=0, axis2=1", calls<ops::diagonal>},
      {"Trace", "numpy", "x; offset=0, axis1=0, axis2=1", calls<ops::trace>},
  };
  return rows;
}

}  // namespace ktape::nn
