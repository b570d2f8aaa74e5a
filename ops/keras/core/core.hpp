#pragma once
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/inspection.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

/// Loops, choices and derivatives of keras.ops. Callables run at once; gradients flow through their results. A symbolic tensor
/// among the arguments makes the steps of a loop symbolic, for which the number of steps must be known (ValueError).
///
///     auto [last, steps] = ops::scan([](const Tensor& c, const Tensor& x) { return std::pair{c + x, c * x}; }, init, xs);
///     Tensor matrix = ops::jacobian([](const Tensor& x) { return x * x; }, x);
///     ops::cast(x, "int32"), ops::dtype(x), ops::is_tensor(x), ops::stop_gradient(x);
///     ops::cond(ops::sum(x) > 0, x, -x), ops::map([](const Tensor& row) { return ops::sum(row); }, xs);
///     ops::switch_(1, {[](const std::vector<Tensor>& v) { return v[0]; }}, {x});
///     ops::vectorized_map([](const Tensor& row) { return row * row; }, xs);
///     ops::fori_loop(0, 3, [](std::int64_t i, const Tensor& v) { return v * double(i); }, x);
///     ops::while_loop([](const ops::LoopVariables& v) { return v[0] < 3; },
///                     [](const ops::LoopVariables& v) { return ops::LoopVariables{v[0] + 1}; }, {x});
///     ops::associative_scan([](const Tensor& a, const Tensor& b) { return a + b; }, xs);
///     ops::jvp([](const Tensor& v) { return ops::sin(v); }, x, ops::ones_like(x)).second;
///     ops::vjp([](const Tensor& v) { return ops::sin(v); }, x).second(ops::ones_like(x));
///     ops::hessian([](const Tensor& v) { return ops::sum(v * v * v); }, x);
///     ops::custom_gradient([](const Tensor& v) { return std::pair{v, [](const Tensor& g) { return g * 2; }}; });
namespace ktape::ops {

/// Functions of K that keras.ops has, too.
///
///     Tensor x = ops::cast(K::constant({1.7, -1.7}), "int32");
///     std::cout << x << " " << ops::dtype(x) << " " << ops::is_tensor(x);
using backend::cast, backend::dtype, backend::is_tensor, backend::stop_gradient;
using ktape::custom_gradient;

/// Returns the result of one of two branches, chosen by a condition: see `K::switch_`.
///
///     Tensor x = K::constant({3.});
///     std::cout << ops::cond(
///         ops::sum(x) > 0, [&] { return x * 2; }, [&] { return x; });
Tensor cond(const TensorOrNumber& pred, const backend::Branch& true_fn, const backend::Branch& false_fn);
/// Returns branches[index](operands), with the index limited to the branches. Throws ValueError without branches.
///
///     std::cout << ops::switch_(
///         1,
///         {[](const auto& x) { return x[0]; }, [](const auto& x) { return x[0] * 10; }},
///         {K::constant({3.})});
Tensor switch_(std::int64_t index,
               const std::vector<std::function<Tensor(const std::vector<Tensor>&)>>& branches,
               const std::vector<Tensor>& operands = {});
/// Returns f of each slice of xs along axis 0, stacked. `vectorized_map` is `map`.
///
///     Tensor x = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << ops::map([](const Tensor& row) { return ops::sum(row); }, x) << " ";
///     std::cout << ops::vectorized_map([](const Tensor& row) { return row * 2; }, x);
Tensor map(const std::function<Tensor(const Tensor&)>& f, const Tensor& xs);
Tensor vectorized_map(const std::function<Tensor(const Tensor&)>& function, const Tensor& elements);

/// The tensors that one round of a loop hands to the next.
using LoopVariables = std::vector<Tensor>;

/// Returns the loop variables after the body was applied to them as long as the condition (a tensor of one element) is true, at
/// most `maximum_iterations` times.
///
///     auto result = ops::while_loop(
///         [](const ops::LoopVariables& v) { return v[0] < 100; },
///         [](const ops::LoopVariables& v) { return ops::LoopVariables{v[0] * 3}; },
///         {K::constant(1.)});
///     std::cout << result[0];
LoopVariables while_loop(const std::function<Tensor(const LoopVariables&)>& cond,
                         const std::function<LoopVariables(const LoopVariables&)>& body,
                         LoopVariables loop_vars, std::optional<std::int64_t> maximum_iterations = {});
/// Returns the value after value = body(i, value) for lower <= i < upper.
///
///     std::cout << ops::fori_loop(
///         0, 4, [](std::int64_t i, const Tensor& x) { return x + i; }, K::constant(0.));
Tensor fori_loop(std::int64_t lower, std::int64_t upper,
                 const std::function<Tensor(std::int64_t, const Tensor&)>& body_fun, const Tensor& init_val);

/// Options of `scan`.
///
///     auto [last, sums] = ops::scan(
///         [](const Tensor& sum, const Tensor& x) {
///           return std::pair{sum + x, sum + x};
///         },
///         K::constant(0.), K::constant({1., 2., 3.}), {.reverse = true});
///     std::cout << sums;
struct ScanOptions {
  std::optional<std::int64_t> length = {};  ///< the number of steps; required without xs
  bool reverse = false;                     ///< runs from the last slice to the first
};

/// Computes (carry, y) = f(carry, x) for the slices x of xs along axis 0, from carry = init, and returns the last carry and the
/// ys, stacked in the order of xs. Without xs, x is undefined. Throws ValueError for no step and for a length other than that of xs.
///
///     auto [last, sums] = ops::scan(
///         [](const Tensor& sum, const Tensor& x) {
///           return std::pair{sum + x, sum + x};
///         },
///         K::constant(0.), K::constant({1., 2., 3.}));
///     std::cout << last << " " << sums;
std::pair<Tensor, Tensor> scan(
    const std::function<std::pair<Tensor, Tensor>(const Tensor& carry, const Tensor& x)>& f,
    const Tensor& init, const Tensor& xs = {}, const ScanOptions& options = {});

/// Options of `associative_scan`.
///
///     auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
///     std::cout << ops::associative_scan(add, K::constant({1., 2., 3.}),
///                                        {.reverse = true});
struct AssociativeScanOptions {
  bool reverse = false;
  int axis = 0;
};

/// Returns elems[0], f(elems[0], elems[1]), ... along the axis for an associative f, which combines blocks of elements, in as many
/// rounds as the length has binary digits. Several tensors are scanned together.
///
///     auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
///     std::cout << ops::associative_scan(add, K::constant({1., 2., 3.}));
std::vector<Tensor> associative_scan(
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& a, const std::vector<Tensor>& b)>& f,
    const std::vector<Tensor>& elems, const AssociativeScanOptions& options = {});
Tensor associative_scan(const std::function<Tensor(const Tensor& a, const Tensor& b)>& f, const Tensor& elems,
                        const AssociativeScanOptions& options = {});

/// A function of one tensor, for `jacobian` and its siblings.
///
///     ops::Function square = [](const Tensor& x) { return x * x; };
///     std::cout << ops::jacobian(square, K::constant({1., 2.}));
using Function = std::function<Tensor(const Tensor&)>;

/// Returns f(x), and the product of the jacobian and the tangent (`jvp`), or a function that maps a cotangent, of the shape of f(x), to
/// its product with the jacobian (`vjp`). x is floating. The results are not recorded.
///
///     auto [y, dy] = ops::jvp([](const Tensor& x) { return x * x; }, K::constant({3.}),
///                             K::constant({1.}));
///     std::cout << y << " " << dy << "\n";
///     auto [z, pull] =
///         ops::vjp([](const Tensor& x) { return x * x; }, K::constant({3.}));
///     std::cout << z << " " << pull(K::constant({1.}));
std::pair<Tensor, Tensor> jvp(const Function& f, const Tensor& primal, const Tensor& tangent);
std::pair<Tensor, Function> vjp(const Function& f, const Tensor& primal);
/// Returns the derivatives of each element of f(x) with respect to each element of x, or the second derivatives of a scalar f(x) (ValueError
/// otherwise).
///
///     Tensor x = K::constant({1., 2.});
///     std::cout << ops::jacobian([](const Tensor& x) { return x * x; }, x) << "\n";
///     std::cout << ops::hessian([](const Tensor& x) { return ops::sum(x * x * x); }, x);
Tensor jacobian(const Function& f, const Tensor& x);
Tensor hessian(const Function& f, const Tensor& x);

}  // namespace ktape::ops
