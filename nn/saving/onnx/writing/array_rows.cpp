#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

/// Functions on whole arrays that ONNX has no operator for: formulas of other operations, whose rows make the nodes.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;
using Tensors = std::vector<Tensor>;

/// Returns a row for a formula that returns a tensor.
template <class F>
Row formula(F f) {
  return [f](const Translation& t) { return Names{t.name(K::as_dtype(f(t), t.dtype()))}; };
}

/// Returns the extent of an axis, or fails.
std::int64_t extent(const Translation& t, const Tensor& x, int axis) {
  const std::int64_t n = x.shape()[axis];
  if (n == None) t.fail("the extent of an axis is unknown: x=" + to_string(x.shape()));
  return n;
}

int axis_of(const Translation& t, const Tensor& x, const char* name = "axis") {
  const int axis = t.call->axis(name);
  return axis < 0 ? axis + x.ndim() : axis;
}

Tensor whole_numbers(const Integers& numbers) {
  return Tensor::from_buffer(numbers.data(), numbers.size() * sizeof(std::int64_t),
                             {static_cast<std::int64_t>(numbers.size())}, DType::Int64);
}

// --- Shapes -----------------------------------------------------------------------------------------------

/// Repeats the slices of an axis: one number for all, or a number for each slice.
Tensor repeated(const Translation& t) {
  const bool flat = !t.call->has("axis");
  const Tensor given = t.call->tensor("x"), x = flat ? K::flatten(given) : given;
  const int axis = flat ? 0 : axis_of(t, x);
  const auto times = t.call->value("repeats").as<K::PerAxis<std::int64_t>>("[Repeat] repeats").list();
  if (times.size() == 1) return K::repeat_elements(x, times[0], axis);
  Integers places;
  for (std::size_t i = 0; i < times.size(); ++i)
    places.insert(places.end(), static_cast<std::size_t>(times[i]), static_cast<std::int64_t>(i));
  return ops::take(x, whole_numbers(places), axis);
}

Tensor sum_to(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const Shape wanted = t.call->shape("shape");
  const int more = x.ndim() - wanted.rank();
  std::vector<int> axes;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis < more || wanted[axis - more] == 1) axes.push_back(axis);
  Tensor sum = axes.empty() ? x : K::sum(x, axes, true);
  for (int i = 0; i < more; ++i) sum = K::squeeze(sum, 0);
  return sum;
}

/// Moves the elements of an axis, whose extent may be unknown.
Tensor rolled(const Tensor& x, std::int64_t shift, int axis) {
  const std::int64_t known = x.shape()[axis];
  const Tensor n =
      known == None ? K::cast(K::shape(x)[axis], DType::Int64) : K::constant(known, {.dtype = DType::Int64});
  const Tensor places =
      known == None ? K::arange(n, {.dtype = DType::Int64}) : K::arange(known, {.dtype = DType::Int64});
  return ops::take(x, ops::mod(places - shift, n), axis);
}

Tensor roll(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const auto shifts = t.call->value("shift").as<K::PerAxis<std::int64_t>>("[Roll] shift").list();
  const Axes axes = t.call->axes("axis");
  if (axes.all()) return K::reshape(rolled(K::flatten(x), shifts[0], 0), K::shape(x));
  Tensor y = x;
  for (std::size_t i = 0; i < axes.list().size(); ++i) {
    const int axis = axes.list()[i] < 0 ? axes.list()[i] + x.ndim() : axes.list()[i];
    y = rolled(y, shifts[shifts.size() == 1 ? 0 : i], axis);
  }
  return y;
}

Tensor kronecker(const Translation& t) {
  Tensor x = t.call->tensor("x1"), y = t.call->tensor("x2");
  while (x.ndim() < y.ndim()) x = K::expand_dims(x, 0);
  while (y.ndim() < x.ndim()) y = K::expand_dims(y, 0);
  Shape merged;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::int64_t a = x.shape()[axis], b = y.shape()[axis];
    merged.push_back(a == None || b == None ? -1 : a * b);
  }
  if (std::count(merged.begin(), merged.end(), -1) > 1) t.fail("the extents of two axes are unknown");
  for (int axis = t.result().shape.rank(); axis-- > 0;)
    x = K::expand_dims(x, axis + 1), y = K::expand_dims(y, axis);
  return K::reshape(x * y, merged);
}

// --- Diagonals --------------------------------------------------------------------------------------------

Tensor diagonal_of(const Translation& t, const Tensor& x, int offset, int first, int second) {
  const Tensor last = ops::moveaxis(x, {first, second}, {-2, -1});
  const std::int64_t rows = extent(t, last, -2), columns = extent(t, last, -1);
  Integers places;
  for (std::int64_t i = std::max(0, -offset); i < rows && i + offset < columns; ++i)
    places.push_back(i * columns + i + offset);
  Shape flat = last.shape();
  flat.erase(flat.rank() - 1);
  flat[-1] = rows * columns;
  if (std::count(flat.begin(), flat.end(), None) > 1) t.fail("the extents of two axes are unknown");
  for (int axis = 0; axis < flat.rank(); ++axis)
    if (flat[axis] == None) flat[axis] = -1;
  return ops::take(K::reshape(last, flat), whole_numbers(places), -1);
}

/// Returns a matrix with the vector on a diagonal.
Tensor on_diagonal(const Translation& t, const Tensor& x, int k) {
  const std::int64_t n = extent(t, x, 0), more = std::abs(k);
  const Tensor rows = K::pad(x, {{k < 0 ? more : 0, k < 0 ? 0 : more}});
  const Tensor place = ops::eye(n + more, {}, k, DType::Bool);
  return K::where(place, K::expand_dims(rows, -1), K::zeros({}, {.dtype = x.dtype()}));
}

Tensor diag(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const int k = t.call->axis("k");
  return x.ndim() == 1 ? on_diagonal(t, x, k) : diagonal_of(t, x, k, 0, 1);
}

/// A matrix of ones on the diagonal, whose extents are a tensor.
Names eye(const Translation& t) {
  const Tensor size = t.call->tensor("size");
  const std::string extents = t.graph.cast(t("size"), size.dtype(), DType::Int64);
  const std::string zeros = t.node("Expand", {t.graph.number(0, t.dtype()), extents});
  return {t.node("EyeLike", {zeros})};
}

// --- Places and sets --------------------------------------------------------------------------------------

Names nonzero(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const std::string places = t.node("NonZero", {t.graph.cast(t("x"), x.dtype(), DType::Bool)});
  Names names;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::string row = t.node("Gather", {places, t.graph.integer(axis)}, {{"axis", std::int64_t{0}}});
    names.push_back(t.graph.cast(row, DType::Int64, t.result(static_cast<std::size_t>(axis)).dtype));
  }
  return names;
}

Names unravel_index(const Translation& t) {
  const Tensor places = t.call->tensor("indices");
  const Shape shape = t.call->shape("shape");
  Names names;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Tensor along = ops::mod(ops::floor_divide(places, shape.count(axis + 1)), shape[axis]);
    names.push_back(t.name(K::as_dtype(along, places.dtype())));
  }
  return names;
}

/// Returns the number of elements of a vector that are less than each value, or not greater.
Tensor count_before(const Tensor& sorted, const Tensor& values, bool equals) {
  const Tensor each = K::expand_dims(values, -1);
  const Tensor before = equals ? sorted <= each : sorted < each;
  return K::sum(K::cast(before, DType::Int32), -1);
}

Tensor searchsorted(const Translation& t) {
  return count_before(t.call->tensor("sorted_sequence"), t.call->tensor("values"),
                      t.call->text("side") == "right");
}

Tensor digitize(const Translation& t) {
  const Tensor bins = t.call->tensor("bins");
  if (is_symbolic(bins)) t.fail("the bins are computed, so that their order is unknown");
  const std::int64_t n = bins.size();
  const bool descends = n > 1 && bins[0].item<double>() > bins[n - 1].item<double>();
  const Tensor x = t.call->tensor("x");
  return descends ? n - count_before(K::reverse(bins, 0), x, true) : count_before(bins, x, true);
}

Tensor is_in(const Translation& t) {
  const Tensor x = K::expand_dims(t.call->tensor("x1"), -1), set = K::flatten(t.call->tensor("x2"));
  const Tensor found = K::any(K::equal(x, set), -1);
  return t.call->flag("invert") ? ~found : found;
}

Tensor in_top_k(const Translation& t) {
  const Tensor scores = t.call->tensor("predictions"),
               targets = K::cast(t.call->tensor("targets"), DType::Int64);
  const Tensor score = ops::take_along_axis(scores, K::expand_dims(targets, -1), -1);
  const Tensor above = K::sum(K::cast(scores > score, DType::Int64), -1);
  return (above < t.call->integer("k")) & K::is_finite(K::squeeze(score, -1));
}

/// Counts the numbers 0, 1, ... along the last axis, or adds up their weights.
Tensor bincount(const Translation& t) {
  const Tensor x = K::cast(t.call->tensor("x"), DType::Int64);
  const Tensor bins = K::maximum(K::max(x) + 1, t.call->integer("minlength"));
  const Tensor found = K::equal(K::expand_dims(x, -1), K::arange(bins, {.dtype = DType::Int64}));
  const Tensor weights = t.call->has("weights") ? t.call->tensor("weights") : Tensor();
  const Tensor counted = weights.defined() ? K::where(found, K::expand_dims(weights, -1),
                                                      K::zeros({}, {.dtype = weights.dtype()}))
                                           : K::cast(found, DType::Int64);
  return K::sum(counted, -2);
}

Names histogram(const Translation& t) {
  const Tensor x = K::cast(t.call->tensor("x"), DType::Float64);
  const std::int64_t bins = t.call->integer("bins");
  Tensor low, high;
  if (t.call->has("range")) {
    const auto range = t.call->value("range").as<std::vector<double>>("[Histogram] range");
    low = K::constant(range.at(0), {.dtype = DType::Float64}),
    high = K::constant(range.at(1), {.dtype = DType::Float64});
  } else {
    low = K::min(x), high = K::max(x);
  }
  const Tensor none = K::cast(K::equal(low, high), DType::Float64) * 0.5;
  low = low - none, high = high + none;
  std::vector<double> shares;
  for (std::int64_t i = 0; i <= bins; ++i)
    shares.push_back(static_cast<double>(i) / static_cast<double>(bins));
  const Tensor edges = low + (high - low) * K::constant(shares, {.dtype = DType::Float64});
  const Tensor from = edges[{Slice(None, -1)}], to = edges[{Slice(1, None)}], each = K::expand_dims(x, -1);
  const Tensor last = K::equal(K::arange(bins), bins - 1);
  const Tensor inside = (each >= from) & ((each < to) | (last & (each <= to)));
  const Tensor counts = K::sum(K::cast(inside, DType::Int32), 0);
  return {t.name(K::as_dtype(counts, t.result(0).dtype)), t.name(K::as_dtype(edges, t.result(1).dtype))};
}

/// The different elements. The operator counts places in the flat tensor.
Names unique(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const bool flat = !t.call->has("axis"), sized = t.call->has("size");
  const bool more =
      t.call->flag("return_index") || t.call->flag("return_inverse") || t.call->flag("return_counts");
  if (sized && (more || !flat || !t.call->has("fill_value")))
    t.fail("the size is given without a fill_value, or with other results");
  const DType dtype = x.dtype(), wide = !dtype.is_floating() ? DType(DType::Int64)
                                        : dtype.is_half()    ? DType(DType::Float32)
                                                             : dtype;
  Attributes attributes{{"sorted", std::int64_t{1}}};
  if (!flat) attributes.emplace_back("axis", std::int64_t{axis_of(t, x)});
  const Names made = t.graph.nodes("Unique", {t.graph.cast(t("x"), dtype, wide)}, attributes, 4);
  std::string values = made[0];
  if (sized) {
    const std::int64_t size = t.call->integer("size");
    const std::string fill =
        t.node("Expand", {t.graph.number(t.call->number("fill_value"), wide), t.graph.integers({size})});
    values = t.graph.sliced(t.node("Concat", {values, fill}, {{"axis", std::int64_t{0}}}), 0, 0, size);
  }
  Names names{t.graph.cast(values, wide, dtype)};
  const auto add = [&](const char* flag, const std::string& name) {
    if (t.call->flag(flag)) names.push_back(t.graph.cast(name, DType::Int64, t.result(names.size()).dtype));
  };
  add("return_index", made[1]);
  add("return_inverse",
      flat && x.ndim() != 1 ? t.node("Reshape", {made[2], t.node("Shape", {t("x")})}) : made[2]);
  add("return_counts", made[3]);
  return names;
}

/// Puts a block into a tensor of known extents.
Tensor slice_update(const Translation& t) {
  const Tensor x = t.call->tensor("inputs"), block = t.call->tensor("updates");
  const Shape begin = t.call->shape("start_indices");
  std::vector<K::PaddingPair> around;
  Tensor inside = K::constant(true, {.dtype = DType::Bool});
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::int64_t n = extent(t, x, axis), count = extent(t, block, axis),
                       first = std::clamp<std::int64_t>(begin[axis], 0, n - count);
    around.push_back({first, n - first - count});
    Shape shape(std::vector<std::int64_t>(x.shape().size(), 1));
    shape[axis] = n;
    const Tensor places = K::reshape(K::arange(n), shape);
    inside = inside & (places >= first) & (places < first + count);
  }
  return K::where(inside, K::pad(K::as_dtype(block, x.dtype()), around), x);
}

// --- Numbers ----------------------------------------------------------------------------------------------

/// Returns the products of the elements up to each one, by doubling the number of factors.
Tensor running_product(const Translation& t, const Tensor& given, bool flat) {
  Tensor y = flat ? K::flatten(given) : given;
  const int axis = flat ? 0 : axis_of(t, y);
  const std::int64_t n = extent(t, y, axis);
  std::vector<Index> all(static_cast<std::size_t>(axis), All);
  for (std::int64_t shift = 1; shift < n; shift *= 2) {
    const auto part = [&](Slice slice) {
      std::vector<Index> index = all;
      index.push_back(slice);
      return K::index(y, Indices(index));
    };
    const Tensor next = part(Slice(shift, None)) * part(Slice(0, n - shift));
    y = K::concatenate({part(Slice(0, shift)), next}, axis);
  }
  return y;
}

Tensor cumprod(const Translation& t) {
  return running_product(t, K::as_dtype(t.call->tensor("x"), t.dtype()), !t.call->has("axis"));
}

Tensor correlated(const Tensor& x, const Tensor& y, const std::string& mode) {
  const std::int64_t n = x.shape()[0], k = y.shape()[0];
  if (k > n) return K::reverse(correlated(y, x, mode), 0);
  const std::int64_t left = mode == "valid" ? 0 : mode == "full" ? k - 1 : k / 2;
  const std::int64_t right = mode == "valid" ? 0 : mode == "full" ? k - 1 : k - 1 - k / 2;
  const Tensor padded = K::pad(x, {{left, right}});
  Integers places;
  const std::int64_t count = n + left + right - k + 1;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < k; ++j) places.push_back(i + j);
  const Tensor windows = K::reshape(ops::take(padded, whole_numbers(places), 0), {count, k});
  return K::sum(windows * y, -1);
}

Tensor correlate(const Translation& t) {
  const Tensor x = K::as_dtype(t.call->tensor("x1"), t.dtype()),
               y = K::as_dtype(t.call->tensor("x2"), t.dtype());
  extent(t, x, 0), extent(t, y, 0);
  return correlated(x, y, t.call->text("mode"));
}

Tensor shifted_left(const Translation& t) {
  return t.call->tensor("x") * K::pow(K::full({}, 2, t.dtype()), K::as_dtype(t.call->tensor("y"), t.dtype()));
}
Tensor shifted_right(const Translation& t) {
  return ops::floor_divide(t.call->tensor("x"),
                           K::pow(K::full({}, 2, t.dtype()), K::as_dtype(t.call->tensor("y"), t.dtype())));
}

}  // namespace

void add_array_rows(RowTable& rows) {
  rows["Repeat"] = [by_number = rows.at("Repeat")](const Translation& t) {
    const bool whole = t.call->is_number("repeats") && t.call->has("axis");
    return whole ? by_number(t) : formula(repeated)(t);
  };
  rows["sum_to"] = formula(sum_to), rows["Roll"] = formula(roll);
  rows["Kron"] = formula(kronecker), rows["Diag"] = formula(diag);
  rows["Diagflat"] = formula([](const Translation& t) {
    return on_diagonal(t, K::flatten(t.call->tensor("x")), t.call->axis("k"));
  });
  rows["Diagonal"] = formula([](const Translation& t) {
    const Tensor x = t.call->tensor("x");
    return diagonal_of(t, x, t.call->axis("offset"), axis_of(t, x, "axis1"), axis_of(t, x, "axis2"));
  });
  rows["eye"] = eye, rows["Nonzero"] = nonzero, rows["UnravelIndex"] = unravel_index, rows["Unique"] = unique;
  rows["SearchSorted"] = formula(searchsorted), rows["Digitize"] = formula(digitize);
  rows["IsIn"] = formula(is_in), rows["InTopK"] = formula(in_top_k), rows["Bincount"] = formula(bincount);
  rows["Histogram"] = histogram, rows["SliceUpdate"] = formula(slice_update);
  rows["Cumprod"] = formula(cumprod), rows["Correlate"] = formula(correlate);
  for (const char* name : {"LeftShift", "BitwiseLeftShift"}) rows[name] = formula(shifted_left);
  for (const char* name : {"RightShift", "BitwiseRightShift"}) rows[name] = formula(shifted_right);
}

}  // namespace ktape::nn::onnx
