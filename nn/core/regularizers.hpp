#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/object.hpp>

#include <string>

namespace ktape::nn {

/// The base class of regularizers.
///
///     struct SmallImpl : nn::RegularizerImpl {
///       std::string class_name() const override { return "Small"; }
///       Tensor call(const Tensor& x) const override { return K::max(K::abs(x)); }
///     };
///     std::cout << nn::RegularizerOf<SmallImpl>()(K::constant({1., -3.}));
class RegularizerImpl : public FunctionObject<Tensor, const Tensor&> {
 public:
  static constexpr const char* kind = "regularizer";
};

/// A regularizer computes a penalty, a scalar, from a weight or an output; the penalty is added to the loss.
/// A layer accepts a name ("l2"), an object, or any callable of a tensor.
///
///     nn::Regularizer penalty = "l2";
///     std::cout << penalty(K::constant({{1., -2.}}));
class Regularizer : public FunctionHandle<RegularizerImpl> {
 public:
  using FunctionHandle::FunctionHandle;
  Tensor operator()(const Tensor& x) const { return impl().call(x); }
};

/// A handle to a regularizer class of a user.
template <class Implementation>
using RegularizerOf = HandleOf<Regularizer, Implementation>;

struct L1Options {
  double l1 = 0.01;
};
/// The penalty l1 * sum(|x|). All regularizers throw ValueError for a factor that is negative or not finite.
///
///     nn::L1 penalty(0.1), stronger({.l1 = 0.5});
///     Tensor x = K::constant({{1., -2.}, {1., 2.}});
///     std::cout << penalty(x) << " " << stronger(x);
class L1 : public Regularizer {
 public:
  L1(const L1Options& options = {});
  explicit L1(double l1) : L1(L1Options{l1}) {}
};

struct L2Options {
  double l2 = 0.01;
};
/// The penalty l2 * sum(x^2).
///
///     nn::L2 penalty(0.1), stronger({.l2 = 0.5});
///     Tensor x = K::constant({{1., -2.}, {1., 2.}});
///     std::cout << penalty(x) << " " << stronger(x);
class L2 : public Regularizer {
 public:
  L2(const L2Options& options = {});
  explicit L2(double l2) : L2(L2Options{l2}) {}
};

struct L1L2Options {
  double l1 = 0, l2 = 0;
};
/// The penalty l1 * sum(|x|) + l2 * sum(x^2).
///
///     nn::L1L2 penalty({.l1 = 0.1, .l2 = 0.1});
///     std::cout << penalty(K::constant({{1., -2.}, {1., 2.}}));
class L1L2 : public Regularizer {
 public:
  L1L2(const L1L2Options& options = {});
};

struct OrthogonalRegularizerOptions {
  double factor = 0.01;
  std::string mode = "rows";  ///< "rows" or "columns"
};
/// The penalty factor * mean(|cos(angle between a and b)|), over all pairs (a, b) of rows (or columns) of a
/// matrix. Throws ValueError for an unknown mode, and for tensors that are not matrices.
///
///     nn::OrthogonalRegularizer penalty({.factor = 0.1});
///     std::cout << penalty(K::constant({{1., -2.}, {1., 2.}}));
class OrthogonalRegularizer : public Regularizer {
 public:
  OrthogonalRegularizer(const OrthogonalRegularizerOptions& options = {});
};

/// Keras's other names of the regularizers: `nn::regularizers::l2(0.01)`.
namespace regularizers {
using nn::L1, nn::L1L2, nn::L2, nn::OrthogonalRegularizer;
using l1 = L1;
using l1_l2 = L1L2;
using l2 = L2;
using orthogonal_regularizer = OrthogonalRegularizer;
}  // namespace regularizers

}  // namespace ktape::nn
