#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/internal/multi_axis_reduction.hpp>
#include <ktape/ops/kernels/reduce/argmax.hpp>
#include <ktape/ops/kernels/reduce/scan.hpp>
#include <ktape/ops/kernels/sequence/linear_recurrence.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <cstring>

namespace ktape::backend {
namespace {

int scan_axis(const char* op, const Tensor& x, int axis) {
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x must be a number: received dtype=bool");
  return canonical_axis(op, axis, x.ndim());
}

Tensor running_sum(const Tensor& x, int axis, bool backwards) {
  const kernels::AxisShape line = op_helpers::axis_shape_of(x.shape(), axis);
  const Tensor values = op_helpers::widened(x), sums = Tensor::empty(x.shape(), values.dtype());
  dispatch_native(values.dtype(), [&]<class T>() {
    kernels::cumsum(values.pointer<T>(), sums.pointer<T>(), line, {.reverse = backwards});
  });
  Tensor out = op_helpers::narrowed(sums, x.dtype());
  if (recording(x))
    record("cumsum", out, {x}, [axis, backwards](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return running_sum(g, axis, !backwards); });
    });
  return out;
}

/// Returns x shifted along the axis by one element towards the end, or with `backwards` towards the
/// beginning; the free element is `filling`.
Tensor shifted(const Tensor& x, int axis, bool backwards, double filling) {
  const kernels::AxisShape line = op_helpers::axis_shape_of(x.shape(), axis);
  Tensor out = full(x.shape(), filling, x.dtype());
  const std::int64_t element = static_cast<std::int64_t>(x.dtype().size()), slab = line.inner * element;
  const char* from = static_cast<const char*>(x.raw()) + (backwards ? slab : 0);
  char* to = static_cast<char*>(out.raw()) + (backwards ? 0 : slab);
  if (line.axis > 1)
    for (std::int64_t o = 0; o < line.outer; ++o)
      std::memcpy(to + o * line.axis * slab, from + o * line.axis * slab,
                  static_cast<std::size_t>((line.axis - 1) * slab));
  if (recording(x))
    record("shift", out, {x}, [axis, backwards](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return shifted(g, axis, !backwards, 0); });
    });
  return out;
}

/// Returns y[k] = b[k] + a[k] * y[k - 1] along the axis, or the running product of a for an undefined b. The
/// gradient is a recurrence in the other direction, db[k] = g[k] + a[k + 1] * db[k + 1], and da[k] = db[k] *
/// y[k - 1]: without a division, and so exact for zeros. Only gradients have a b, and their y is a gradient, too.
Tensor recurrence(const char* op, const Tensor& a, const Tensor& b, int axis, bool backwards) {
  const kernels::AxisShape line = op_helpers::axis_shape_of(a.shape(), axis);
  const Tensor factors = op_helpers::widened(a), terms = op_helpers::widened(b),
               results = Tensor::empty(a.shape(), factors.dtype());
  const bool sums = b.defined();
  dispatch_native(factors.dtype(), [&]<class T>() {
    T* const to = results.pointer<T>();
    if (!sums) return kernels::cumprod(factors.pointer<T>(), to, line, {.reverse = backwards});
    kernels::linear_recurrence(factors.pointer<T>(), terms.pointer<T>(), to, line, backwards);
  });
  Tensor out = op_helpers::narrowed(results, a.dtype());
  if (!(sums ? recording(a, b) : recording(a))) return out;
  record(op, out, sums ? Inputs{a, b} : Inputs{a}, [=](const Tensor& g, const Tensor& y, Grads& grads) {
    const Tensor db = recurrence("recurrence", shifted(a, axis, !backwards, 0), g, axis, !backwards);
    // A product that has overflowed does not matter beside a factor 0.
    grads.to(0, [&] { return op_helpers::chained_gradients(db, shifted(y, axis, backwards, sums ? 0 : 1)); });
    if (sums) grads.to(1, [&] { return db; });
  });
  return out;
}

template <bool Largest>
Tensor index_of(const char* op, const Tensor& x, int axis) {
  expect_defined(op, "x", x);
  const int at = canonical_axis(op, axis, x.ndim());
  if (x.shape()[at] == 0)
    fail("[", op, "] the axis must not be empty: received x=", x.shape(), ", axis=", axis);
  const Shape shape = op_helpers::ReducedAxes(x.shape(), 1u << at, false).shape;
  if (is_symbolic(x)) return defer_described(op, {shape, DType::Int64}, index_of<Largest>, op, x, axis);
  Tensor out = Tensor::empty(shape, DType::Int64);
  const kernels::AxisShape line = op_helpers::axis_shape_of(x.shape(), at);
  const Tensor values = op_helpers::widened(x);
  dispatch_native(values.dtype(), [&]<class T>() {
    const auto kernel = Largest ? kernels::argmax<T> : kernels::argmin<T>;
    kernel(values.pointer<T>(), out.pointer<std::int64_t>(), line);
  });
  return out;
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  expect_defined("cumsum", "x", x);
  const int at = scan_axis("cumsum", x, axis);
  if (is_symbolic(x)) return defer_described("cumsum", {x.shape(), x.dtype()}, cumsum, x, axis);
  return running_sum(x, at, false);
}

Tensor cumprod(const Tensor& x, int axis) {
  expect_defined("cumprod", "x", x);
  const int at = scan_axis("cumprod", x, axis);
  if (is_symbolic(x)) return defer_described("cumprod", {x.shape(), x.dtype()}, cumprod, x, axis);
  return recurrence("cumprod", x, Tensor(), at, false);
}

Tensor argmax(const Tensor& x, int axis) { return index_of<true>("argmax", x, axis); }
Tensor argmin(const Tensor& x, int axis) { return index_of<false>("argmin", x, axis); }

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

template <Tensor (*f)(const Tensor&, int)>
Tensor running(const OperationCall& call) {
  const Tensor x = call.has("dtype") ? backend::cast(call.tensor("x"), *call.dtype()) : call.tensor("x");
  return call.has("axis") ? f(x, call.axis()) : f(backend::flatten(x), 0);
}

}  // namespace

Operations scan_operations() {
  static constexpr Operation rows[] = {
      {"Cumsum", "numpy", "x; axis=null, dtype=null", running<backend::cumsum>, "", "x, axis"},
      {"Cumprod", "numpy", "x; axis=null, dtype=null", running<backend::cumprod>, "", "x, axis"},
  };
  return rows;
}

}  // namespace ktape::nn
