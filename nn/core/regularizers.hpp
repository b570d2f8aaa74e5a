#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/object.hpp>

#include <string>

namespace ktape::nn {

/// The class behind a Regularizer.
class RegularizerImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "regularizer";
};

/// A penalty on a weight or on an output, which joins the loss: a scalar for a tensor. By name ("l2"), as an
/// object, or any callable.
class Regularizer : public FunctionHandle<RegularizerImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  Tensor operator()(const Tensor& x) const { return impl().call(x); }
};

/// A regularizer class of the user's.
template <class Implementation>
using RegularizerOf = HandleOf<Regularizer, Implementation>;

struct L1Options {
  double l1 = 0.01;
};
/// l1 * sum(|x|). Throws ValueError, as do the others, for a factor that is negative or not finite.
class L1 : public Regularizer {
 public:
  L1(const L1Options& options = {});
  explicit L1(double l1) : L1(L1Options{l1}) {}
};

struct L2Options {
  double l2 = 0.01;
};
/// l2 * sum(x^2).
class L2 : public Regularizer {
 public:
  L2(const L2Options& options = {});
  explicit L2(double l2) : L2(L2Options{l2}) {}
};

struct L1L2Options {
  double l1 = 0, l2 = 0;
};
/// l1 * sum(|x|) + l2 * sum(x^2).
class L1L2 : public Regularizer {
 public:
  L1L2(const L1L2Options& options = {});
};

struct OrthogonalRegularizerOptions {
  double factor = 0.01;
  std::string mode = "rows";  ///< or "columns"
};
/// factor times the mean over all pairs of rows (or columns) of a matrix of |cos| of the angle between them.
/// Throws ValueError for another mode, and for tensors that are no matrices.
class OrthogonalRegularizer : public Regularizer {
 public:
  OrthogonalRegularizer(const OrthogonalRegularizerOptions& options = {});
};

/// Keras's other names: `nn::regularizers::l2(0.01)`.
namespace regularizers {
using nn::L1, nn::L1L2, nn::L2, nn::OrthogonalRegularizer;
using l1 = L1;
using l1_l2 = L1L2;
using l2 = L2;
using orthogonal_regularizer = OrthogonalRegularizer;
}  // namespace regularizers

}  // namespace ktape::nn
