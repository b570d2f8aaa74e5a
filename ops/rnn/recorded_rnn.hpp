#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/rnn/rnn.hpp>

#include <functional>
#include <string>

/// The loops over time steps that symbols record, for writers of other formats. Internal: sources only.
namespace ktape::backend {

/// The arguments of a deferred `rnn`. The operands of the symbol are the inputs, the states, the constants, the
/// mask and the lengths of the samples; the results are the last outputs, the outputs of all steps and the
/// states.
struct RecordedRnn {
  RnnStep step;
  RnnOptions options;  ///< without tensors
  std::size_t inputs = 0, states = 0, constants = 0;
};

/// Returns the arguments of a deferred `rnn`; null for another symbol.
const RecordedRnn* recorded_rnn(const Symbol& symbol);

/// The arguments of a deferred `lstm`, `gru` or `simple_rnn`. The operands of the symbol are x, the kernel, the
/// recurrent kernel, the bias, the states and the mask; the results are the outputs of all steps, the last output
/// and the states.
struct RecordedRecurrence {
  std::string activation;  ///< the recurrent activation; the activation of a simple_rnn
  bool reset_after = false, go_backwards = false, time_major = false, zero_output_for_mask = false;
  std::size_t states = 1;
  /// Computes the results from the operands with `rnn`.
  std::function<std::vector<Tensor>(const std::vector<Tensor>& operands)> by_steps;
};

/// Returns the arguments of a deferred recurrence; null for another symbol.
const RecordedRecurrence* recorded_recurrence(const Symbol& symbol);

}  // namespace ktape::backend
