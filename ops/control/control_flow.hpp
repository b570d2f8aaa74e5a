#pragma once
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/control/branch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Gradients, choices and loops over the slices of a tensor.
namespace ktape::backend {

/// `K.gradients`: see ktape::gradients.
///
///     Variable w = K::variable({2.f, 3.f});
///     Tensor loss = K::sum(w * w * w);
///     Tensor g = K::gradients(loss, {w})[0];
///     std::cout << g << " " << K::gradients(K::sum(g), {w})[0];
using ktape::gradients;

/// Returns x, or each of several tensors, as a constant through which no gradient flows. The result shares
/// the memory of x. `K.stop_gradient`.
///
///     Variable w = K::variable({3.f});
///     std::cout << K::gradients(K::sum(ops::stop_gradient(w) * w), {w})[0];
Tensor stop_gradient(const Tensor& variables);
std::vector<Tensor> stop_gradient(const std::vector<Tensor>& variables);

/// Returns one of two expressions, chosen by a condition of any dtype; a nonzero condition is true.
///
/// A condition of shape () runs only the chosen side. A condition of another shape chooses element by
/// element, as `where` does: a condition of rank 2 or more gets trailing axes up to the rank of the
/// expressions; a condition of rank 1 broadcasts along the last axis of the expressions, as in TF. The rank
/// of the expressions is the rank of `then_expression`, or of `else_expression` where `then_expression` is a
/// number.
///
/// Throws ValueError when the rank of the condition is above the rank of the expressions, when the shapes do
/// not broadcast, and when a callable returns no tensor. Throws TypeError for expressions of two dtypes where
/// both sides are evaluated: for a condition with axes and for a symbolic condition. `K.switch`.
///
///     Tensor x = K::constant({3.});
///     std::cout << K::switch_(
///         K::sum(x) > 0, [&] { return x * 2; }, [&] { return x; });
Tensor switch_(const TensorOrNumber& condition, const Branch& then_expression, const Branch& else_expression);

struct MapOptions {
  std::string name = {};            ///< accepted and not stored
  std::optional<DType> dtype = {};  ///< the dtype of the results of `fn`
};

namespace detail {
using MappedFunction = std::function<Tensor(const std::vector<Tensor>&)>;
Tensor map_fn(const MappedFunction& fn, const std::vector<Tensor>& elems, const MapOptions& options);

/// True for a callable that takes a vector of tensors but no single tensor. False for a generic lambda, whose
/// parameter takes either.
template <class F>
constexpr bool takes_vector_only = [] {
  if constexpr (requires { &F::operator(); })
    return std::is_invocable_v<F&, const std::vector<Tensor>&> && !std::is_invocable_v<F&, const Tensor&>;
  else return false;
}();
}  // namespace detail

/// Applies fn to each slice of elems along axis 0 and returns the results, stacked. For several tensors in
/// elems, fn takes a vector with one slice of each tensor; fn may be generic. Throws ValueError when elems
/// has no slice, when the tensors of elems differ in their number of slices, when the results differ in
/// shape, and when fn returns no tensor. Throws TypeError when the results differ in dtype or do not have the
/// given dtype. `K.map_fn`.
///
///     Tensor x = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << K::map_fn([](const Tensor& row) { return K::sum(row); }, x) << "\n"
///               << K::map_fn([](const Tensor& row) { return K::argmax(row); }, x,
///                            {.dtype = "int64"});
template <class F>
Tensor map_fn(F fn, const Tensor& elems, const MapOptions& options = {}) {
  if constexpr (detail::takes_vector_only<F>) return detail::map_fn(std::move(fn), {elems}, options);
  else {
    const std::function<Tensor(const Tensor&)> one = std::move(fn);
    return detail::map_fn([one](const std::vector<Tensor>& x) { return one(x[0]); }, {elems}, options);
  }
}
template <class F>
Tensor map_fn(F fn, const std::vector<Tensor>& elems, const MapOptions& options = {}) {
  return detail::map_fn(std::move(fn), elems, options);
}

struct FoldOptions {
  TensorArgument initializer = {};  ///< the first acc; by default the first slice in the order of the fold
  std::string name = {};            ///< accepted and not stored
};

/// Computes acc = fn(acc, x) for the slices x of elems along axis 0, from the first slice (`K.foldl`) or from
/// the last slice (`K.foldr`), and returns the last acc. Throws ValueError when there is neither a slice nor
/// an initializer, and when fn returns no tensor.
///
///     auto subtract = [](const Tensor& a, const Tensor& b) { return a - b; };
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << K::foldl(subtract, x) << " " << K::foldr(subtract, x) << "\n"
///               << K::foldl(subtract, x, {.initializer = K::constant(10.)});
Tensor foldl(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options = {});
Tensor foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options = {});

}  // namespace ktape::backend
