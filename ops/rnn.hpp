#pragma once
#include <ktape/autograd/variable.hpp>

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// Loops over the time steps of sequences.
namespace ktape::backend {

struct RnnOptions {
  bool go_backwards = false;  ///< from the last step to the first, which is then the order of the outputs
  TensorArgument mask =
      {};  ///< (samples, time) or (samples, time, 1) of any dtype; 0 masks a step of a sample
  TensorList constants = {};  ///< what the step gets behind the states
  bool unroll = false;        ///< the steps run one by one either way; with it, input_length is not looked at
  /// The number of steps of each sample, shape (samples,), which masks the others when there is no mask; a
  /// number is the same for all and masks nothing.
  std::variant<std::int64_t, Tensor> input_length = 0;
  bool time_major = false;            ///< inputs, mask and outputs are (time, samples, ...)
  bool zero_output_for_mask = false;  ///< a masked step outputs zeros
};

/// What `rnn` returns; Output is a Tensor, or a vector of tensors when the step has several outputs.
template <class Output>
struct RnnResult {
  Output last_output;              ///< (samples, ...): that of the step that ran last
  Output outputs;                  ///< (samples, time, ...)
  std::vector<Tensor> new_states;  ///< behind the last step
};

/// One time step of `rnn` whose numbers of inputs, outputs and states are known at run time: the outputs and
/// the new states, from the inputs and the states with the constants.
using RnnStep = std::function<std::pair<std::vector<Tensor>, std::vector<Tensor>>(
    const std::vector<Tensor>& inputs, const std::vector<Tensor>& states)>;

namespace detail {

using Tensors = std::vector<Tensor>;
[[noreturn]] void fail_several_inputs(std::size_t received);

template <class F>
auto call_step(F& step, const Tensors& x, const Tensors& states) {
  if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensors&>) {
    if (x.size() != 1) fail_several_inputs(x.size());
    return step(x[0], states);
  } else {
    return step(x, states);
  }
}

template <class F>
constexpr bool one_output = [] {
  using Returned = decltype(call_step(std::declval<F&>(), Tensors(), Tensors()));
  return std::is_convertible_v<std::tuple_element_t<0, Returned>, Tensor>;
}();

}  // namespace detail

/// Runs a step over the time axis of inputs of shape (samples, time, ...).
///
///     auto [last, outputs, states] = K::rnn(
///         [&](const Tensor& x, const std::vector<Tensor>& states) {
///           Tensor h = K::tanh(K::dot(x, W) + K::dot(states[0], U));
///           return std::pair{h, std::vector{h}};
///         }, x, {K::zeros({samples, units})}, {.mask = mask});
///
/// The step is any callable that takes the inputs of one time step, (samples, ...), and the states followed
/// by the constants, and returns a pair: its output, and the new states, as many as there are and of their
/// shapes. For several inputs (`{x, y}`, all with one number of samples and steps) it takes a vector of
/// tensors; it may return a vector of outputs, and then `last_output` and `outputs` are vectors.
///
/// A masked step of a sample repeats its previous output (zeros before the first) and keeps its states. With
/// `go_backwards` the mask is reversed too, and an `input_length` masks the first steps that run:
/// max(input_length) - input_length of them.
///
/// Throws ValueError for an input below rank 3 or without steps, inputs and masks that do not fit each other,
/// a mask without states, states that change in number or shape. `K.rnn`.
RnnResult<std::vector<Tensor>> rnn(const RnnStep& step, const TensorList& inputs,
                                   const TensorList& initial_states, const RnnOptions& options = {});
template <class F>
auto rnn(F&& step, const TensorList& inputs, const TensorList& initial_states,
         const RnnOptions& options = {}) {
  constexpr bool single = detail::one_output<std::remove_reference_t<F>>;
  // A copy of the step: with symbolic tensors it outlives this call.
  const RnnStep one_step = [step](const std::vector<Tensor>& x, const std::vector<Tensor>& states) mutable {
    auto [output, next] = detail::call_step(step, x, states);
    return std::pair{TensorList(std::move(output)).vector(), TensorList(std::move(next)).vector()};
  };
  RnnResult<std::vector<Tensor>> result = rnn(one_step, inputs, initial_states, options);
  if constexpr (single)
    return RnnResult<Tensor>{result.last_output[0], result.outputs[0], std::move(result.new_states)};
  else return result;
}

}  // namespace ktape::backend
