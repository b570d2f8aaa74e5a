#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>

/// Scopes for making models from files. Internal: sources only.
namespace ktape::nn {

/// A scope that limits the total number of elements of the weights that layers add on this thread, because an
/// architecture from a file is not trusted.
class weight_limit_scope {
 public:
  explicit weight_limit_scope(std::int64_t elements);
  ~weight_limit_scope();
  weight_limit_scope(const weight_limit_scope&) = delete;
  weight_limit_scope& operator=(const weight_limit_scope&) = delete;

  /// Subtracts the elements of a layer's weight from the limit of this thread, if there is a limit. Throws
  /// ValueError for a weight that exceeds the limit.
  static void count(const std::string& layer, const std::string& weight, const Shape& shape);

 private:
  const std::int64_t outer_;
};

/// A scope that limits the weights as weight_limit_scope does, and skips the initialization of weights that a
/// file is about to replace. While the scope lives, new weights and the state of optimizers share a single
/// block of zeros, whose pages take no memory, until `Variable::assign` sets the tensors of the file. The
/// scope must live until all of these tensors are set.
class weight_loading_scope {
 public:
  explicit weight_loading_scope(std::int64_t elements);
  ~weight_loading_scope();
  weight_loading_scope(const weight_loading_scope&) = delete;
  weight_loading_scope& operator=(const weight_loading_scope&) = delete;

  /// Returns zeros for a new weight; an undefined tensor if this thread is in no scope.
  static Tensor zeros(const Shape& shape, DType dtype);

 private:
  const weight_limit_scope limit_;
  Tensor block_;
  weight_loading_scope* const outer_;
};

}  // namespace ktape::nn
