#pragma once
#include <ktape/autograd/graph/gradients.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ktape {

/// Options for the comparison of gradients with central differences, in float64.
struct GradcheckOptions {
  double epsilon = 1e-6;  ///< the step of the central differences
  double rtol = 1e-5;     ///< a gradient agrees when |analytic - numeric| <= atol + rtol * |numeric|
  double atol = 1e-6;
  bool second_order = false;     ///< also check the gradient of the gradient, along fixed directions
  std::vector<int> inputs = {};  ///< inputs to check, recorded together; empty: every subset of the inputs
  std::string op = "function";   ///< the name used in the report
  bool equal_nan = false;        ///< a gradient of NaN agrees with a difference of NaN
};

/// The result of a gradient check. `message` names the op and, for each failing input, the input, the index
/// and both values of the largest disagreement.
struct GradcheckReport {
  bool ok = true;
  std::string message;
  explicit operator bool() const { return ok; }
};

/// A function of several tensors with one or more results.
class CheckedFunction {
 public:
  template <class F>
  CheckedFunction(F f) {
    if constexpr (std::is_convertible_v<std::invoke_result_t<F&, const std::vector<Tensor>&>, Tensor>) {
      call_ = [f = std::move(f)](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in)}; };
    } else {
      call_ = std::move(f);
    }
  }
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const { return call_(inputs); }

 private:
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call_;
};

/// Compares the gradients of `f` at `inputs` with central differences, for every subset of the float64 inputs
/// (the other inputs are then constants), along one fixed random direction of the results. Inputs of other
/// dtypes are passed on unchanged, and so are elements that are not finite; results that are not floating are
/// ignored. An undefined gradient counts as zeros.
///
/// The second order differentiates sum(gradient * v) for fixed random directions v. `f` is called twice per
/// element, for any number of subsets, and must be smooth around `inputs`.
///
/// Throws TypeError for a float16 or float32 input, whose rounding error would exceed the differences. Throws
/// ValueError for an undefined input, when there is no float64 input or no floating result, and inside
/// NoGrad.
///
///     std::cout << ktape::gradcheck(
///                      [](const std::vector<Tensor>& in) { return K::sin(in[0]); },
///                      {K::constant({0.5, 1.}, {.dtype = "float64"})},
///                      {.second_order = true})
///                      .ok;
GradcheckReport gradcheck(const CheckedFunction& f, const TensorList& inputs,
                          const GradcheckOptions& options = {});

}  // namespace ktape
