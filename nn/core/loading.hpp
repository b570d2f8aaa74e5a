#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>

/// Models that files describe, while they are made. Internal: sources only.
namespace ktape::nn {

/// Limits, while the scope lives, the weights that this thread's layers add to so many elements in all: an
/// architecture out of a file is not trusted.
class weight_limit_scope {
 public:
  explicit weight_limit_scope(std::int64_t elements);
  ~weight_limit_scope();
  weight_limit_scope(const weight_limit_scope&) = delete;
  weight_limit_scope& operator=(const weight_limit_scope&) = delete;

  /// Counts a weight of a layer against the limit of this thread, if there is one. Throws ValueError for a
  /// weight that exceeds the limit.
  static void count(const std::string& layer, const std::string& weight, const Shape& shape);

 private:
  const std::int64_t outer_;
};

/// Limits weights, and spares them their initial values, which a file is about to replace: while the scope
/// lives, weights and the state of optimizers begin with one block of zeros, which all of them share and of
/// which no page takes memory, until `Variable::assign` puts the tensors of the file in its place. The scope
/// must live until that is done.
class weight_loading_scope {
 public:
  explicit weight_loading_scope(std::int64_t elements);
  ~weight_loading_scope();
  weight_loading_scope(const weight_loading_scope&) = delete;
  weight_loading_scope& operator=(const weight_loading_scope&) = delete;

  /// Returns zeros for a new weight; an undefined tensor when this thread is in no scope.
  static Tensor zeros(const Shape& shape, DType dtype);

 private:
  const weight_limit_scope limit_;
  Tensor block_;
  weight_loading_scope* const outer_;
};

}  // namespace ktape::nn
