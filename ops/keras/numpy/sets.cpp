#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/keras/numpy/sets.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/kernels/reduce/argsort.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace ktape::ops {

template <class F>
void fields(UniqueOptions& options, F&& field) {
  field("sorted", options.sorted);
  field("return_index", options.return_index);
  field("return_inverse", options.return_inverse);
  field("return_counts", options.return_counts);
  field("axis", options.axis);
  field("size", options.size);
  field("fill_value", options.fill_value);
}
template <class F>
void fields(IsInOptions& options, F&& field) {
  field("assume_unique", options.assume_unique);
  field("invert", options.invert);
}

namespace K = backend;
using op_helpers::int64_tensor, op_helpers::int64_vector;

namespace {

Tensor int32_tensor(const std::vector<std::int64_t>& numbers) {
  return converted(int64_tensor(numbers), DType::Int32);
}

/// Returns tensors of one of the types for which the kernels exist: float, double or int64.
op_helpers::Operands widened(const char* op, const Tensor& x, const Tensor& y) {
  const op_helpers::Operands o = op_helpers::promoted(op, x, y);
  const DType dtype = !o.x.dtype().is_floating()      ? DType::Int64
                      : o.x.dtype() == DType::Float64 ? DType::Float64
                                                      : DType::Float32;
  return {converted(o.x, dtype), converted(o.y, dtype)};
}

template <class F>
decltype(auto) with_wide_type(DType dtype, F&& f) {
  if (dtype == DType::Int64) return f.template operator()<std::int64_t>();
  if (dtype == DType::Float64) return f.template operator()<double>();
  return f.template operator()<float>();
}

/// Returns whether a is sorted before b; NaN is sorted last.
template <class T>
bool ahead(T a, T b) {
  return a < b || (b != b && a == a);
}

/// Finds, for each of several values, the number of elements of the sorted range before the value: those that are less, or
/// not greater. All values take the same steps, so that the processor need not guess a branch, and reads for several
/// values at once.
template <bool behind_equals, std::size_t lanes, class T>
void find_places(const T* sorted, std::int64_t n, const T* values, std::int32_t* places) {
  const auto is_before = [](T element, T value) {
    return behind_equals ? !ahead(value, element) : ahead(element, value);
  };
  std::array<std::int64_t, lanes> first{};
  while (n > 1) {
    const std::int64_t half = n / 2;
    for (std::size_t i = 0; i < lanes; ++i)
      first[i] += is_before(sorted[first[i] + half - 1], values[i]) ? half : 0;
    n -= half;
  }
  for (std::size_t i = 0; i < lanes; ++i)
    places[i] = static_cast<std::int32_t>(first[i] + (n == 1 && is_before(sorted[first[i]], values[i])));
}

template <bool behind_equals, class T>
void find_all_places(const T* sorted, std::int64_t n, const T* values, std::int64_t count,
                     std::int32_t* places) {
  constexpr std::int64_t lanes = 8;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) find_places<behind_equals, lanes>(sorted, n, values + i, places + i);
  for (; i < count; ++i) find_places<behind_equals, 1>(sorted, n, values + i, places + i);
}

Tensor places(const char* op, const Tensor& sorted, const Tensor& values, bool behind_equals) {
  const auto wide = widened(op, sorted, values);
  Tensor out = Tensor::empty(wide.y.shape(), DType::Int32, op);
  with_wide_type(wide.x.dtype(), [&]<class T>() {
    const T *from = wide.x.template pointer<T>(), *value = wide.y.template pointer<T>();
    auto* to = out.pointer<std::int32_t>();
    const std::int64_t n = wide.x.size();
    parallel_for(out.size(), 1 << 10, [=](std::int64_t begin, std::int64_t end) {
      if (behind_equals) find_all_places<true>(from, n, value + begin, end - begin, to + begin);
      else find_all_places<false>(from, n, value + begin, end - begin, to + begin);
    });
  });
  return out;
}

void expect_vector(const char* op, const char* name, const Tensor& x) {
  if (x.ndim() != 1) fail("[", op, "] ", name, " must be a vector: received ", name, '=', x.shape());
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const std::string& side) {
  expect_defined("searchsorted", "sorted_sequence, values", sorted_sequence, values);
  expect_vector("searchsorted", "sorted_sequence", sorted_sequence);
  if (side != "left" && side != "right")
    fail("[searchsorted] side must be \"left\" or \"right\": received side=\"", side, '"');
  if (is_symbolic(sorted_sequence, values))
    return defer_described("searchsorted", {values.shape(), DType::Int32}, searchsorted, sorted_sequence,
                           values, side);
  return places("searchsorted", sorted_sequence, values, side == "right");
}

Tensor digitize(const Tensor& x, const Tensor& bins) {
  const CalledOp called("digitize");
  expect_defined("digitize", "x, bins", x, bins);
  expect_vector("digitize", "bins", bins);
  if (is_symbolic(x, bins)) return defer("digitize", {x.shape(), DType::Int32}, digitize, x, bins);
  const std::int64_t n = bins.size();
  const bool descending = n > 1 && bins.element(std::array<std::int64_t, 2>{0, 0}.data(), 1).real() >
                                       bins.element(std::array<std::int64_t, 2>{n - 1, 0}.data(), 1).real();
  if (!descending) return places("digitize", bins, x, true);
  const NoGrad off;
  return static_cast<std::int32_t>(n) - places("digitize", K::reverse(bins, 0), x, true);
}

Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t minlength) {
  expect_defined("bincount", "x", x);
  if (!x.dtype().is_integer()) fail<TypeError>("[bincount] x must hold integers: received dtype=", x.dtype());
  if (x.ndim() != 1 && x.ndim() != 2)
    fail("[bincount] x must be a vector or a matrix: received x=", x.shape());
  if (weights.defined() && !compatible(weights.shape(), x.shape()))
    fail("[bincount] weights must have the shape of x, ", x.shape(), ": received weights=", weights.shape());
  if (minlength < 0) fail("[bincount] minlength must be at least 0: received minlength=", minlength);
  const Tensor counted =
      weights.defined() ? op_helpers::counted("bincount", weights) : K::ones_like(x, {.dtype = DType::Int32});
  if (is_symbolic(x, counted)) {
    Shape shape = x.shape();
    shape[-1] = None;
    return defer_described("bincount", {shape, counted.dtype()}, bincount, x, counted, minlength);
  }
  std::vector<std::int64_t> numbers = int64_vector(x);
  const std::int64_t rows = x.ndim() == 2 ? x.shape()[0] : 1, n = x.shape().back();
  std::int64_t bins = minlength;
  for (const std::int64_t number : numbers) {
    if (number < 0) fail("[bincount] x must not be negative: received ", number);
    bins = std::max(bins, number == std::numeric_limits<std::int64_t>::max() ? number : number + 1);
  }
  check_extents("bincount", {rows, bins}, counted.dtype().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += static_cast<std::int64_t>(i) / n * bins;
  Shape shape = x.shape();
  shape[-1] = bins;
  return op_helpers::add_rows("bincount", counted, int64_tensor(numbers), {1, rows * bins, 1}, shape);
}

Histogram histogram(const Tensor& x, std::int64_t bins, std::optional<std::pair<double, double>> range) {
  expect_defined("histogram", "x", x);
  expect_vector("histogram", "x", x);
  if (bins < 1) fail("[histogram] bins must be at least 1: received bins=", bins);
  check_extents("histogram", {bins}, sizeof(double));
  if (range && !(range->first <= range->second))
    fail("[histogram] the range must ascend: received range=(", range->first, ", ", range->second, ')');
  const DType dtype = op_helpers::floating_dtype(x.dtype());
  if (is_symbolic(x)) {
    const auto later = [](const Tensor& x, std::int64_t bins,
                          std::optional<std::pair<double, double>> range) {
      const Histogram found = histogram(x, bins, range);
      return std::vector{found.counts, found.edges};
    };
    const auto found =
        defer_described("histogram", {{{bins}, DType::Int32}, {{bins + 1}, dtype}}, later, x, bins, range);
    return {found[0], found[1]};
  }
  const Tensor values = converted(x, DType::Float64);
  const double* from = values.pointer<double>();
  auto [low, high] = range.value_or(std::pair(0.0, 1.0));
  if (!range && values.size() > 0) {
    const auto [least, most] = std::minmax_element(from, from + values.size());
    low = *least, high = *most;
  }
  if (!std::isfinite(low) || !std::isfinite(high))
    fail("[histogram] the range must be finite: received range=(", low, ", ", high, ')');
  if (low == high) low -= 0.5, high += 0.5;
  std::vector<double> edges;
  for (std::int64_t i = 0; i <= bins; ++i)
    edges.push_back(i == bins ? high
                              : low + static_cast<double>(i) * (high - low) / static_cast<double>(bins));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), 0);
  const double scale = static_cast<double>(bins) / (high - low);
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const double value = from[i];
    if (!(value >= low && value <= high)) continue;
    auto bin = std::min(static_cast<std::int64_t>((value - low) * scale), bins - 1);
    if (value < edges[static_cast<std::size_t>(bin)]) --bin;
    else if (bin + 1 < bins && value >= edges[static_cast<std::size_t>(bin) + 1]) ++bin;
    ++counts[static_cast<std::size_t>(bin)];
  }
  const Tensor edge = Tensor::from_buffer(edges.data(), edges.size() * 8, {bins + 1}, DType::Float64);
  return {int32_tensor(counts), converted(edge, dtype)};
}

namespace {

/// The groups of equal slices of a tensor, seen as rows, in the order of the rows: the number of the group of each
/// slice, if wanted, and the first slice and the size of each group.
struct EqualSlices {
  std::vector<std::int64_t> group, first, count;
};

/// Groups integers through a table of all integers from the least to the largest.
EqualSlices counted_slices(const std::int64_t* x, std::int64_t n, std::int64_t least, std::size_t range,
                           bool grouped) {
  std::vector<std::int64_t> count(range, 0), first(range), number(grouped ? range : 0);
  const auto place = [&](std::int64_t i) { return static_cast<std::size_t>(x[i] - least); };
  for (std::int64_t i = n - 1; i >= 0; --i) ++count[place(i)], first[place(i)] = i;
  EqualSlices out;
  for (std::size_t i = 0; i < range; ++i) {
    if (count[i] == 0) continue;
    if (grouped) number[i] = static_cast<std::int64_t>(out.first.size());
    out.first.push_back(first[i]), out.count.push_back(count[i]);
  }
  if (!grouped) return out;
  out.group.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) out.group[static_cast<std::size_t>(i)] = number[place(i)];
  return out;
}

/// Returns the slices in the order of their rows; equal slices keep their order.
template <class T>
std::vector<std::int64_t> sorted_slices(const T* rows, std::int64_t n, std::int64_t width) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  if (width == 1 && n <= std::numeric_limits<std::int32_t>::max()) {
    kernels::argsort_rows(order.data(), rows, 1, n, n, false);
    return order;
  }
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [=](std::int64_t a, std::int64_t b) {
    for (std::int64_t j = 0; j < width; ++j) {
      const T p = rows[a * width + j], q = rows[b * width + j];
      if (ahead(p, q)) return true;
      if (ahead(q, p)) return false;
    }
    return a < b;
  });
  return order;
}

template <class T>
EqualSlices equal_slices(const T* rows, std::int64_t n, std::int64_t width, bool grouped) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    if (width == 1 && n > 0) {
      const auto [least, most] = std::minmax_element(rows, rows + n);
      // The difference of two signed numbers of 64 bits is a number of 64 bits without a sign.
      const auto span = static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
      if (span < static_cast<std::uint64_t>(n)) return counted_slices(rows, n, *least, span + 1, grouped);
    }
  const std::vector<std::int64_t> order = sorted_slices(rows, n, width);
  EqualSlices out;
  out.group.resize(grouped ? order.size() : 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const T* row = rows + order[i] * width;
    if (i == 0 || !std::equal(row, row + width, rows + order[i - 1] * width))
      out.first.push_back(order[i]), out.count.push_back(0);
    if (grouped)
      out.group[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(out.first.size()) - 1;
    ++out.count.back();
  }
  return out;
}

EqualSlices equal_slices(const Tensor& rows, bool grouped) {
  const DType dtype = widened("unique", rows, rows).x.dtype();
  const Tensor wide = converted(rows, dtype);
  return with_wide_type(dtype, [&]<class T>() {
    return equal_slices(static_cast<const T*>(wide.pointer<T>()), rows.shape()[0], rows.shape().count(1),
                        grouped);
  });
}

/// Returns the list with `size` entries: cut, or filled up.
std::vector<std::int64_t> fitted(std::vector<std::int64_t> list, std::optional<std::int64_t> size,
                                 std::int64_t fill) {
  if (size) list.resize(static_cast<std::size_t>(*size), fill);
  return list;
}

/// Returns the results of `unique` for x, whose first axis is compared.
std::vector<Tensor> unique_slices(const Tensor& x, const Shape& inverse_shape, const UniqueOptions& options) {
  const EqualSlices found = equal_slices(x, options.return_inverse);
  const auto groups = static_cast<std::int64_t>(found.first.size());
  Shape shape = x.shape();
  shape[0] = options.size ? std::min(groups, *options.size) : groups;
  const auto kept = fitted(found.first, shape[0], 0);
  Tensor values =
      op_helpers::pick_rows("unique", x, int64_tensor(kept), {1, x.shape()[0], x.shape().count(1)}, shape);
  if (options.size && *options.size > groups) {
    shape[0] = *options.size - groups;
    values = K::concatenate({values, K::full(shape, options.fill_value, x.dtype())}, 0);
  }
  std::vector<Tensor> out{values};
  if (options.return_index) {
    const std::int64_t fill = found.first.empty() ? 0 : found.first[0];
    out.push_back(int32_tensor(fitted(found.first, options.size, fill)));
  }
  if (options.return_inverse) out.push_back(K::reshape(int32_tensor(found.group), inverse_shape));
  if (options.return_counts) out.push_back(int32_tensor(fitted(found.count, options.size, 0)));
  return out;
}

}  // namespace

std::vector<Tensor> unique(const Tensor& x, const UniqueOptions& options) {
  expect_defined("unique", "x", x);
  if (options.size && *options.size < 0)
    fail("[unique] size must be at least 0: received size=", *options.size);
  if (options.size) check_extents("unique", {*options.size}, sizeof(std::int64_t));
  const int axis = options.axis ? canonical_axis("unique", *options.axis, x.ndim()) : 0;
  const std::int64_t along = options.axis ? x.shape()[axis] : x.size() < 0 ? std::int64_t{None} : x.size();
  const Shape inverse = options.axis ? Shape{along} : x.shape();
  const std::int64_t size = options.size.value_or(None);
  if (is_symbolic(x)) {
    Shape shape = options.axis ? x.shape() : Shape{size};
    shape[axis] = size;
    std::vector<OutputInfo> infos{{shape, x.dtype()}};
    if (options.return_index) infos.push_back({{size}, DType::Int32});
    if (options.return_inverse) infos.push_back({inverse, DType::Int32});
    if (options.return_counts) infos.push_back({{size}, DType::Int32});
    return defer_described("unique", infos, unique, WithoutGradient{x}, options);
  }
  const NoGrad off;
  if (!options.axis) return unique_slices(K::reshape(x, {-1}), inverse, options);
  std::vector<Tensor> out = unique_slices(op_helpers::axis_moved(x, axis, 0), inverse, options);
  out[0] = op_helpers::axis_moved(out[0], 0, axis);
  return out;
}

Tensor isin(const Tensor& x1, const Tensor& x2, const IsInOptions& options) {
  const CalledOp called("isin");
  expect_defined("isin", "x1, x2", x1, x2);
  if (is_symbolic(x1, x2)) return defer_described("isin", {x1.shape(), DType::Bool}, isin, x1, x2, options);
  const NoGrad off;
  const auto wide = widened("isin", x1, x2);
  const Tensor sorted = K::sort(K::reshape(wide.y, {-1}));
  const Tensor found = places("isin", sorted, wide.x, false);
  Tensor out = Tensor::empty(x1.shape(), DType::Bool);
  with_wide_type(sorted.dtype(), [&]<class T>() {
    const T* from = sorted.pointer<T>();
    const T* values = wide.x.template pointer<T>();
    const auto* at = found.pointer<std::int32_t>();
    for (std::int64_t i = 0; i < out.size(); ++i)
      out.pointer<bool>()[i] = (at[i] < sorted.size() && from[at[i]] == values[i]) != options.invert;
  });
  return out;
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor bincount(const OperationCall& call) {
  if (call.flag("sparse")) fail("[Bincount] sparse must be false: received sparse=true");
  return ops::bincount(call.tensor("x"), call.optional("weights"), call.integer("minlength"));
}

}  // namespace

Operations set_operations() {
  static constexpr Operation rows[] = {
      {"SearchSorted", "numpy", "sorted_sequence, values; side=\"left\"", calls<ops::searchsorted>,
       "searchsorted"},
      {"Digitize", "numpy", "x, bins;", calls<ops::digitize>},
      {"Bincount", "numpy", "x; weights=null, minlength=0, sparse=false", bincount, "",
       "x, weights, minlength"},
      {"Histogram", "numpy", "x; bins=10, range=null", calls<ops::histogram>},
      {"Unique", "numpy",
       "x; sorted=true, return_index=false, return_inverse=false, return_counts=false, axis=null, size=null, "
       "fill_value=null",
       calls<ops::unique>},
      {"IsIn", "numpy", "x1, x2; assume_unique=false, invert=false", calls<ops::isin>, "isin"},
  };
  return rows;
}

}  // namespace ktape::nn
