#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/described_call.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/internal/sparse_symbolic.hpp>
#include <ktape/ops/kernels/reduce/sum_terms.hpp>
#include <ktape/ops/kernels/simd/load_numbers.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::backend {
namespace {

bool broadcastable(const Shape& a, const Shape& b) {
  for (int i = -1; i >= -std::min(a.rank(), b.rank()); --i)
    if (a[i] != 1 && b[i] != 1 && !compatible(a[i], b[i])) return false;
  return true;
}

void check_operands(const char* op, const Tensor& x, const Tensor& y) {
  op_helpers::expect_same_dtype(op, x, y);
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x and y must be numbers: received dtype=bool");
}

template <class T>
void product_kernel(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const Tensor& x,
                    bool tx, const Tensor& y, bool ty, Tensor& out) {
  const T *a = x.pointer<T>(), *b = y.pointer<T>();
  T* c = out.pointer<T>();
  auto range = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      op_helpers::matmul(m, n, k, {a + i * m * k, tx ? m : k, tx}, {b + i * k * n, ty ? k : n, ty},
                         c + i * m * n);
  };
  // The library divides a single product among threads; several products are divided here.
  if (batch == 1) return range(0, 1);
  parallel_ranges(batch, team_size(batch * m * n * k, 1 << 20, Team::Fixed), range);
}

/// Returns whether all elements are finite. A sum that overflows counts as an element that is not.
bool all_finite(const Tensor& x) {
  return dispatch_floating(x.dtype(), [&]<class T>() {
    const T* from = x.pointer<T>();
    return std::isfinite(kernels::detail::sum_terms<kernels::computed_type<T>>(
        x.size(), [=](std::int64_t i, std::int64_t m) { return kernels::load_numbers(from + i, m); }));
  });
}

/// Returns x with 0 in the place of the rows (axis -2) or columns (axis -1) that are not finite and meet only zeros
/// along an axis of the gradient g: 0 times infinity would be NaN.
Tensor without_unmet(const Tensor& x, int axis, const Tensor& g, int g_axis) {
  const auto other = [](int axis) { return axis == -1 ? -2 : -1; };
  const auto turned = [&](const Tensor& t) {
    if (axis == g_axis) return t;
    return t.ndim() == 2 ? permute_dimensions(t, {1, 0}) : permute_dimensions(t, {0, 2, 1});
  };
  const Tensor met = turned(any(not_equal(g, 0), other(g_axis), true));
  return where(met | all(is_finite(x), other(axis), true), x, full({}, 0, x.dtype()));
}

/// Returns f(x), the product of x and the gradient g, which are summed along the axes `axis` and `g_axis`.
template <class F>
Tensor product_with_gradient(const Tensor& x, int axis, const Tensor& g, int g_axis, F f) {
  Tensor out = f(x);
  return all_finite(x.size() < out.size() ? x : out) ? out : f(without_unmet(x, axis, g, g_axis));
}

/// Returns the product of two matrices or of two stacks of matrices, (batch, rows, columns), transposed where
/// `tx` or `ty` says so. All products of this file are made of this function, whose gradients are products
/// again.
Tensor product(const Tensor& x, bool tx, const Tensor& y, bool ty, const char* op = "matmul") {
  const std::int64_t batch = x.ndim() == 3 ? x.shape()[0] : 1, m = x.shape()[tx ? -1 : -2],
                     k = x.shape()[tx ? -2 : -1], n = y.shape()[ty ? -2 : -1];
  if (x.dtype().is_integer() &&
      x.dtype() != DType::Int64)  // wrapped products have the low bits of wider products
    return cast(product(cast(x, DType::Int64), tx, cast(y, DType::Int64), ty, op), x.dtype());
  Tensor out = Tensor::empty(x.ndim() == 3 ? Shape{batch, m, n} : Shape{m, n}, x.dtype(), op);
  dispatch(x.dtype(), [&]<class T>() {
    if constexpr (!std::is_integral_v<T> || std::is_same_v<T, std::int64_t>)
      product_kernel<T>(batch, m, n, k, x, tx, y, ty, out);
  });
  if (recording(x, y))
    record("matmul", out, {x, y}, [x, y, tx, ty](const Tensor& g, Grads& grads) {
      grads.to(0, [&] {
        return product_with_gradient(y, ty ? -2 : -1, g, -1, [&](const Tensor& y) {
          return tx ? product(y, ty, g, true) : product(g, false, y, !ty);
        });
      });
      grads.to(1, [&] {
        return product_with_gradient(x, tx ? -1 : -2, g, -2, [&](const Tensor& x) {
          return ty ? product(g, true, x, tx) : product(x, !tx, g, false);
        });
      });
    });
  return out;
}

}  // namespace

Tensor dot(const Tensor& x, const Tensor& y) {
  expect_defined("dot", "x, y", x, y);
  if (const auto parts = sparse_parts(x)) return dot_later(*parts, x.shape(), y);
  check_operands("dot", x, y);
  const Shape& a = x.shape();
  const Shape& b = y.shape();
  if (y.ndim() < 2 || x.ndim() < 1 || (x.ndim() < 2 && y.ndim() == 2))
    fail("[dot] x and y must be matrices or of higher rank: received x=", a, ", y=", b);
  if (!compatible(a.back(), b[b.rank() - 2]))
    fail("[dot] the last axis of x must have the extent of the second to last of y: received x=", a,
         ", y=", b);
  expect_rank("dot", a.rank() + b.rank() - 2);
  Shape shape = a;
  shape.erase(a.rank() - 1);
  for (int i = 0; i < b.rank(); ++i)
    if (i != b.rank() - 2) shape.push_back(b[i]);
  if (is_symbolic(x, y))
    return defer(
        "dot", {shape, x.dtype()}, [](const Tensor& x, const Tensor& y) { return dot(x, y); }, x, y);
  if (a.rank() == 2 && b.rank() == 2) return product(x, false, y, false, "dot");
  Tensor right = y;
  if (b.rank() > 2) {  // the summed axis to the front
    Shape pattern{b.rank() - 2};
    for (int i = 0; i < b.rank(); ++i)
      if (i != b.rank() - 2) pattern.push_back(i);
    right = permute_dimensions(y, pattern);
  }
  right = reshape(right, Shape{a.back(), right.shape().count(1)});
  const Tensor left = reshape(x, Shape{a.count(0, a.rank() - 1), a.back()});
  return reshape(product(left, false, right, false, "dot"), shape);
}

namespace {
std::array<int, 2> canonical_batch_axes(const Tensor& x, const Tensor& y, const BatchAxes& given) {
  const Shape& a = x.shape();
  const Shape& b = y.shape();
  if (x.ndim() < 2 || y.ndim() < 2)
    fail("[batch_dot] x and y must have at least rank 2: received x=", a, ", y=", b);
  if (!compatible(a[0], b[0]))
    fail("[batch_dot] x and y must have one batch size: received x=", a, ", y=", b);
  std::array<int, 2> axes{x.ndim() - 1, y.ndim() == 2 ? 1 : y.ndim() - 2};
  if (given.given())
    axes = {canonical_axis("batch_dot", given.axes()[0], x.ndim()),
            canonical_axis("batch_dot", given.axes()[1], y.ndim())};
  if (axes[0] == 0 || axes[1] == 0)
    fail("[batch_dot] axis 0 is the batch and cannot be summed over: received axes=(", axes[0], ", ", axes[1],
         ")");
  if (!compatible(a[axes[0]], b[axes[1]]))
    fail("[batch_dot] the summed axes must have one extent: received x=", a, ", y=", b, ", axes=(", axes[0],
         ", ", axes[1], ")");
  return axes;
}

/// Returns x as (batch, others, summed) if the summed axis is the last axis; otherwise as (batch, summed,
/// others), and sets `first`.
Tensor as_matrices(const Tensor& x, int axis, bool& first) {
  const Shape& s = x.shape();
  first = axis == 1 && x.ndim() > 2;
  if (first) return reshape(x, {s[0], s[1], s.count(2)});
  Tensor moved = x;
  if (axis != x.ndim() - 1) {
    Shape pattern;
    for (int i = 0; i < x.ndim(); ++i)
      if (i != axis) pattern.push_back(i);
    pattern.push_back(axis);
    moved = permute_dimensions(x, pattern);
  }
  return reshape(moved, {s[0], moved.shape().count(1, x.ndim() - 1), s[axis]});
}
}  // namespace

Tensor batch_dot(const Tensor& x, const Tensor& y, const BatchAxes& given) {
  expect_defined("batch_dot", "x, y", x, y);
  check_operands("batch_dot", x, y);
  const auto [xaxis, yaxis] = canonical_batch_axes(x, y, given);
  expect_rank("batch_dot", x.ndim() + y.ndim() - 3);
  Shape shape{merged(x.shape()[0], y.shape()[0])};
  for (int i = 1; i < x.ndim(); ++i)
    if (i != xaxis) shape.push_back(x.shape()[i]);
  for (int i = 1; i < y.ndim(); ++i)
    if (i != yaxis) shape.push_back(y.shape()[i]);
  if (shape.rank() == 1) shape.push_back(1);
  if (is_symbolic(x, y)) return defer_described("batch_dot", {shape, x.dtype()}, batch_dot, x, y, given);
  bool x_first, y_first;
  const Tensor left = as_matrices(x, xaxis, x_first), right = as_matrices(y, yaxis, y_first);
  return reshape(product(left, x_first, right, !y_first, "batch_dot"), shape);
}

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  expect_defined("matmul", "a, b", a, b);
  check_operands("matmul", a, b);
  const bool ta = options.transpose_a, tb = options.transpose_b;
  if (a.ndim() < 2 || b.ndim() < 2)
    fail("[matmul] a and b must have at least rank 2: received a=", a.shape(), ", b=", b.shape());
  const Shape &as = a.shape(), &bs = b.shape();
  const int ar = as.rank(), br = bs.rank();
  if (!compatible(as[ar - (ta ? 2 : 1)], bs[br - (tb ? 1 : 2)]))
    fail("[matmul] inner dimensions must agree: received a=", as, ", b=", bs);
  const Shape abatch(as.begin(), ar - 2), bbatch(bs.begin(), br - 2);
  if (!broadcastable(abatch, bbatch))
    fail("[matmul] the axes before the last two must broadcast: received a=", as, ", b=", bs);
  Shape shape = broadcast_shapes("matmul", abatch, bbatch);
  const std::int64_t batch = shape.count(), m = as[ar - (ta ? 1 : 2)], n = bs[br - (tb ? 2 : 1)];
  Shape result = shape;
  result.push_back(m), result.push_back(n);
  if (is_symbolic(a, b)) return defer_described("matmul", {result, a.dtype()}, matmul, a, b, options);
  const auto stacked = [&](const Tensor& x, const Shape& own) {
    Shape full = shape;
    const std::int64_t rows = x.shape()[x.ndim() - 2], columns = x.shape().back();
    full.push_back(rows), full.push_back(columns);
    return reshape(own == shape ? x : broadcast_to(x, full), {batch, rows, columns});
  };
  // If all batches share the right matrix, the left matrices are stacked to one matrix.
  const bool flat = !ta && bbatch.count() == 1 && abatch == shape;
  const Tensor out = flat ? product(reshape(a, Shape{batch * m, as.back()}), false,
                                    reshape(b, Shape{bs[br - 2], bs[br - 1]}), tb)
                          : product(stacked(a, abatch), ta, stacked(b, bbatch), tb);
  return reshape(out, result);
}

}  // namespace ktape::backend
