#include <ktape/autograd/symbolic.hpp>
#include <ktape/ops/control_flow.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::backend {

Tensor stop_gradient(const Tensor& variables) { return variables.detach(); }

std::vector<Tensor> stop_gradient(const std::vector<Tensor>& variables) {
  std::vector<Tensor> out;
  for (const Tensor& x : variables) out.push_back(x.detach());
  return out;
}

Tensor switch_(const Tensor& condition, const Branch& then_expression, const Branch& else_expression) {
  if (is_symbolic(condition, then_expression.value(), else_expression.value()))
    return defer("switch", switch_, condition, then_expression, else_expression);
  if (condition.ndim() == 0) return condition.item<bool>() ? then_expression() : else_expression();
  const Tensor x = then_expression(), y = else_expression();
  const int rank = std::max(x.ndim(), y.ndim());
  if (condition.ndim() > rank)
    fail("[switch] the rank of the condition must not be above that of the expressions: received condition=",
         condition.shape(), ", then_expression=", x.shape(), ", else_expression=", y.shape());
  Shape shape = condition.shape();
  while (condition.ndim() > 1 && shape.rank() < rank) shape.push_back(1);
  return where(reshape(condition, shape), x, y);
}

Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems,
              const MapOptions& options) {
  return map_fn([fn](const std::vector<Tensor>& x) { return fn(x[0]); }, std::vector{elems}, options);
}

Tensor map_fn(const std::function<Tensor(const std::vector<Tensor>&)>& fn, const std::vector<Tensor>& elems,
              const MapOptions& options) {
  if (elems.empty()) fail("[map_fn] there must be at least one tensor: received none");
  if (is_symbolic(elems))
    return defer(
        "map_fn", [](const auto&... a) { return map_fn(a...); }, fn, elems, options);
  std::vector<std::vector<Tensor>> slices;
  for (const Tensor& x : elems) {
    if (x.ndim() == 0 || x.shape()[0] == 0)
      fail("[map_fn] there must be at least one element along axis 0: received elems=", x.shape());
    if (x.shape()[0] != elems[0].shape()[0])
      fail("[map_fn] the tensors must agree along axis 0: received ", elems[0].shape(), " and ", x.shape());
    slices.push_back(unstack(x));
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < slices[0].size(); ++i) {
    std::vector<Tensor> x;
    for (const auto& slice : slices) x.push_back(slice[i]);
    results.push_back(fn(x));
    if (options.dtype && results.back().dtype() != *options.dtype)
      fail<TypeError>("[map_fn] fn must return the dtype ", *options.dtype,
                      ": received dtype=", results.back().dtype());
  }
  return stack(results);
}

namespace {

Tensor fold(const char* op, const std::function<Tensor(const Tensor&, const Tensor&)>& fn,
            const Tensor& elems, const Tensor& initializer, bool from_last) {
  if (is_symbolic(elems, initializer)) return defer(op, fold, op, fn, elems, initializer, from_last);
  if (elems.ndim() == 0) fail("[", op, "] elems must have rank 1 or more: received elems=()");
  Tensor acc = initializer;
  if (!acc.defined() && elems.shape()[0] == 0)
    fail("[", op, "] without an initializer there must be an element: received elems=", elems.shape());
  std::vector<Tensor> slices = unstack(elems);
  if (from_last) std::reverse(slices.begin(), slices.end());
  for (const Tensor& x : slices) acc = acc.defined() ? fn(acc, x) : x;
  return acc;
}

}  // namespace

Tensor foldl(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options) {
  return fold("foldl", fn, elems, options.initializer, false);
}

Tensor foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options) {
  return fold("foldr", fn, elems, options.initializer, true);
}

}  // namespace ktape::backend
