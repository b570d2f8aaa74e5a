#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/hiding.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/sparse_symbolic.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/sparse.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::backend {
namespace {

/// The coordinates of the stored elements of a sparse matrix, rows in ascending order.
struct Places {
  Tensor rows, columns;
  std::int64_t height, width;

  const std::int64_t* row() const { return rows.pointer<std::int64_t>(); }
  const std::int64_t* column() const { return columns.pointer<std::int64_t>(); }
  std::int64_t size() const { return rows.size(); }
};

/// Returns the coordinates of the transposed matrix, whose element i is element order[i] of the given matrix.
Places transposed(const Places& at, Tensor& order) {
  order = Tensor::empty(at.rows.shape(), DType::Int64);
  // The position for the next element of each column.
  std::vector<std::int64_t> next(static_cast<std::size_t>(at.width) + 1);
  for (std::int64_t i = 0; i < at.size(); ++i) ++next[static_cast<std::size_t>(at.column()[i]) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::int64_t i = 0; i < at.size(); ++i)
    order.pointer<std::int64_t>()[next[static_cast<std::size_t>(at.column()[i])]++] = i;
  return {gather(at.columns, order), gather(at.rows, order), at.width, at.height};
}

template <class T>
void product_kernel(const Places& at, const T* values, const T* y, T* out, std::int64_t n) {
  const std::int64_t *rows = at.row(), *columns = at.column();
  const std::int64_t work = n * (1 + at.size() / std::max<std::int64_t>(1, at.height));
  kernels::parallel_rows(at.height, work, [=, count = at.size()](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin * n, out + end * n, T(0));
    for (std::int64_t i = std::lower_bound(rows, rows + count, begin) - rows; i < count && rows[i] < end;
         ++i) {
      const T value = values[i], *from = y + columns[i] * n;
      T* to = out + rows[i] * n;
      for (std::int64_t j = 0; j < n; ++j) to[j] = static_cast<T>(to[j] + value * from[j]);
    }
  });
}

template <class T>
void sampled_kernel(const Places& at, const T* x, const T* y, T* out, std::int64_t n) {
  const std::int64_t *rows = at.row(), *columns = at.column();
  kernels::parallel_rows(at.size(), n, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T *a = x + rows[i] * n, *b = y + columns[i] * n;
      T total = 0;
#pragma omp simd reduction(+ : total)
      for (std::int64_t j = 0; j < n; ++j) total += a[j] * b[j];
      out[i] = total;
    }
  });
}

/// Returns the elements of g y^T at the coordinates, for a gradient g.
Tensor sampled(const Places& at, const Tensor& g, const Tensor& y, bool y_hides) {
  if (!recording()) {
    Tensor out = Tensor::empty(at.rows.shape(), g.dtype());
    dispatch_native_floating(g.dtype(), [&]<class T>() {
      sampled_kernel(at, g.pointer<T>(), y.pointer<T>(), out.pointer<T>(), g.shape()[1]);
    });
    if (op_helpers::all_finite(out, out.size())) return out;
  }
  const Tensor slopes = gather(g, at.rows), others = gather(y, at.columns);
  return sum(y_hides ? op_helpers::chained_gradients(slopes, others) : op_helpers::chained(slopes, others),
             1);
}

/// Returns the product of the sparse matrix with these values and y.
Tensor product(const Places& at, const Tensor& values, const Tensor& y, op_helpers::Hiding hiding = {}) {
  const DType dtype = y.dtype();
  const DType wide = dtype.is_integer() ? DType(DType::Int64) : op_helpers::compute_dtype(dtype);
  if (wide != dtype) return cast(product(at, cast(values, wide), cast(y, wide), hiding), dtype);
  const std::int64_t n = y.shape()[1];
  Tensor out = Tensor::empty({at.height, n}, dtype);
  if (dtype == DType::Int64)  // unsigned arithmetic wraps around
    product_kernel(at, values.pointer<std::uint64_t>(), y.pointer<std::uint64_t>(),
                   out.pointer<std::uint64_t>(), n);
  else if (dtype == DType::Float32)
    product_kernel(at, values.pointer<float>(), y.pointer<float>(), out.pointer<float>(), n);
  else product_kernel(at, values.pointer<double>(), y.pointer<double>(), out.pointer<double>(), n);
  const auto spreads = [](const Tensor& t) { return !op_helpers::all_finite(t, t.size()); };
  if ((hiding.left && spreads(y)) || (hiding.right && spreads(values)))
    out = op_helpers::without_hidden(out, values, y, hiding, [&](const Tensor& values, const Tensor& y) {
      return product(at, values, y);
    });
  if (recording(values, y))
    record("sparse_dot", out, {values, y}, [at, values, y, hiding](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return sampled(at, g, y, hiding.right); });
      grads.to(1, [&] {
        Tensor order;
        const Places turned = transposed(at, order);
        return product(turned, gather(values, order), g, {hiding.left, true});
      });
    });
  return out;
}

}  // namespace

Tensor dot(const SparseTensor& x, const Tensor& y) {
  expect_defined("dot", "x", x.values()), expect_defined("dot", "y", y);
  if (x.dtype() != y.dtype())
    fail<TypeError>("[dot] x and y must have one dtype: received x=", x.dtype(), ", y=", y.dtype());
  if (x.dtype().is_bool()) fail<TypeError>("[dot] x and y must be numbers: received dtype=bool");
  if (x.ndim() != 2 || y.ndim() != 2)
    fail("[dot] a sparse x and y must have rank 2: received x=", x.shape(), ", y=", y.shape());
  if (is_symbolic(y)) return dot_later({x.indices(), x.values(), as_tensor(x.shape())}, x.shape(), y);
  if (x.shape()[1] != y.shape()[0])
    fail("[dot] the inner extents must agree: received x=", x.shape(), ", y=", y.shape());
  return product({x.indices()[{All, 0}], x.indices()[{All, 1}], x.shape()[0], x.shape()[1]}, x.values(), y);
}

}  // namespace ktape::backend
