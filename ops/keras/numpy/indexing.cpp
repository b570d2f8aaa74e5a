#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::ops {

namespace K = backend;
using op_helpers::checked_indices, op_helpers::int64_tensor, op_helpers::int64_vector, op_helpers::pick_rows,
    op_helpers::SegmentOp;

namespace {

void expect_integers(const char* op, const Tensor& indices) {
  if (!indices.dtype().is_integer())
    fail<TypeError>("[", op, "] indices must be integers: received indices=", indices.dtype());
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, std::optional<int> given_axis) {
  expect_defined("take", "x, indices", x, indices);
  expect_integers("take", indices);
  if (!given_axis) return take(K::reshape(x, {-1}), indices, 0);
  const int axis = canonical_axis("take", *given_axis, x.ndim());
  expect_rank("take", x.ndim() - 1 + indices.ndim());
  Shape shape(x.shape().begin(), axis);
  for (const std::int64_t extent : indices.shape()) shape.push_back(extent);
  for (int d = axis + 1; d < x.ndim(); ++d) shape.push_back(x.shape()[d]);
  if (is_symbolic(x, indices))
    return defer_described("take", {shape, x.dtype()}, take, x, indices, given_axis);
  const std::int64_t n = x.shape()[axis];
  return pick_rows("take", x, checked_indices("take", indices, n),
                   {x.shape().count(0, axis), n, x.shape().count(axis + 1)}, shape);
}

namespace {

/// Returns the positions, in a tensor of the shape, of elements named along one axis by indices of the full rank.
Tensor positions_along(const Tensor& indices, const Shape& shape, const Shape& result, int axis) {
  const std::int64_t inner = shape.count(axis + 1), along = result[axis], n = shape[axis];
  const std::int64_t result_inner = result.count(axis + 1);
  Tensor out = Tensor::empty({indices.size()}, DType::Int64);
  const auto* from = indices.pointer<std::int64_t>();
  auto* to = out.pointer<std::int64_t>();
  for (std::int64_t o = 0, i = 0; o < result.count(0, axis); ++o)
    for (std::int64_t a = 0; a < along; ++a)
      for (std::int64_t j = 0; j < result_inner; ++j, ++i) to[i] = (o * n + from[i]) * inner + j;
  return out;
}

}  // namespace

Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::optional<int> given_axis) {
  expect_defined("take_along_axis", "x, indices", x, indices);
  expect_integers("take_along_axis", indices);
  if (!given_axis) return take_along_axis(K::reshape(x, {-1}), K::reshape(indices, {-1}), 0);
  if (x.ndim() != indices.ndim())
    fail("[take_along_axis] x and indices must have one rank: received x=", x.shape(),
         ", indices=", indices.shape());
  const int axis = canonical_axis("take_along_axis", *given_axis, x.ndim());
  Shape others = x.shape();
  others[axis] = indices.shape()[axis];
  const Shape shape = broadcast_shapes("take_along_axis", others, indices.shape(), "x", "indices");
  if (is_symbolic(x, indices))
    return defer_described("take_along_axis", {shape, x.dtype()}, take_along_axis, x, indices, given_axis);
  Shape x_shape = shape;
  x_shape[axis] = x.shape()[axis];
  const Tensor source = K::broadcast_to(x, x_shape);
  const Tensor named = K::broadcast_to(indices, shape);
  const Tensor numbers = checked_indices("take_along_axis", named, x_shape[axis]);
  return pick_rows("take_along_axis", source, positions_along(numbers, x_shape, shape, axis),
                   {1, source.size(), 1}, shape);
}

Tensor get_item(const Tensor& x, const Indices& key) {
  const CalledOp called("get_item");
  return K::index(x, key);
}

Tensor slice(const Tensor& inputs, const Shape& start_indices, const Shape& shape) {
  return K::slice(inputs, start_indices, shape);
}

Tensor slice_update(const Tensor& given_inputs, const Shape& start, const Tensor& given) {
  const CalledOp called("slice_update");
  expect_defined("slice_update", "inputs, updates", given_inputs, given);
  const op_helpers::Operands both = op_helpers::together(given_inputs, given);
  const Tensor &inputs = both.x, updates = K::as_dtype(both.y, inputs.dtype());
  if (start.rank() != inputs.ndim() || updates.ndim() != inputs.ndim())
    fail("[slice_update] start_indices and updates must have the rank of the inputs=", inputs.shape(),
         ": received start_indices=", numbers(start), ", updates=", updates.shape());
  if (is_symbolic(inputs, updates))
    return defer_described("slice_update", {inputs.shape(), inputs.dtype()}, slice_update, inputs, start,
                           updates);
  op_helpers::Window window{start, start, updates.shape()};
  for (int d = 0; d < start.rank(); ++d) {
    if (start[d] < 0 || start[d] + updates.shape()[d] > inputs.shape()[d])
      fail("[slice_update] the block must lie in the inputs=", inputs.shape(),
           ": received start_indices=", numbers(start), ", updates=", updates.shape());
    window.step[d] = 1;
  }
  const Tensor inside =
      op_helpers::place("slice_update", K::full(updates.shape(), true, DType::Bool), inputs.shape(), window);
  return K::where(inside, op_helpers::place("slice_update", updates, inputs.shape(), window), inputs);
}

namespace {

/// The rows of a tensor that multi-indices name: their numbers, how many rows there are, and their size.
struct NamedRows {
  std::vector<std::int64_t> numbers;
  std::int64_t rows = 1, inner = 1;
};

void expect_multi_indices(const char* op, const Tensor& indices, const Shape& shape) {
  expect_integers(op, indices);
  if (indices.ndim() == 0 || indices.shape().back() > shape.rank() || indices.shape().back() == None)
    fail("[", op, "] the last axis of indices must have at most one entry per axis of ", shape,
         ": received indices=", indices.shape());
}

/// Throws ValueError unless values have the shape that the multi-indices name.
void expect_values(const char* op, const char* name, const Tensor& values, const Tensor& indices,
                   const Shape& shape) {
  Shape wanted(indices.shape().begin(), indices.ndim() - 1);
  for (int d = static_cast<int>(indices.shape().back()); d < shape.rank(); ++d) wanted.push_back(shape[d]);
  if (!compatible(values.shape(), wanted))
    fail("[", op, "] ", name, " must have the shape ", wanted, ": received ", name, '=', values.shape());
}

NamedRows named_rows(const char* op, const Tensor& indices, const Shape& shape) {
  const int k = static_cast<int>(indices.shape().back());
  const std::vector<std::int64_t> index = int64_vector(indices);
  NamedRows out;
  out.rows = shape.count(0, k), out.inner = shape.count(k);
  out.numbers.resize(static_cast<std::size_t>(indices.shape().count(0, indices.ndim() - 1)), 0);
  for (std::size_t i = 0; i < out.numbers.size(); ++i)
    for (int d = 0; d < k; ++d) {
      const std::int64_t at = index[i * static_cast<std::size_t>(k) + static_cast<std::size_t>(d)],
                         n = shape[d];
      if (at < -n || at >= n)
        fail("[", op, "] indices of axis ", d, " must be in [", -n, ", ", n, "): received index=", at);
      out.numbers[i] = out.numbers[i] * n + (at < 0 ? at + n : at);
    }
  return out;
}

}  // namespace

Tensor scatter(const Tensor& indices, const Tensor& values, const Shape& shape) {
  expect_defined("scatter", "indices, values", indices, values);
  check_extents("scatter", shape, values.dtype().size());
  expect_multi_indices("scatter", indices, shape);
  expect_values("scatter", "values", values, indices, shape);
  if (values.dtype().is_bool()) fail<TypeError>("[scatter] values must be numbers: received dtype=bool");
  if (is_symbolic(indices, values))
    return defer_described("scatter", {shape, values.dtype()}, scatter, indices, values, shape);
  const NamedRows named = named_rows("scatter", indices, shape);
  return op_helpers::add_rows("scatter", values, int64_tensor(named.numbers), {1, named.rows, named.inner},
                              shape);
}

namespace {

/// Returns the inputs with the rows replaced; of several updates of a row the last one wins.
Tensor replaced(const Tensor& inputs, const Tensor& updates, const NamedRows& named) {
  std::vector<std::int64_t> winner(static_cast<std::size_t>(named.rows), -1), rows, winners;
  for (std::size_t i = 0; i < named.numbers.size(); ++i)
    winner[static_cast<std::size_t>(named.numbers[i])] = static_cast<std::int64_t>(i);
  Tensor changed = Tensor::empty({named.rows, 1}, DType::Bool);
  for (std::size_t row = 0; row < winner.size(); ++row) {
    changed.pointer<bool>()[row] = winner[row] >= 0;
    winners.push_back(std::max<std::int64_t>(winner[row], 0));
  }
  if (updates.size() == 0) return K::identity(inputs);
  const Shape matrix{named.rows, named.inner};
  const Tensor spread = pick_rows("scatter_update", updates, int64_tensor(winners),
                                  {1, static_cast<std::int64_t>(named.numbers.size()), named.inner}, matrix);
  return K::reshape(K::where(changed, spread, K::reshape(inputs, matrix)), inputs.shape());
}

Tensor combined(const Tensor& inputs, const Tensor& updates, const NamedRows& named,
                const std::string& reduction) {
  const SegmentOp kind = reduction == "add"   ? SegmentOp::Sum
                         : reduction == "max" ? SegmentOp::Max
                         : reduction == "min" ? SegmentOp::Min
                                              : SegmentOp::Prod;
  const Tensor rows = K::reshape(updates, {static_cast<std::int64_t>(named.numbers.size()), named.inner});
  const Tensor change = K::reshape(
      op_helpers::reduce_segments("scatter_update", kind, rows, int64_tensor(named.numbers), named.rows),
      inputs.shape());
  if (kind == SegmentOp::Sum) return inputs + change;
  if (kind == SegmentOp::Prod) return inputs * change;
  return kind == SegmentOp::Max ? K::maximum(inputs, change) : K::minimum(inputs, change);
}

}  // namespace

Tensor scatter_update(const Tensor& inputs, const Tensor& indices, const Tensor& given,
                      const std::optional<std::string>& reduction) {
  const CalledOp called("scatter_update");
  expect_defined("scatter_update", "inputs, indices, updates", inputs, indices, given);
  if (reduction && *reduction != "add" && *reduction != "max" && *reduction != "min" && *reduction != "mul")
    fail(
        "[scatter_update] reduction must be None, \"add\", \"max\", \"min\" or \"mul\": received "
        "reduction=\"",
        *reduction, '"');
  const Tensor updates = K::as_dtype(op_helpers::together({inputs, indices, given})[2], inputs.dtype());
  expect_multi_indices("scatter_update", indices, inputs.shape());
  expect_values("scatter_update", "updates", updates, indices, inputs.shape());
  if (is_symbolic(inputs, indices, updates))
    return defer_described("scatter_update", {inputs.shape(), inputs.dtype()}, scatter_update, inputs,
                           indices, updates, reduction);
  const NamedRows named = named_rows("scatter_update", indices, inputs.shape());
  return reduction ? combined(inputs, updates, named, *reduction) : replaced(inputs, updates, named);
}

TopK top_k(const Tensor& x, std::int64_t k, bool) {
  const CalledOp called("top_k");
  const K::TopK found = K::top_k(x, k);
  return {found.values, found.indices};
}

Tensor in_top_k(const Tensor& targets, const Tensor& predictions, std::int64_t k) {
  const CalledOp called("in_top_k");
  expect_defined("in_top_k", "targets, predictions", targets, predictions);
  const bool narrow = targets.dtype().is_integer() && targets.dtype().size() < 4;
  const Tensor classes = narrow ? K::cast(targets, DType::Int32) : targets;
  const Tensor scores = op_helpers::floating("in_top_k", predictions, "predictions");
  if (targets.ndim() == 1 && predictions.ndim() == 2) return K::in_top_k(scores, classes, k);
  if (predictions.ndim() != targets.ndim() + 1 ||
      !compatible(Shape(predictions.shape().begin(), targets.ndim()), targets.shape()))
    fail("[in_top_k] predictions must have the axes of targets, then the classes: received targets=",
         targets.shape(), ", predictions=", predictions.shape());
  const Tensor flat =
      K::in_top_k(K::reshape(scores, {-1, predictions.shape()[-1]}), K::reshape(classes, {-1}), k);
  return K::reshape(flat,
                    targets.shape().count() == None ? K::ShapeLike(K::shape(targets)) : targets.shape());
}

namespace {

/// Returns `one_hot` of the indices for a function of keras.ops.
Tensor hot(const char* op, const Tensor& given, std::int64_t num_classes, int axis, DType dtype) {
  const Tensor x = given.dtype().is_integer() ? given : K::class_numbers(op, "index", given);
  if (num_classes < 0) fail("[", op, "] num_classes must be at least 0: received num_classes=", num_classes);
  expect_rank(op, x.ndim() + 1);
  axis = canonical_axis(op, axis, x.ndim() + 1);
  Shape shape = x.shape();
  shape.insert(axis, num_classes);
  check_extents(op, shape, dtype.size(), is_symbolic(x));
  check_extents(op, {num_classes}, sizeof(std::int64_t), is_symbolic(x));
  Shape classes = Shape(std::vector<std::int64_t>(static_cast<std::size_t>(x.ndim()) + 1, 1));
  classes[axis] = num_classes;
  const Tensor numbers = K::reshape(K::arange(num_classes, {.dtype = DType::Int64}), classes);
  const Tensor hits = K::equal(K::expand_dims(K::as_dtype(x, DType::Int64), axis), numbers);
  return K::cast(hits, dtype);
}

}  // namespace

Tensor one_hot(const Tensor& x, std::int64_t num_classes, int axis, const OneHotOptions& options) {
  expect_defined("one_hot", "x", x);
  return hot("one_hot", x, num_classes, axis, options.dtype.value_or(K::floatx()));
}

Tensor multi_hot(const Tensor& inputs, std::int64_t num_classes, int axis, const OneHotOptions& options) {
  const CalledOp called("multi_hot");
  expect_defined("multi_hot", "inputs", inputs);
  const Tensor encoded = hot("multi_hot", inputs, num_classes, axis, DType::Bool);
  return K::cast(K::any(encoded, inputs.ndim() > 1 ? 1 : 0), options.dtype.value_or(K::floatx()));
}

std::vector<Tensor> nonzero(const Tensor& x) {
  const CalledOp called("nonzero");
  expect_defined("nonzero", "x", x);
  if (x.ndim() == 0) fail("[nonzero] x must have rank 1 or more: received x=()");
  if (is_symbolic(x))
    return defer("nonzero",
                 std::vector<OutputInfo>(static_cast<std::size_t>(x.ndim()), {{None}, DType::Int32}), nonzero,
                 x);
  const Tensor truth = converted(x, DType::Bool);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < truth.size(); ++i)
    if (truth.pointer<bool>()[i]) places.push_back(i);
  return unravel_index(K::cast(int64_tensor(places), DType::Int32), x.shape());
}

std::vector<Tensor> where(const Tensor& condition) {
  const CalledOp called("where");
  return nonzero(condition);
}

std::vector<Tensor> unravel_index(const Tensor& indices, const Shape& shape) {
  expect_defined("unravel_index", "indices", indices);
  expect_integers("unravel_index", indices);
  check_extents("unravel_index", shape, 1);
  if (is_symbolic(indices))
    return defer_described("unravel_index",
                           std::vector<OutputInfo>(shape.size(), {indices.shape(), indices.dtype()}),
                           unravel_index, indices, shape);
  const Tensor places = checked_indices("unravel_index", indices, shape.count());
  std::vector<Tensor> out;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Tensor along = Tensor::empty(indices.shape(), DType::Int64);
    const std::int64_t inner = shape.count(axis + 1), n = shape[axis];
    for (std::int64_t i = 0; i < along.size(); ++i)
      along.pointer<std::int64_t>()[i] = places.pointer<std::int64_t>()[i] / inner % n;
    out.push_back(converted(along, indices.dtype()));
  }
  return out;
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(OneHotOptions& options, F&& field) {
  field("dtype", options.dtype);
}
}  // namespace ktape::ops

namespace ktape {
/// Reads an entry of a key.
static Index index_of(const nn::Value& entry, const std::string& what) {
  if (entry.is_null()) return NewAxis;
  if (entry == nn::Value("...")) return Ellipsis;
  if (!entry.is_config()) return entry.integer(what);
  const auto bound = [&](const char* name) {
    const nn::Value value = entry.config().get(name);
    return value.is_null() ? Slice::Bound(None) : Slice::Bound(value.integer(what));
  };
  return Slice(bound("start"), bound("stop"), bound("step"));
}
static Indices from_value(const nn::Value& key, const std::string& what, std::type_identity<Indices>) {
  std::vector<Index> entries;
  for (const nn::Value& entry : key.is_list() ? key.list() : nn::Value::List{key})
    entries.push_back(index_of(entry, what));
  return entries;
}
}  // namespace ktape

namespace ktape::nn {
namespace {

Tensor take(const OperationCall& call) {
  const Tensor indices =
      call.is_number("indices") ? backend::cast(call.tensor("indices"), "int64") : call.tensor("indices");
  return ops::take(call.tensor("x"), indices, call.value("axis").as<std::optional<int>>("[Take] axis"));
}

Tensor one_hot(const OperationCall& call) {
  if (call.flag("sparse")) fail("[OneHot] sparse must be false: received sparse=true");
  const Tensor given = call.tensor("x");
  const Tensor x = given.dtype().is_floating() ? backend::class_numbers("OneHot", "index", given) : given;
  return ops::one_hot(x, call.integer("num_classes"), call.axis(), {.dtype = call.dtype()});
}

}  // namespace

Operations numpy_indexing_operations() {
  static constexpr Operation rows[] = {
      {"GetItem", "numpy", "x, key!;", calls<ops::get_item>, "index"},
      {"Take", "numpy", "x, indices; axis=null", take, "gather take",
       "x, indices, axis=0 | x, indices, axis"},
      {"TakeAlongAxis", "numpy", "x, indices; axis=null", calls<ops::take_along_axis>},
      {"Slice", "core", "inputs, start_indices!; shape", calls<ops::slice>},
      {"SliceUpdate", "core", "inputs, start_indices!, updates;", calls<ops::slice_update>, "slice_update"},
      {"Scatter", "core", "indices, values; shape", calls<ops::scatter>, "scatter_nd scatter"},
      {"ScatterUpdate", "core", "inputs, indices, updates; reduction=null", calls<ops::scatter_update>},
      {"InTopK", "math", "targets, predictions; k", calls<ops::in_top_k>, "", "predictions, targets, k"},
      {"OneHot", "nn", "x; num_classes, axis=-1, dtype=null, sparse=false", one_hot, "", "x, num_classes"},
      {"MultiHot", "nn", "inputs; num_classes=null, axis=-1, dtype=null, sparse=false",
       calls<ops::multi_hot>},
      {"Nonzero", "numpy", "x;", calls<ops::nonzero>},
      {"UnravelIndex", "numpy", "indices; shape", calls<ops::unravel_index>},
  };
  return rows;
}

}  // namespace ktape::nn
