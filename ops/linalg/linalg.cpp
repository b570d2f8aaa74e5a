#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/hiding.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/internal/sparse_symbolic.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::backend {

template <class F>
void fields(MatmulOptions& options, F&& field) {
  field("transpose_a", options.transpose_a);
  field("transpose_b", options.transpose_b);
}

nn::Value value_of(const BatchAxes& axes) { return axes.given() ? nn::Value(axes.axes()) : nn::Value(); }
namespace {

using op_helpers::Hiding;

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

/// Returns whether infinity or NaN beside a hiding operand may have reached the product. Each number of the right
/// operand is part of the first row, and each of the left one of the first column.
bool may_spread(const Tensor& product, Hiding hiding) {
  const std::int64_t m = product.shape()[-2], n = product.shape()[-1];
  return dispatch_floating(product.dtype(), [&]<class T>() {
    const T* const p = product.pointer<T>();
    bool finite = true;
    for (std::int64_t first = 0; first < product.size(); first += m * n) {
      if (hiding.left) finite &= op_helpers::all_finite(p + first, n);
      if (hiding.right) finite &= op_helpers::all_finite(p + first, m, n);
    }
    return !finite;
  });
}

/// Returns the product of two matrices or of two stacks of matrices, (batch, rows, columns), transposed where
/// `tx` or `ty` says so. All products of this file are made of this function, whose gradients are products
/// again.
Tensor product(const Tensor& x, bool tx, const Tensor& y, bool ty, const char* op = "matmul",
               Hiding hiding = {}) {
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
  if ((hiding.left || hiding.right) && may_spread(out, hiding))
    out = op_helpers::without_hidden(out, x, y, hiding,
                                     [=](const Tensor& x, const Tensor& y) { return product(x, tx, y, ty); });
  if (recording(x, y))
    record("matmul", out, {x, y}, [x, y, tx, ty, hiding](const Tensor& g, Grads& grads) {
      const auto before = [&](const Tensor& t, bool transposed, bool g_transposed, bool hides) {
        return product(t, transposed, g, g_transposed, "matmul", {hides, true});
      };
      const auto behind = [&](bool g_transposed, const Tensor& t, bool transposed, bool hides) {
        return product(g, g_transposed, t, transposed, "matmul", {true, hides});
      };
      grads.to(0,
               [&] { return tx ? before(y, ty, true, hiding.right) : behind(false, y, !ty, hiding.right); });
      grads.to(1, [&] { return ty ? behind(true, x, tx, hiding.left) : before(x, !tx, false, hiding.left); });
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

namespace {

Tensor matmul_hiding(const Tensor& a, const Tensor& b, const MatmulOptions& options, Hiding hiding) {
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
  if (is_symbolic(a, b)) {
    const auto later = [hiding](const Tensor& a, const Tensor& b, const MatmulOptions& options) {
      return matmul_hiding(a, b, options, hiding);
    };
    return defer_described("matmul", {result, a.dtype()}, later, a, b, options);
  }
  const auto stacked = [&](const Tensor& x, const Shape& own) {
    Shape full = shape;
    const std::int64_t rows = x.shape()[x.ndim() - 2], columns = x.shape().back();
    full.push_back(rows), full.push_back(columns);
    return reshape(own == shape ? x : broadcast_to(x, full), {batch, rows, columns});
  };
  // If all batches share the right matrix, the left matrices are stacked to one matrix.
  const bool flat = !ta && bbatch.count() == 1 && abatch == shape;
  const Tensor out = flat ? product(reshape(a, Shape{batch * m, as.back()}), false,
                                    reshape(b, Shape{bs[br - 2], bs[br - 1]}), tb, "matmul", hiding)
                          : product(stacked(a, abatch), ta, stacked(b, bbatch), tb, "matmul", hiding);
  return reshape(out, result);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  return matmul_hiding(a, b, options, {});
}

}  // namespace ktape::backend

namespace ktape::op_helpers {

Tensor hiding_matmul(const Tensor& a, const Tensor& b, Hiding hiding, const backend::MatmulOptions& options) {
  return backend::matmul_hiding(a, b, options, hiding);
}

Tensor weighed_sum(const Tensor& weights, const Tensor& values) {
  return hiding_matmul(weights, values, {.left = true});
}

}  // namespace ktape::op_helpers

namespace ktape::nn {
namespace {

constexpr Tensor (*product)(const Tensor&, const Tensor&, const backend::MatmulOptions&) = backend::matmul;

const char* written_matmul(const std::vector<OperationArgument>&, Config& attributes) {
  if (attributes.get("transpose_a") == Value(true) || attributes.get("transpose_b") == Value(true))
    return nullptr;
  attributes = {};
  return "Matmul";
}

Tensor batch_dot(const OperationCall& call) {
  backend::BatchAxes axes;
  if (call.has("axes")) {
    const auto both = call.value("axes").as<std::vector<int>>("[batch_dot] axes");
    if (both.empty()) fail("[batch_dot] axes must be one or two numbers: received axes=[]");
    axes = backend::BatchAxes(both.at(0), both.back());
  }
  return backend::batch_dot(call.tensor("x"), call.tensor("y"), axes);
}

}  // namespace

Operations backend_product_operations() {
  static constexpr Operation rows[] = {
      {"matmul", "", "a, b; transpose_a, transpose_b", calls<product>, "", "", written_matmul},
      {"batch_dot", "", "x, y; axes=null", batch_dot},
  };
  return rows;
}

}  // namespace ktape::nn
