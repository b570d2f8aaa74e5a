#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/graph/trace.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::backend {

Tensor stop_gradient(const Tensor& variables) {
  expect_defined("stop_gradient", "variables", variables);
  return variables.detach();
}

std::vector<Tensor> stop_gradient(const std::vector<Tensor>& variables) {
  expect_defined("stop_gradient", "variables", variables);
  std::vector<Tensor> out;
  for (const Tensor& x : variables) out.push_back(x.detach());
  return out;
}

namespace {

/// Returns the condition's shape with trailing axes up to the rank of the first expression, as in TF.
Shape condition_shape(const Tensor& condition, const Shape& x, const Shape& y) {
  const int rank = x.rank();
  if (condition.ndim() > rank)
    fail("[switch] the rank of the condition must not be above that of the expressions: received condition=",
         condition.shape(), ", then_expression=", x, ", else_expression=", y);
  Shape shape = condition.shape();
  while (condition.ndim() > 1 && shape.rank() < rank) shape.push_back(1);
  return shape;
}

/// Returns the shape that condition and expressions broadcast to.
Shape expect_one_shape(const Shape& condition, const Shape& x, const Shape& y) {
  const Shape shape = broadcast_shapes("switch", x, y, "then_expression", "else_expression");
  return broadcast_shapes("switch", condition, shape, "condition", "expressions");
}

/// Defers the choice as one op.
Tensor switch_later(const Tensor& condition, const Branch& then_expression, const Branch& else_expression) {
  const Trace taken = then_expression.trace("switch"), otherwise = else_expression.trace("switch");
  const OutputInfo &x = taken.results[0], &y = otherwise.results[0];
  OutputInfo result = either("switch", x, condition.ndim() == 0 ? y : OutputInfo{x.shape, y.dtype});
  if (condition.ndim() > 0)
    result.shape = expect_one_shape(condition_shape(condition, x.shape, y.shape), x.shape, y.shape);
  return defer_capturing("switch", {result}, joined(taken.captured, otherwise.captured), switch_,
                         WithoutGradient{condition}, then_expression, else_expression)[0];
}

}  // namespace

Tensor switch_(const TensorOrNumber& chosen, const Branch& then_expression, const Branch& else_expression) {
  const Tensor& condition = chosen.tensor("switch", DType::Bool);
  expect_defined("switch", "condition", condition);
  then_expression.expect_defined("switch", "then_expression");
  else_expression.expect_defined("switch", "else_expression");
  // The first expression determines the rank, and a number has none: the sides are exchanged.
  if (condition.ndim() > 0 && then_expression.number() && !else_expression.number())
    return switch_(equal(condition, 0), else_expression, then_expression);
  if (then_expression.number() || else_expression.number())
    return switch_(condition, then_expression.beside("switch", else_expression),
                   else_expression.beside("switch", then_expression));
  if (is_symbolic(condition, then_expression.value(), else_expression.value()))
    return switch_later(condition, then_expression, else_expression);
  const auto then = [&] { return returned("switch", "then_expression", then_expression()); };
  const auto otherwise = [&] { return returned("switch", "else_expression", else_expression()); };
  if (condition.ndim() == 0) return condition.item<bool>() ? then() : otherwise();
  const Tensor x = then(), y = otherwise();
  if (x.dtype() != y.dtype())
    fail<TypeError>("[switch] the expressions must have one dtype: received then_expression=", x.dtype(),
                    ", else_expression=", y.dtype());
  const Shape shape = condition_shape(condition, x.shape(), y.shape());
  expect_one_shape(shape, x.shape(), y.shape());
  return where(reshape(condition, shape), x, y);
}

namespace {

/// Returns shape and dtype of an element along axis 0.
OutputInfo element_of(const Tensor& x) {
  OutputInfo info = info_of(x);
  info.shape.erase(0);
  return info;
}

void expect_dtype(const MapOptions& options, DType dtype) {
  if (options.dtype && dtype != *options.dtype)
    fail<TypeError>("[map_fn] fn must return the dtype ", *options.dtype, ": received dtype=", dtype);
}

/// Defers the map as one op.
Tensor map_later(const detail::MappedFunction& fn, const std::vector<Tensor>& elems,
                 const MapOptions& options) {
  std::vector<OutputInfo> elements;
  std::int64_t n = None;
  for (const Tensor& x : elems) elements.push_back(element_of(x)), n = merged(n, x.shape()[0]);
  Trace one = trace("map_fn", elements, [&](const auto& x) { return std::vector{fn(x)}; });
  expect_dtype(options, one.results[0].dtype);
  one.results[0].shape.insert(0, n);
  const auto run = [](const detail::MappedFunction& fn, const std::vector<Tensor>& elems,
                      const MapOptions& options) { return detail::map_fn(fn, elems, options); };
  return defer_capturing("map_fn", one.results, one.captured, run, fn, elems, options)[0];
}

}  // namespace

Tensor detail::map_fn(const MappedFunction& fn, const std::vector<Tensor>& elems, const MapOptions& options) {
  if (elems.empty()) fail("[map_fn] there must be at least one tensor: received none");
  if (elems.size() > 1) expect_defined("map_fn", "elems", elems);
  else expect_defined("map_fn", "elems", elems[0]);
  for (const Tensor& x : elems) {
    if (x.ndim() == 0 || x.shape()[0] == 0)
      fail("[map_fn] there must be at least one element along axis 0: received elems=", x.shape());
    if (!compatible(x.shape()[0], elems[0].shape()[0]))
      fail("[map_fn] the tensors must agree along axis 0: received ", elems[0].shape(), " and ", x.shape());
  }
  if (is_symbolic(elems)) return map_later(fn, elems, options);
  std::vector<std::vector<Tensor>> slices;
  for (const Tensor& x : elems) slices.push_back(unstack(x));
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < slices[0].size(); ++i) {
    std::vector<Tensor> x;
    for (const auto& slice : slices) x.push_back(slice[i]);
    results.push_back(returned("map_fn", "fn", fn(x)));
    expect_dtype(options, results.back().dtype());
  }
  return stack(results);
}

namespace {

using FoldFunction = std::function<Tensor(const Tensor&, const Tensor&)>;

bool operator==(const OutputInfo& a, const OutputInfo& b) { return a.dtype == b.dtype && a.shape == b.shape; }

Tensor fold(const char* op, const FoldFunction& fn, const Tensor& elems, const Tensor& initializer,
            bool from_last);

/// Defers the fold as one op. The shape of the accumulated value is followed through the steps; for an
/// unknown number of steps, until the shape does not change any more.
Tensor fold_later(const char* op, const FoldFunction& fn, const Tensor& elems, const Tensor& initializer,
                  bool from_last) {
  const OutputInfo element = element_of(elems);
  const std::int64_t n = elems.shape()[0];
  Trace acc{{initializer.defined() ? info_of(initializer) : element}};
  for (std::int64_t step = initializer.defined() ? 0 : 1; n == None || step < n; ++step) {
    Trace next = trace(op, {acc.results[0], element},
                       [&](const std::vector<Tensor>& x) { return std::vector{fn(x[0], x[1])}; });
    if (n == None) next.results[0] = either(op, acc.results[0], next.results[0]);
    std::swap(acc, next);
    if (acc.results[0] == next.results[0]) break;
  }
  return defer_capturing(op, acc.results, acc.captured, fold, op, fn, elems, initializer, from_last)[0];
}

Tensor fold(const char* op, const FoldFunction& fn, const Tensor& elems, const Tensor& initializer,
            bool from_last) {
  if (elems.ndim() == 0) fail("[", op, "] elems must have rank 1 or more: received elems=()");
  if (!initializer.defined() && elems.shape()[0] == 0)
    fail("[", op, "] without an initializer there must be an element: received elems=", elems.shape());
  if (is_symbolic(elems, initializer)) return fold_later(op, fn, elems, initializer, from_last);
  Tensor acc = initializer;
  std::vector<Tensor> slices = unstack(elems);
  if (from_last) std::reverse(slices.begin(), slices.end());
  for (const Tensor& x : slices) acc = acc.defined() ? returned(op, "fn", fn(acc, x)) : x;
  return acc;
}

}  // namespace

Tensor foldl(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options) {
  expect_defined("foldl", "elems", elems);
  return fold("foldl", fn, elems, options.initializer, false);
}

Tensor foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options) {
  expect_defined("foldr", "elems", elems);
  return fold("foldr", fn, elems, options.initializer, true);
}

}  // namespace ktape::backend

namespace ktape::nn {

Operations control_flow_operations() {
  static constexpr Operation rows[] = {
      {"StopGradient", "core", "variable;",
       [](const OperationCall& call) { return backend::stop_gradient(call.tensor("variable")); }},
  };
  return rows;
}

}  // namespace ktape::nn
