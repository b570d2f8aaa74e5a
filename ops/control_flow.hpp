#pragma once
#include <ktape/autograd/gradients.hpp>
#include <ktape/ops/branch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Gradients, choices and loops over the elements of a tensor.
namespace ktape::backend {

/// `K.gradients`: see ktape::gradients.
using ktape::gradients;

/// x, or each of several tensors, as a constant: no gradient flows back. Shares x's memory.
/// `K.stop_gradient`.
Tensor stop_gradient(const Tensor& variables);
std::vector<Tensor> stop_gradient(const std::vector<Tensor>& variables);

/// One of two expressions, by a condition of any dtype, where what is not zero is true.
///
/// A condition of shape () runs the chosen side alone. Another picks element by element, as `where`: of rank
/// 2 or more it gets trailing axes up to the rank of the expressions; of rank 1 it broadcasts along their
/// last axis, as in TF. The rank that counts is that of `then_expression`, or of the other where it is a
/// number. Throws ValueError when the condition's is above it, the shapes do not broadcast or a callable
/// returns no tensor, TypeError for expressions of two dtypes where both are looked at: for a condition with
/// a shape, and for one that is symbolic. `K.switch`.
Tensor switch_(const TensorOrNumber& condition, const Branch& then_expression, const Branch& else_expression);

struct MapOptions {
  std::string name = {};            ///< accepted and not kept
  std::optional<DType> dtype = {};  ///< what `fn` returns
};

namespace detail {
using MappedFunction = std::function<Tensor(const std::vector<Tensor>&)>;
Tensor map_fn(const MappedFunction& fn, const std::vector<Tensor>& elems, const MapOptions& options);

/// Of a callable whose parameter is known; that of a generic lambda is what it is given.
template <class F>
constexpr bool takes_vector_only = [] {
  if constexpr (requires { &F::operator(); })
    return std::is_invocable_v<F&, const std::vector<Tensor>&> && !std::is_invocable_v<F&, const Tensor&>;
  else return false;
}();
}  // namespace detail

/// The results of fn for each slice of elems along axis 0, stacked. For several tensors as elems, fn takes a
/// vector with a slice of each; fn may be generic. Throws ValueError when there is no element, the elems
/// differ in their number or the results in shape, or fn returns no tensor; TypeError when these differ in
/// dtype or have another than the one given. `K.map_fn`.
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
  TensorArgument initializer = {};  ///< where to start, in place of the first element met
  std::string name = {};            ///< accepted and not kept
};

/// acc = fn(acc, x) for the slices x of elems along axis 0, from the first (`K.foldl`) or from the last
/// (`K.foldr`). The result is the last acc. Throws ValueError when there is neither an element nor an
/// initializer, or fn returns no tensor.
Tensor foldl(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options = {});
Tensor foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options = {});

}  // namespace ktape::backend
