#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/core/core.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::ops {

namespace K = backend;

Tensor cond(const TensorOrNumber& pred, const K::Branch& true_fn, const K::Branch& false_fn) {
  return K::switch_(pred, true_fn, false_fn);
}

Tensor switch_(std::int64_t index,
               const std::vector<std::function<Tensor(const std::vector<Tensor>&)>>& branches,
               const std::vector<Tensor>& operands) {
  if (branches.empty()) fail("[switch] there must be a branch: received branches=[]");
  const auto last = static_cast<std::int64_t>(branches.size()) - 1;
  return branches[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last))](operands);
}

Tensor map(const std::function<Tensor(const Tensor&)>& f, const Tensor& xs) { return K::map_fn(f, xs); }
Tensor vectorized_map(const std::function<Tensor(const Tensor&)>& function, const Tensor& elements) {
  return K::map_fn(function, elements);
}

LoopVariables while_loop(const std::function<Tensor(const LoopVariables&)>& cond,
                         const std::function<LoopVariables(const LoopVariables&)>& body,
                         LoopVariables loop_vars, std::optional<std::int64_t> maximum_iterations) {
  for (std::int64_t i = 0; !maximum_iterations || i < *maximum_iterations; ++i) {
    const Tensor go_on = cond(loop_vars);
    expect_defined("while_loop", "the result of cond", go_on);
    expect_value("while_loop", go_on);
    if (!go_on.item<bool>()) break;
    loop_vars = body(loop_vars);
  }
  return loop_vars;
}

Tensor fori_loop(std::int64_t lower, std::int64_t upper,
                 const std::function<Tensor(std::int64_t, const Tensor&)>& body_fun, const Tensor& init_val) {
  Tensor value = init_val;
  for (std::int64_t i = lower; i < upper; ++i) value = body_fun(i, value);
  return value;
}

std::pair<Tensor, Tensor> scan(
    const std::function<std::pair<Tensor, Tensor>(const Tensor&, const Tensor&)>& f, const Tensor& init,
    const Tensor& xs, const ScanOptions& options) {
  expect_defined("scan", "init", init);
  if (xs.defined() && xs.ndim() == 0) fail("[scan] xs must have rank 1 or more: received xs=()");
  const std::int64_t steps = xs.defined() ? xs.shape()[0] : options.length.value_or(0);
  if (steps < 1) fail("[scan] the number of steps must be known and at least 1: received ", steps);
  if (options.length && *options.length != steps)
    fail("[scan] length must be the number of slices, ", steps, ": received length=", *options.length);
  Tensor carry = init;
  std::vector<Tensor> ys;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t at = options.reverse ? steps - 1 - i : i;
    auto [next, y] = f(carry, xs.defined() ? xs[at] : Tensor());
    carry = next;
    ys.push_back(y);
  }
  if (options.reverse) std::reverse(ys.begin(), ys.end());
  return {carry, ys[0].defined() ? K::stack(ys, 0) : Tensor()};
}

namespace {

std::vector<Tensor> parts(const std::vector<Tensor>& xs, int axis, Slice::Bound begin, Slice::Bound end) {
  std::vector<Index> index(static_cast<std::size_t>(axis), All);
  index.push_back(Slice(begin, end));
  std::vector<Tensor> out;
  for (const Tensor& x : xs) out.push_back(K::index(x, Indices(index)));
  return out;
}

}  // namespace

std::vector<Tensor> associative_scan(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&, const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& elems, const AssociativeScanOptions& options) {
  expect_defined("associative_scan", "elems", elems);
  if (elems.empty()) fail("[associative_scan] elems must hold a tensor: received elems=[]");
  const int axis = canonical_axis("associative_scan", options.axis, elems[0].ndim());
  const std::int64_t n = elems[0].shape()[axis];
  std::vector<Tensor> out = elems;
  for (Tensor& x : out) {
    if (axis >= x.ndim() || x.shape()[axis] != n || n == None)
      fail("[associative_scan] all tensors must have one known extent along the axis: received ", x.shape());
    if (options.reverse) x = K::reverse(x, axis);
  }
  for (std::int64_t reach = 1; reach < n; reach *= 2) {
    const std::vector<Tensor> head = parts(out, axis, 0, reach),
                              tail = f(parts(out, axis, 0, n - reach), parts(out, axis, reach, None));
    if (tail.size() != out.size())
      fail("[associative_scan] f must return as many tensors as elems holds, ", out.size(), ": received ",
           tail.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = K::concatenate({head[i], tail[i]}, axis);
  }
  if (options.reverse)
    for (Tensor& x : out) x = K::reverse(x, axis);
  return out;
}

Tensor associative_scan(const std::function<Tensor(const Tensor&, const Tensor&)>& f, const Tensor& elems,
                        const AssociativeScanOptions& options) {
  const auto single = [&](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::vector{f(a[0], b[0])};
  };
  return associative_scan(single, std::vector<Tensor>{elems}, options)[0];
}

std::pair<Tensor, Function> vjp(const Function& f, const Tensor& primal) {
  expect_defined("vjp", "primal", primal);
  const Variable x(primal);
  const Tensor y = f(x.value());
  return {y.detach(), [x, y](const Tensor& cotangent) {
            const Tensor g = gradients(y, {x}, {cotangent})[0];
            return g.defined() ? g : K::zeros_like(x.value());
          }};
}

std::pair<Tensor, Tensor> jvp(const Function& f, const Tensor& primal, const Tensor& tangent) {
  expect_defined("jvp", "primal, tangent", primal, tangent);
  if (primal.shape() != tangent.shape())
    fail("[jvp] the tangent must have the shape ", primal.shape(), ": received tangent=", tangent.shape());
  const Variable x(primal);
  const Tensor y = f(x.value());
  // The gradient is linear in the cotangent; its derivative with respect to the cotangent is the jacobian.
  const Variable cotangent(K::zeros_like(y.detach()));
  const Tensor g = gradients(y, {x}, {cotangent.value()})[0];
  if (!g.defined()) return {y.detach(), K::zeros_like(y.detach())};
  const Tensor product = gradients(g, {cotangent}, {tangent})[0];
  return {y.detach(), product.defined() ? product : K::zeros_like(y.detach())};
}

Tensor jacobian(const Function& f, const Tensor& x) {
  expect_defined("jacobian", "x", x);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x), found = tape.jacobian(y, x);
  if (found.defined()) return found;
  Shape shape = y.shape();
  for (const std::int64_t extent : x.shape()) shape.push_back(extent);
  return K::zeros(shape, {.dtype = y.dtype()});
}

Tensor hessian(const Function& f, const Tensor& x) {
  return jacobian(
      [&](const Tensor& x) {
        const Tensor y = f(x);
        if (y.size() != 1) fail("[hessian] f must return one number: received a result of shape ", y.shape());
        const Tensor g = gradients(y, {x})[0];
        return g.defined() ? g : K::zeros_like(x);
      },
      x);
}

}  // namespace ktape::ops
