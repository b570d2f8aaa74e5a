#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/keras/deferred.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/numpy/statistics.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>

namespace ktape::ops {

namespace K = backend;
using op_helpers::floating;

namespace {

/// The groups of a reduction as the last axis of a tensor, and the shape of the result.
struct Groups {
  Tensor rows;
  Shape shape;
};

Groups groups_of(const char* op, const Tensor& x, const Axes& axis, bool keepdims) {
  const unsigned reduced = canonical_axes(op, axis, x.ndim());
  Shape pattern, last, shape, rows;
  std::int64_t n = 1;
  for (int d = 0; d < x.ndim(); ++d) {
    const std::int64_t extent = x.shape()[d];
    if (reduced >> d & 1) {
      last.push_back(d), n *= extent;
      if (keepdims) shape.push_back(1);
    } else pattern.push_back(d), shape.push_back(extent), rows.push_back(extent);
  }
  if (n == 0) fail("[", op, "] a group must have an element: received x=", x.shape());
  for (const std::int64_t d : last) pattern.push_back(d);
  rows.push_back(n);
  return {K::reshape(K::permute_dimensions(x, pattern), rows), shape};
}

/// Where a quantile lies: the weight of the upper of two neighbours, by the method.
Tensor weight_of(const Tensor& fraction, const Tensor& lower, const std::string& method) {
  if (method == "linear") return fraction;
  if (method == "lower") return K::zeros_like(fraction);
  if (method == "higher") return K::cast(fraction > 0, fraction.dtype());
  if (method == "midpoint") return K::cast(fraction > 0, fraction.dtype()) * 0.5;
  const Tensor odd =
      K::cast(lower - 2 * floor(lower * 0.5), fraction.dtype());  // nearest: a half goes to the even position
  return K::cast((fraction + odd * 1e-9) > 0.5, fraction.dtype());
}

void expect_method(const char* op, const std::string& method) {
  if (method != "linear" && method != "lower" && method != "higher" && method != "midpoint" &&
      method != "nearest")
    fail(
        "[", op,
        "] method must be \"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\": received method=\"",
        method, '"');
}

/// Returns the quantile q of rows that are sorted with NaN last, of which the first `counts`, (..., 1), are numbers.
Tensor sorted_quantile(const Tensor& sorted, const Tensor& counts, double q, const std::string& method) {
  const Tensor last = K::maximum(counts - 1, 0), position = last * q;
  const Tensor lower = floor(position), upper = K::minimum(lower + 1, last);
  const Tensor weight = K::cast(weight_of(position - lower, lower, method), sorted.dtype());
  const Tensor a = take_along_axis(sorted, K::cast(lower, DType::Int64), -1);
  const Tensor b = take_along_axis(sorted, K::cast(upper, DType::Int64), -1);
  // Where one neighbour has the whole weight, the other is not read: infinity times 0 would be NaN.
  return K::squeeze(K::where(weight == 0, a, K::where(weight == 1, b, a + (b - a) * weight)), -1);
}

Tensor quantiles(const char* op, const Tensor& given, const Tensor& q, double scale, const Axes& axis,
                 const QuantileOptions& options, bool skip_nan) {
  const Tensor x = floating(op, given);
  const Groups groups = groups_of(op, x, axis, options.keepdims);
  const Tensor sorted = K::sort(groups.rows), numbers = ~K::is_nan(sorted);
  const std::int64_t n = sorted.shape().back();
  const Tensor counts =
      skip_nan ? K::cast(K::sum(K::cast(numbers, DType::Int32), -1, true), DType::Float64)
               : K::full(K::sum(K::cast(numbers, DType::Int32), -1, true).shape(), n, DType::Float64);
  std::vector<Tensor> results;
  for (std::int64_t i = 0; i < q.size(); ++i) {
    const double at = q.pointer<double>()[i] / scale;
    if (!(at >= 0 && at <= 1))
      fail("[", op, "] q must be in [0, ", scale, "]: received q=", q.pointer<double>()[i]);
    Tensor found = sorted_quantile(sorted, counts, at, options.method);
    if (!skip_nan) found = K::where(K::all(numbers, -1), found, std::numeric_limits<double>::quiet_NaN());
    results.push_back(K::reshape(found, groups.shape));
  }
  if (q.ndim() == 0) return results[0];
  Shape shape = groups.shape;
  shape.insert(0, q.size());
  return results.empty() ? K::zeros(shape, {.dtype = x.dtype()}) : K::stack(results, 0);
}

Tensor quantiles(const char* op, const Tensor& x, const ArrayLike& q, double scale, const Axes& axis,
                 const QuantileOptions& options, bool skip_nan) {
  expect_defined(op, "x", x);
  q.expect_defined(op, "q");
  expect_method(op, options.method);
  if (q.shape().rank() > 1) fail("[", op, "] q must be a number or a vector: received q=", q.shape());
  canonical_axes(op, axis, x.ndim());
  const Tensor numbers = q.given().defined() ? q.given() : q.tensor(DType::Float64, DType::Float64, op);
  const auto compute = [=](const std::vector<Tensor>& values) {
    return std::vector{
        quantiles(op, values[0], converted(values[1], DType::Float64), scale, axis, options, skip_nan)};
  };
  if (is_symbolic(x, numbers))
    return op_helpers::defer_by_trace(op, {x, numbers}, compute, axis, options.method, options.keepdims)[0];
  return compute({x, numbers})[0];
}

}  // namespace

Tensor quantile(const Tensor& x, const ArrayLike& q, const Axes& axis, const QuantileOptions& options) {
  const CalledOp called("quantile");
  return quantiles("quantile", x, q, 1, axis, options, false);
}
Tensor percentile(const Tensor& x, const ArrayLike& q, const Axes& axis, const QuantileOptions& options) {
  const CalledOp called("percentile");
  return quantiles("percentile", x, q, 100, axis, options, false);
}
Tensor nanquantile(const Tensor& x, const ArrayLike& q, const Axes& axis, const QuantileOptions& options) {
  const CalledOp called("nanquantile");
  return quantiles("nanquantile", x, q, 1, axis, options, true);
}
Tensor nanpercentile(const Tensor& x, const ArrayLike& q, const Axes& axis, const QuantileOptions& options) {
  const CalledOp called("nanpercentile");
  return quantiles("nanpercentile", x, q, 100, axis, options, true);
}
Tensor median(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("median");
  return quantiles("median", x, 0.5, 1, axis, {.method = "midpoint", .keepdims = keepdims}, false);
}
Tensor nanmedian(const Tensor& x, const Axes& axis, bool keepdims) {
  const CalledOp called("nanmedian");
  return quantiles("nanmedian", x, 0.5, 1, axis, {.method = "midpoint", .keepdims = keepdims}, true);
}

Tensor average(const Tensor& given, const Axes& axis, const Tensor& given_weights) {
  const CalledOp called("average");
  if (!given_weights.defined()) return K::mean(floating("average", given), axis);
  expect_defined("average", "x", given);
  auto [x, weights] = op_helpers::promoted_floating("average", given, given_weights);
  if (!axis.all() && axis.list().size() == 1 && weights.ndim() == 1 && x.ndim() != 1) {
    const int at = canonical_axis("average", axis.list()[0], x.ndim());
    Shape shape = Shape(std::vector<std::int64_t>(static_cast<std::size_t>(x.ndim()), 1));
    shape[at] = weights.shape()[0];
    if (!compatible(weights.shape()[0], x.shape()[at]))
      fail("[average] weights must have one number for each position of axis ", at, " of x=", x.shape(),
           ": received weights=", weights.shape());
    weights = K::reshape(weights, shape);
  } else if (!compatible(weights.shape(), x.shape())) {
    fail("[average] weights must have the shape of x, ", x.shape(), ": received weights=", weights.shape());
  }
  // Weights of one axis count once for each element of the other axes, in both sums.
  return K::sum(x * weights, axis) / K::sum(weights, axis);
}

Tensor sort(const Tensor& x, std::optional<int> axis) {
  const CalledOp called("sort");
  expect_defined("sort", "x", x);
  return axis ? K::sort(x, *axis) : K::sort(K::reshape(x, {-1}));
}
Tensor argsort(const Tensor& x, std::optional<int> axis) {
  const CalledOp called("argsort");
  expect_defined("argsort", "x", x);
  return axis && x.ndim() > 0 ? K::argsort(x, *axis) : K::argsort(K::reshape(x, {-1}), axis.value_or(0));
}
Tensor argpartition(const Tensor& x, std::int64_t kth, std::optional<int> axis) {
  const CalledOp called("argpartition");
  expect_defined("argpartition", "x", x);
  const std::int64_t n = axis ? x.shape()[canonical_axis("argpartition", *axis, x.ndim())] : x.size();
  if (n >= 0 && (kth < -n || kth >= n))
    fail("[argpartition] kth must be in [", -n, ", ", n, "): received kth=", kth);
  return argsort(x, axis);
}

Tensor corrcoef(const Tensor& given) {
  const CalledOp called("corrcoef");
  const Tensor x = floating("corrcoef", given);
  if (x.ndim() != 1 && x.ndim() != 2)
    fail("[corrcoef] x must be a vector or a matrix: received x=", x.shape());
  const Tensor rows = x.ndim() == 1 ? K::expand_dims(x, 0) : x;
  const Tensor centered = rows - K::mean(rows, -1, true);
  const Tensor length = K::sqrt(K::sum(K::square(centered), -1, true));
  const Tensor unit = centered / length, c = K::dot(unit, K::transpose(unit));
  return x.ndim() == 1 ? K::reshape(c, Shape{}) : c;
}

namespace {

/// Returns sum over j of x[i + j] * y[j] for all i for which the sums are complete; y is not longer than x.
Tensor sliding_products(const Tensor& x, const Tensor& y) {
  const std::int64_t k = y.shape()[0], n = x.shape()[0] - k + 1;
  std::vector<Tensor> shifted;
  for (std::int64_t j = 0; j < k; ++j) shifted.push_back(K::slice(x, {j}, {n}));
  return K::reshape(K::dot(K::expand_dims(y, 0), K::stack(shifted, 0)), {n});
}

}  // namespace

Tensor correlate(const Tensor& x1, const Tensor& x2, const std::string& mode) {
  const CalledOp called("correlate");
  const auto [common_x, common_y] = op_helpers::promoted("correlate", x1, x2);
  const DType sums = common_x.dtype() == DType::Int64 ? DType::Float64
                     : common_x.dtype().is_floating() ? common_x.dtype()
                                                      : DType(DType::Float32);
  const Tensor x = K::as_dtype(common_x, sums), y = K::as_dtype(common_y, sums);
  if (x.ndim() != 1 || y.ndim() != 1 || x.shape()[0] == 0 || y.shape()[0] == 0)
    fail("[correlate] x1 and x2 must be vectors with elements: received x1=", x.shape(), ", x2=", y.shape());
  if (mode != "valid" && mode != "same" && mode != "full")
    fail("[correlate] mode must be \"valid\", \"same\" or \"full\": received mode=\"", mode, '"');
  if (is_symbolic(x, y))
    return op_helpers::defer_by_trace(
        "correlate", {x, y},
        [mode](const std::vector<Tensor>& v) { return std::vector{correlate(v[0], v[1], mode)}; }, mode)[0];
  const std::int64_t n = x.shape()[0], k = y.shape()[0];
  if (k > n) return K::reverse(correlate(y, x, mode), 0);
  if (mode == "valid") return sliding_products(x, y);
  const Tensor full = sliding_products(K::pad(x, {{k - 1, k - 1}}), y);
  return mode == "full" ? full : K::slice(full, {k - 1 - k / 2}, {n});
}

namespace {

/// Returns x without the first, or without the last, position of an axis.
Tensor all_but_one(const Tensor& x, int axis, bool first) {
  std::vector<Index> index(static_cast<std::size_t>(axis), All);
  index.push_back(first ? Slice(1, None) : Slice(None, -1));
  return K::index(x, Indices(index));
}

}  // namespace

Tensor diff(const Tensor& a, int n, int axis) {
  const CalledOp called("diff");
  expect_defined("diff", "a", a);
  if (n < 0) fail("[diff] n must be at least 0: received n=", n);
  if (a.ndim() == 0) fail("[diff] a must have rank 1 or more: received a=()");
  axis = canonical_axis("diff", axis, a.ndim());
  Tensor out = K::identity(a);
  for (int i = 0; i < n && out.shape()[axis] != 0; ++i) {
    const Tensor next = all_but_one(out, axis, true), before = all_but_one(out, axis, false);
    out = a.dtype().is_bool() ? next ^ before : next - before;
  }
  return out;
}

Tensor trapezoid(const Tensor& given, const Tensor& given_x, double dx, int axis) {
  const CalledOp called("trapezoid");
  const op_helpers::Operands operands = op_helpers::together(given, given_x);
  const Tensor y = floating("trapezoid", operands.x, "y");
  if (y.ndim() == 0) fail("[trapezoid] y must have rank 1 or more: received y=()");
  axis = canonical_axis("trapezoid", axis, y.ndim());
  const Tensor means = (all_but_one(y, axis, true) + all_but_one(y, axis, false)) * 0.5;
  if (!given_x.defined()) return K::sum(means, axis) * dx;
  const Tensor x = K::as_dtype(operands.y, y.dtype());
  if (x.ndim() == 1) {
    Shape shape = Shape(std::vector<std::int64_t>(static_cast<std::size_t>(y.ndim()), 1));
    shape[axis] = -1;
    return K::sum(means * K::reshape(diff(x), shape), axis);
  }
  return K::sum(means * diff(x, 1, axis), axis);
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(QuantileOptions& options, F&& field) {
  field("method", options.method);
  field("keepdims", options.keepdims);
}
}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor trapezoid(const OperationCall& call) {
  return ops::trapezoid(call.tensor("y"), call.optional("x"), call.number("dx"), call.axis());
}

}  // namespace

Operations statistics_operations() {
  static constexpr const char* quantile = "x, q; axis=null, method=\"linear\", keepdims=false";
  static constexpr Operation rows[] = {
      {"Median", "numpy", "x; axis=null, keepdims=false", calls<ops::median>, "", "x, -, axis, -, keepdims"},
      {"Nanmedian", "numpy", "x; axis=null, keepdims=false", calls<ops::nanmedian>, "",
       "x, -, axis, -, keepdims"},
      {"Quantile", "numpy", quantile, calls<ops::quantile>},
      {"Percentile", "numpy", quantile, calls<ops::percentile>},
      {"Nanquantile", "numpy", quantile, calls<ops::nanquantile>},
      {"Nanpercentile", "numpy", quantile, calls<ops::nanpercentile>},
      {"Average", "numpy", "x, weights=null; axis=null", calls<ops::average>},
      {"Corrcoef", "numpy", "x;", calls<ops::corrcoef>},
      {"Correlate", "numpy", "x1, x2; mode=\"valid\"", calls<ops::correlate>},
      {"Diff", "numpy", "a; n=1, axis=-1", calls<ops::diff>},
      {"Trapezoid", "numpy", "y; x=null, dx=1.0, axis=-1", trapezoid},
      {"Sort", "numpy", "x; axis=-1", calls<ops::sort>, "-"},
      {"Argsort", "numpy", "x; axis=-1", calls<ops::argsort>, "-"},
      {"Argpartition", "numpy", "x; kth, axis=-1", calls<ops::argpartition>},
  };
  return rows;
}

}  // namespace ktape::nn
