#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::ops {

namespace K = backend;
using op_helpers::counted, op_helpers::floating;

namespace {

/// Returns x in the dtype of its sum.
Tensor summed(const char* op, const Tensor& given) {
  const Tensor x = counted(op, given);
  return x.dtype().is_integer() && x.dtype().size() < 4 ? K::cast(x, DType::Int32) : x;
}

Tensor in_dtype(const Tensor& x, std::optional<DType> dtype) { return dtype ? K::as_dtype(x, *dtype) : x; }

/// Throws ValueError if a reduced axis has the extent 0.
void expect_elements(const char* op, const Tensor& x, const Axes& axis) {
  const unsigned axes = canonical_axes(op, axis, x.ndim());
  for (int d = 0; d < x.ndim(); ++d)
    if (axes >> d & 1 && x.shape()[d] == 0)
      fail("[", op, "] a group must have an element, or initial be given: received x=", x.shape(), ", axis ",
           d);
}

using Choice = Tensor (*)(const Tensor&, const Axes&, bool);

Tensor extreme(const char* op, const Tensor& x, const Axes& axis, bool keepdims,
               const std::optional<Scalar>& initial, Choice choice,
               Tensor (*combine)(const TensorOrNumber&, const TensorOrNumber&)) {
  expect_defined(op, "x", x);
  if (!initial) expect_elements(op, x, axis);
  if (x.dtype().is_bool())
    return K::cast(extreme(op, K::cast(x, DType::UInt8), axis, keepdims, initial, choice, combine),
                   DType::Bool);
  const Tensor found = choice(x, axis, keepdims);
  return initial ? combine(found, *initial) : found;
}

/// Returns the int32 index along an axis, or in the flattened x, that f(x, axis) finds.
template <class F>
Tensor index_of(const char* op, const Tensor& x, std::optional<int> axis, bool keepdims, F f) {
  expect_defined(op, "x", x);
  if (axis) {
    const Tensor index = K::cast(f(x, *axis), DType::Int32);
    return keepdims ? K::expand_dims(index, canonical_axis(op, *axis, x.ndim())) : index;
  }
  const Tensor index = K::cast(f(K::reshape(x, {-1}), 0), DType::Int32);
  return keepdims ? K::reshape(index, Shape(std::vector<std::int64_t>(static_cast<std::size_t>(x.ndim()), 1)))
                  : index;
}

template <class F>
Tensor running(const Tensor& x, std::optional<int> axis, F f) {
  return axis ? f(x, *axis) : f(K::reshape(x, {-1}), 0);
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axis, bool keepdims) {
  return K::sum(summed("sum", x), axis, keepdims);
}
Tensor prod(const Tensor& x, const Axes& axis, bool keepdims, std::optional<DType> dtype) {
  expect_defined("prod", "x", x);
  return K::prod(summed("prod", in_dtype(x, dtype)), axis, keepdims);
}

Tensor max(const Tensor& x, const Axes& axis, bool keepdims, std::optional<Scalar> initial) {
  const CalledOp called("max");
  return extreme("max", x, axis, keepdims, initial, K::max, K::maximum);
}
Tensor min(const Tensor& x, const Axes& axis, bool keepdims, std::optional<Scalar> initial) {
  const CalledOp called("min");
  return extreme("min", x, axis, keepdims, initial, K::min, K::minimum);
}
Tensor amax(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("amax");
  return max(x, axis, keepdims);
}
Tensor amin(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("amin");
  return min(x, axis, keepdims);
}
Tensor ptp(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("ptp");
  return max(x, axis, keepdims) - min(x, axis, keepdims);
}

Tensor mean(const Tensor& x, const Axes& axis, bool keepdims) {
  return K::mean(floating("mean", x), axis, keepdims);
}
Tensor var(const Tensor& x, const Axes& axis, bool keepdims) {
  return K::var(floating("var", x), axis, keepdims);
}
Tensor std(const Tensor& x, const Axes& axis, bool keepdims) {
  return K::std(floating("std", x), axis, keepdims);
}
Tensor logsumexp(const Tensor& given, const Axes& axis, bool keepdims) {
  const CalledOp called("logsumexp");
  const Tensor x = floating("logsumexp", given);
  // Differences to the largest element are exact where the result of large elements would be rounded.
  const Tensor most = K::stop_gradient(K::max(x, axis, true)), shift = K::where(K::is_finite(most), most, 0);
  const Tensor sum = K::logsumexp(x - shift, axis, true) + shift;
  return keepdims ? sum : K::sum(sum, axis);
}
Tensor any(const Tensor& x, const Axes& axis, bool keepdims) { return K::any(x, axis, keepdims); }
Tensor all(const Tensor& x, const Axes& axis, bool keepdims) { return K::all(x, axis, keepdims); }
Tensor count_nonzero(const Tensor& x, const Axes& axis) {
  const CalledOp called("count_nonzero");
  expect_defined("count_nonzero", "x", x);
  return K::sum(K::cast(K::as_dtype(x, DType::Bool), DType::Int32), axis);
}

Tensor argmax(const Tensor& x, std::optional<int> axis, bool keepdims) {
  return index_of("argmax", x, axis, keepdims, K::argmax);
}
Tensor argmin(const Tensor& x, std::optional<int> axis, bool keepdims) {
  return index_of("argmin", x, axis, keepdims, K::argmin);
}

Tensor cumsum(const Tensor& x, std::optional<int> axis, std::optional<DType> dtype) {
  expect_defined("cumsum", "x", x);
  return running(counted("cumsum", in_dtype(x, dtype)), axis, K::cumsum);
}
Tensor cumprod(const Tensor& x, std::optional<int> axis, std::optional<DType> dtype) {
  expect_defined("cumprod", "x", x);
  return running(counted("cumprod", in_dtype(x, dtype)), axis, K::cumprod);
}

namespace {

/// Returns x with `value` in the place of each NaN; integers have none.
Tensor without_nan(const char* op, const Tensor& x, double value) {
  expect_defined(op, "x", x);
  return x.dtype().is_floating() ? K::where(K::is_nan(x), value, x) : x;
}

/// Returns 1 for each element that is a number, in the floating dtype of x.
Tensor valid(const Tensor& x) { return K::cast(~K::is_nan(x), x.dtype()); }

/// Returns the result of a reduction, and NaN for the groups that hold no number.
Tensor nan_if_empty(const Tensor& result, const Tensor& x, const Axes& axis, bool keepdims) {
  return K::where(K::any(~K::is_nan(x), axis, keepdims), result, std::numeric_limits<double>::quiet_NaN());
}

Tensor nan_extreme(const char* op, const Tensor& x, const Axes& axis, bool keepdims, double fill,
                   Choice choice) {
  expect_defined(op, "x", x);
  if (!x.dtype().is_floating()) return extreme(op, x, axis, keepdims, {}, choice, K::maximum);
  return nan_if_empty(choice(without_nan(op, x, fill), axis, keepdims), x, axis, keepdims);
}

Tensor nan_index(const char* op, const Tensor& x, std::optional<int> axis, bool keepdims, double fill,
                 Tensor (*f)(const Tensor&, int)) {
  const Tensor index = index_of(op, without_nan(op, x, fill), axis, keepdims, f);
  if (!x.dtype().is_floating()) return index;
  const Axes axes = axis ? Axes(*axis) : Axes();
  return K::where(K::any(~K::is_nan(x), axes, keepdims), index, -1);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor nansum(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("nansum");
  return sum(without_nan("nansum", x, 0), axis, keepdims);
}
Tensor nanprod(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("nanprod");
  return prod(without_nan("nanprod", x, 1), axis, keepdims);
}
Tensor nanmean(const Tensor& given, const Axes& axis, bool keepdims) {
  const CalledOp called("nanmean");
  const Tensor x = floating("nanmean", given);
  return K::sum(without_nan("nanmean", x, 0), axis, keepdims) / K::sum(valid(x), axis, keepdims);
}
Tensor nanvar(const Tensor& given, const Axes& axis, bool keepdims) {
  const CalledOp called("nanvar");
  const Tensor x = floating("nanvar", given), difference = x - nanmean(x, axis, true);
  const Tensor squares = K::square(K::where(K::is_nan(x), 0, difference));
  return K::sum(squares, axis, keepdims) / K::sum(valid(x), axis, keepdims);
}
Tensor nanstd(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("nanstd");
  const Tensor variance = nanvar(x, axis, keepdims), smooth = variance > 0;
  return K::where(smooth, K::sqrt(K::where(smooth, variance, 1)), K::stop_gradient(variance));
}
Tensor nanmax(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("nanmax");
  return nan_extreme("nanmax", x, axis, keepdims, -infinity, K::max);
}
Tensor nanmin(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("nanmin");
  return nan_extreme("nanmin", x, axis, keepdims, infinity, K::min);
}
Tensor nanargmax(const Tensor& x, std::optional<int> axis, bool keepdims) {
  const CalledOp called("nanargmax");
  return nan_index("nanargmax", x, axis, keepdims, -infinity, K::argmax);
}
Tensor nanargmin(const Tensor& x, std::optional<int> axis, bool keepdims) {
  const CalledOp called("nanargmin");
  return nan_index("nanargmin", x, axis, keepdims, infinity, K::argmin);
}
Tensor nancumsum(const Tensor& x, std::optional<int> axis, std::optional<DType> dtype) {
  const CalledOp called("nancumsum");
  return cumsum(without_nan("nancumsum", x, 0), axis, dtype);
}
Tensor nancumprod(const Tensor& x, std::optional<int> axis, std::optional<DType> dtype) {
  const CalledOp called("nancumprod");
  return cumprod(without_nan("nancumprod", x, 1), axis, dtype);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations numpy_reduction_operations() {
  static constexpr const char* reduced = "x; axis=null, keepdims=false";
  static constexpr Operation rows[] = {
      {"Ptp", "numpy", reduced, calls<ops::ptp>},
      {"CountNonzero", "numpy", "x; axis=null", calls<ops::count_nonzero>},
      {"Nansum", "numpy", reduced, calls<ops::nansum>},
      {"Nanprod", "numpy", reduced, calls<ops::nanprod>},
      {"Nanmean", "numpy", reduced, calls<ops::nanmean>},
      {"Nanvar", "numpy", reduced, calls<ops::nanvar>},
      {"Nanstd", "numpy", reduced, calls<ops::nanstd>},
      {"Nanmax", "numpy", reduced, calls<ops::nanmax>},
      {"Nanmin", "numpy", reduced, calls<ops::nanmin>},
      {"Nanargmax", "numpy", reduced, calls<ops::nanargmax>},
      {"Nanargmin", "numpy", reduced, calls<ops::nanargmin>},
      {"Nancumsum", "numpy", "x; axis=null, dtype=null", calls<ops::nancumsum>},
      {"Nancumprod", "numpy", "x; axis=null, dtype=null", calls<ops::nancumprod>},
  };
  return rows;
}

}  // namespace ktape::nn
