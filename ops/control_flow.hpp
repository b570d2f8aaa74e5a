#pragma once
#include <ktape/autograd/gradients.hpp>
#include <ktape/ops/branch.hpp>

#include <functional>
#include <optional>
#include <string>
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
/// last axis, as in TF. Throws ValueError when its rank is above theirs or the shapes do not broadcast,
/// TypeError for expressions of two dtypes. `K.switch`.
Tensor switch_(const Tensor& condition, const Branch& then_expression, const Branch& else_expression);

struct MapOptions {
  std::string name = {};            ///< accepted and not kept
  std::optional<DType> dtype = {};  ///< what `fn` returns
};

/// The results of fn for each slice of elems along axis 0, stacked. For several tensors as elems, fn takes a
/// vector with a slice of each. Throws ValueError when there is no element, the elems differ in their number
/// or the results in shape; TypeError when these differ in dtype or have another than the one given.
/// `K.map_fn`.
Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems,
              const MapOptions& options = {});
Tensor map_fn(const std::function<Tensor(const std::vector<Tensor>&)>& fn, const std::vector<Tensor>& elems,
              const MapOptions& options = {});

struct FoldOptions {
  TensorArgument initializer = {};  ///< where to start, in place of the first element met
  std::string name = {};    ///< accepted and not kept
};

/// acc = fn(acc, x) for the slices x of elems along axis 0, from the first (`K.foldl`) or from the last
/// (`K.foldr`). The result is the last acc. Throws ValueError when there is neither an element nor an
/// initializer.
Tensor foldl(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options = {});
Tensor foldr(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
             const FoldOptions& options = {});

}  // namespace ktape::backend
