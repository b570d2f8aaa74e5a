#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/selection.hpp>
#include <ktape/ops/kernels/copy/gather_scatter.hpp>
#include <ktape/ops/kernels/reduce/argsort.hpp>
#include <ktape/ops/parts.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::backend {

template <class F>
void fields(SortOptions& options, F&& field) {
  field("direction", options.direction);
}

Tensor index(const Tensor& x, const Indices& indices) {
  expect_defined("index", "x", x);
  const op_helpers::Selection selection = op_helpers::select("index", x.shape(), indices.entries());
  if (is_symbolic(x)) return defer_described("index", {selection.shape, x.dtype()}, index, x, indices);
  return reshape(op_helpers::take("index", x, selection.window), selection.shape);
}

namespace {

Tensor index_tensor(const char* op, const ArrayLike& indices) {
  indices.expect_defined(op, "indices");
  return indices.given().defined() ? indices.given() : indices.tensor({}, DType::Int64, op);
}

void expect_integers(const char* op, const Tensor& indices) {
  if (!indices.dtype().is_integer())
    fail<TypeError>("[", op, "] indices must be integers: received indices=", indices.dtype());
}

/// Adds up rows: out[rows[i]] += x[i] over zeros of the shape. The inverse of `pick`.
Tensor add_up(const char* op, const Tensor& x, const Tensor& rows, const Shape& shape);

/// Returns the rows of x, of `inner` elements each, whose numbers are in `rows` (int64, checked).
Tensor pick(const char* op, const Tensor& x, const Tensor& rows, std::int64_t inner, const Shape& shape) {
  Tensor out = Tensor::empty(shape, x.dtype(), op);
  kernels::gather_rows(out.raw(), x.raw(), rows.pointer<std::int64_t>(), 1, 0, rows.size(),
                       inner * static_cast<std::int64_t>(x.dtype().size()));
  if (recording(x))
    record(op, out, {x}, [op, rows, inner, shape = x.shape()](const Tensor& g, Grads& grads) {
      const bool slices = shape.rank() > 0 && shape.count(1) == inner;
      if (slices && grads.takes_rows(0)) grads.add_rows(0, rows, g);
      else grads.to(0, [&] { return add_up(op, g, rows, shape); });
    });
  return out;
}

Tensor add_up(const char* op, const Tensor& x, const Tensor& rows, const Shape& shape) {
  const Tensor values = op_helpers::widened(x), sums = op_helpers::filled(op, shape, 0, values.dtype());
  const std::int64_t inner = rows.size() == 0 ? 0 : x.size() / rows.size();
  if (inner > 0)
    dispatch_native(values.dtype(), [&]<class T>() {
      if constexpr (!std::is_same_v<T, bool>)
        kernels::scatter_add_rows(sums.pointer<T>(), rows.pointer<std::int64_t>(), values.pointer<T>(), 1,
                                  shape.count() / inner, rows.size(), inner);
    });
  Tensor out = op_helpers::narrowed(sums, x.dtype());
  if (recording(x))
    record(op, out, {x}, [op, rows, inner, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return pick(op, g, rows, inner, shape); });
    });
  return out;
}

Shape joined(Shape first, const Shape& second, int from) {
  for (int d = from; d < second.rank(); ++d) first.push_back(second[d]);
  return first;
}

/// Returns the shape of the slices at multi-indices of length k in a tensor of the shape: (indices...,
/// shape[k:]). Throws the errors of gather_nd, except for an index out of range.
Shape named_shape(const char* op, const Tensor& indices, const Shape& shape) {
  expect_integers(op, indices);
  if (indices.ndim() == 0 || indices.shape().back() > shape.rank())
    fail("[", op, "] the last axis of indices must have at most one entry per axis of ", shape,
         ": received indices=", indices.shape());
  if (indices.shape().back() == None)
    fail("[", op,
         "] the last axis of indices, and so the rank of the result, must be known: received indices=",
         indices.shape());
  Shape places = indices.shape();
  places.erase(places.rank() - 1);
  expect_rank(op, places.rank() + shape.rank() - static_cast<int>(indices.shape().back()));
  return joined(places, shape, static_cast<int>(indices.shape().back()));
}

/// Returns the row that each multi-index, checked by named_shape, names in a tensor of the shape.
Tensor row_numbers(const char* op, const Tensor& indices, const Shape& shape) {
  const int k = static_cast<int>(indices.shape().back());
  const Tensor numbers = converted(indices, DType::Int64);
  Tensor rows = Tensor::empty({indices.shape().count(0, indices.ndim() - 1)}, DType::Int64);
  const std::int64_t* index = numbers.pointer<std::int64_t>();
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    std::int64_t row = 0;
    for (int d = 0; d < k; ++d, ++index) {
      if (*index < 0 || *index >= shape[d])
        fail("[", op, "] indices of axis ", d, " must be in [0, ", shape[d], "): received index=", *index);
      row = row * shape[d] + *index;
    }
    rows.pointer<std::int64_t>()[i] = row;
  }
  return rows;
}

}  // namespace

Tensor gather(const Tensor& reference, const ArrayLike& index_list) {
  expect_defined("gather", "reference", reference);
  const Tensor indices = index_tensor("gather", index_list);
  expect_integers("gather", indices);
  if (reference.ndim() == 0) fail("[gather] the reference must have rank 1 or more: received reference=()");
  expect_rank("gather", indices.ndim() + reference.ndim() - 1);
  const Shape shape = joined(indices.shape(), reference.shape(), 1);
  if (is_symbolic(reference, indices))
    return defer("gather", {shape, reference.dtype()}, gather, reference, indices);
  const Tensor rows = converted(indices, DType::Int64);
  const std::int64_t n = reference.shape()[0];
  for (std::int64_t i = 0; i < rows.size(); ++i)
    if (const std::int64_t index = rows.pointer<std::int64_t>()[i]; index < 0 || index >= n)
      fail("[gather] indices must be in [0, ", n, ") for reference=", reference.shape(),
           ": received index=", index);
  return pick("gather", reference, rows, reference.shape().count(1), shape);
}

Tensor one_hot(const ArrayLike& index_list, std::int64_t num_classes) {
  const Tensor indices = index_tensor("one_hot", index_list);
  expect_integers("one_hot", indices);
  if (num_classes < 0) fail("[one_hot] num_classes must be at least 0: received num_classes=", num_classes);
  expect_rank("one_hot", indices.ndim() + 1);
  Shape shape = indices.shape();
  shape.push_back(num_classes);
  if (is_symbolic(indices))
    return defer_described("one_hot", {shape, DType::Float32}, one_hot, indices, num_classes);
  Tensor out = op_helpers::filled("one_hot", shape, 0, DType::Float32);
  const Tensor numbers = converted(indices, DType::Int64);
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    if (const std::int64_t index = numbers.pointer<std::int64_t>()[i]; index >= 0 && index < num_classes)
      out.pointer<float>()[i * num_classes + index] = 1;
  return out;
}

Tensor gather_nd(const Tensor& params, const Tensor& indices) {
  expect_defined("gather_nd", "params, indices", params, indices);
  const Shape shape = named_shape("gather_nd", indices, params.shape());
  if (is_symbolic(params, indices))
    return defer("gather_nd", {shape, params.dtype()}, gather_nd, params, indices);
  const Tensor rows = row_numbers("gather_nd", indices, params.shape());
  return pick("gather_nd", params, rows, params.shape().count(static_cast<int>(indices.shape().back())),
              shape);
}

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  expect_defined("scatter_nd", "indices, updates", indices, updates);
  check_extents("scatter_nd", shape, updates.dtype().size());
  if (updates.dtype().is_bool()) fail<TypeError>("[scatter_nd] updates must be numbers: received dtype=bool");
  const Shape wanted = named_shape("scatter_nd", indices, shape);
  if (!compatible(updates.shape(), wanted))
    fail("[scatter_nd] updates must have the shape ", wanted, ": received updates=", updates.shape());
  if (is_symbolic(indices, updates))
    return defer_described("scatter_nd", {shape, updates.dtype()}, scatter_nd, indices, updates, shape);
  return add_up("scatter_nd", updates, row_numbers("scatter_nd", indices, shape), shape);
}

namespace {

/// Returns, for each row of x, the positions in x of the first k elements of the sorted row.
Tensor ranked(const Tensor& x, std::int64_t k, bool descending) {
  Shape shape = x.shape();
  const std::int64_t n = shape.back();
  shape[shape.rank() - 1] = k;
  Tensor places = Tensor::empty(shape, DType::Int64);
  if (places.size() == 0) return places;
  const Tensor values = op_helpers::widened(x);
  dispatch_native(values.dtype(), [&]<class T>() {
    kernels::argsort_rows(places.pointer<std::int64_t>(), values.pointer<T>(),
                          shape.count(0, shape.rank() - 1), n, k, descending);
  });
  return places;
}

/// Converts positions in a tensor with rows of n elements to int32 positions in the row.
Tensor positions(const Tensor& places, std::int64_t n) {
  Tensor out = Tensor::empty(places.shape(), DType::Int32);
  const auto* const from = places.pointer<std::int64_t>();
  auto* const to = out.pointer<std::int32_t>();
  const std::int64_t width = places.shape().back();
  for (std::int64_t i = 0, first = 0; i < out.size(); first += n)
    for (const std::int64_t end = i + width; i < end; ++i) to[i] = static_cast<std::int32_t>(from[i] - first);
  return out;
}

void expect_int32(const char* op, std::int64_t n) {
  if (n > std::numeric_limits<std::int32_t>::max())
    fail("[", op, "] indices must fit in int32: received an axis of extent ", n);
}

bool is_descending(const char* op, const SortOptions& options) {
  if (options.direction != "ASCENDING" && options.direction != "DESCENDING")
    fail("[", op, "] direction must be \"ASCENDING\" or \"DESCENDING\": received direction=\"",
         options.direction, '"');
  return options.direction == "DESCENDING";
}

/// Applies f to x with the axis moved to the end, and moves the axis back in the result.
template <class F>
Tensor along_last(const Tensor& x, int axis, F f) {
  if (axis == x.ndim() - 1) return f(x);
  Shape pattern = x.shape();
  for (int d = 0; d < x.ndim(); ++d) pattern[d] = d;
  std::swap(pattern[axis], pattern[x.ndim() - 1]);
  return permute_dimensions(f(permute_dimensions(x, pattern)), pattern);
}

}  // namespace

TopK top_k(const Tensor& x, std::int64_t k) {
  expect_defined("top_k", "x", x);
  if (x.ndim() == 0) fail("[top_k] x must have rank 1 or more: received x=()");
  const std::int64_t n = x.shape().back();
  if (k < 0 || (n != None && k > n))
    fail("[top_k] k must be in [0, ", n, "] for x=", x.shape(), ": received k=", k);
  expect_int32("top_k", n);
  if (is_symbolic(x)) {
    Shape shape = x.shape();
    shape[shape.rank() - 1] = k;
    const auto later = [](const Tensor& x, std::int64_t k) {
      const TopK top = top_k(x, k);
      return std::vector{top.values, top.indices};
    };
    const std::vector<Tensor> results =
        defer_described("top_k", {{shape, x.dtype()}, {shape, DType::Int32}}, later, x, k);
    return {results[0], results[1]};
  }
  const Tensor places = ranked(x, k, true);
  return {pick("top_k", x, places, 1, places.shape()), positions(places, n)};
}

Tensor sort(const Tensor& values, int axis, const SortOptions& options) {
  expect_defined("sort", "values", values);
  axis = canonical_axis("sort", axis, values.ndim());
  const bool descending = is_descending("sort", options);
  expect_int32("sort", values.shape()[axis]);
  if (is_symbolic(values))
    return defer_described("sort", {values.shape(), values.dtype()}, sort, values, axis, options);
  return along_last(values, axis, [&](const Tensor& x) {
    const Tensor places = ranked(x, x.shape().back(), descending);
    return pick("sort", x, places, 1, places.shape());
  });
}

Tensor argsort(const Tensor& values, int axis, const SortOptions& options) {
  expect_defined("argsort", "values", values);
  axis = canonical_axis("argsort", axis, values.ndim());
  const bool descending = is_descending("argsort", options);
  expect_int32("argsort", values.shape()[axis]);
  if (is_symbolic(values))
    return defer_described("argsort", {values.shape(), DType::Int32}, argsort, values, axis, options);
  NoGrad off;
  return along_last(values, axis, [&](const Tensor& x) {
    return positions(ranked(x, x.shape().back(), descending), x.shape().back());
  });
}

}  // namespace ktape::backend

namespace ktape {

Tensor subscript(const Tensor& x, const Indices& indices) { return backend::index(x, indices); }
Tensor subscript(const Tensor& x, const Tensor& indices) {
  const bool mask = indices.defined() && indices.dtype().is_bool();
  return mask ? backend::boolean_mask(x, indices) : backend::gather(x, indices);
}

}  // namespace ktape

namespace ktape::nn {
namespace {

std::vector<Tensor> top_k(const OperationCall& call) {
  const auto [values, indices] = backend::top_k(call.tensor("x"), call.integer("k"));
  return {values, indices};
}

const char* written_sort(const std::vector<OperationArgument>&, Config& attributes) {
  if (attributes.get("direction") != Value("ASCENDING")) return nullptr;
  attributes.erase("direction");
  return "Sort";
}
const char* written_argsort(const std::vector<OperationArgument>& operands, Config& attributes) {
  return written_sort(operands, attributes) ? "Argsort" : nullptr;
}

}  // namespace

Operations indexing_operations() {
  static constexpr Operation rows[] = {
      {"gather_nd", "", "params, indices;", calls<backend::gather_nd>},
      {"TopK", "math", "x; k, sorted=true, is_stable=true", top_k, "", "x, k"},
      {"sort", "", "values; axis, direction", calls<backend::sort>, "", "", written_sort},
      {"argsort", "", "values; axis, direction", calls<backend::argsort>, "", "", written_argsort},
  };
  return rows;
}

}  // namespace ktape::nn
