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
  if (elems.ndim() == 0 || elems.shape()[0] == 0)
    fail("[map_fn] there must be at least one element along axis 0: received elems=", elems.shape());
  std::vector<Tensor> results;
  for (const Tensor& x : unstack(elems)) {
    results.push_back(fn(x));
    if (options.dtype && results.back().dtype() != *options.dtype)
      fail<TypeError>("[map_fn] fn must return the dtype ", *options.dtype,
                      ": received dtype=", results.back().dtype());
  }
  return stack(results);
}

namespace {

Tensor fold(const char* op, const std::function<Tensor(const Tensor&, const Tensor&)>& fn,
            const Tensor& elems, const FoldOptions& options, bool from_last) {
  if (elems.ndim() == 0) fail("[", op, "] elems must have rank 1 or more: received elems=()");
  Tensor acc = options.initializer;
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
  return fold("foldl", fn, elems, options, false);
}

Tensor foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options) {
  return fold("foldr", fn, elems, options, true);
}

}  // namespace ktape::backend
