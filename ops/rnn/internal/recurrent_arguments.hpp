#pragma once
#include <ktape/ops/kernels/sequence/rnn_weights.hpp>
#include <ktape/ops/rnn/rnn.hpp>

#include <string>

namespace ktape::op_helpers {

/// The properties of a recurrent op.
struct RecurrentKind {
  const char* op;
  int gates, states;
  bool reset_after =
      false;  ///< of a GRU: the recurrent product of the candidate has a bias, then the reset gate
  std::string activation;

  /// Returns whether there are kernels. A GRU with the reset gate before the product multiplies twice in a step.
  bool fused() const { return gates != 3 || reset_after; }
};

/// The checked arguments of a recurrent op.
struct RecurrentArguments {
  RecurrentKind kind;
  Tensor x, kernel, recurrent_kernel, bias;
  std::vector<Tensor> states;
  backend::RnnOptions options;

  std::int64_t samples() const { return x.shape()[options.time_major ? 1 : 0]; }
  std::int64_t steps() const { return x.shape()[options.time_major ? 0 : 1]; }
  std::int64_t units() const { return recurrent_kernel.shape()[0]; }
  /// Returns the differentiable arguments: x, kernel, recurrent kernel, bias (may be undefined), states.
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all{x, kernel, recurrent_kernel, bias};
    all.insert(all.end(), states.begin(), states.end());
    return all;
  }
  RecurrentArguments with(const std::vector<Tensor>& t) const {
    return {kind, t[0], t[1], t[2], t[3], {t.begin() + 4, t.end()}, options};
  }
};

/// Computes the op by its formula, step by step.
backend::RnnResult<Tensor> composed(const RecurrentArguments& arguments);

}  // namespace ktape::op_helpers
