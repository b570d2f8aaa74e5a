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
  bool go_backwards = false;  ///< run from the last step to the first; the outputs have this order, too
  TensorArgument mask =
      {};  ///< (samples, time) or (samples, time, 1) of any dtype; 0 masks a step of a sample
  TensorList constants = {};  ///< tensors that the step gets after the states
  bool unroll = false;        ///< the steps run one by one in any case; true ignores input_length
  /// The number of steps of each sample, shape (samples,). Without a mask, the other steps of a sample are
  /// masked. A number holds for all samples and masks no step.
  std::variant<std::int64_t, Tensor> input_length = 0;
  bool time_major = false;            ///< inputs, mask and outputs are (time, samples, ...)
  bool zero_output_for_mask = false;  ///< a masked step outputs zeros
};

/// The result of `rnn`. Output is a Tensor, or a vector of tensors when the step has several outputs.
template <class Output>
struct RnnResult {
  Output last_output;              ///< the output of the step that ran last, (samples, ...)
  Output outputs;                  ///< the outputs of all steps, (samples, time, ...)
  std::vector<Tensor> new_states;  ///< the states after the last step
};

/// A time step of `rnn` whose numbers of inputs, outputs and states are known at run time. Maps the inputs,
/// and the states followed by the constants, to the outputs and the new states.
///
///     K::RnnStep step = [](const std::vector<Tensor>& x,
///                          const std::vector<Tensor>& states) {
///       std::vector<Tensor> sum = {x[0] + states[0]};
///       return std::pair{sum, sum};
///     };
///     std::cout
///         << K::rnn(step, {K::ones({1, 3, 2})}, {K::zeros({1, 2})}).last_output[0];
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
/// by the constants. The step returns a pair: the output, and the new states, equal in number and shapes to
/// the states. For several inputs (`{x, y}`, all of equal sample and step counts) the step takes a
/// vector of tensors. A step may return a vector of outputs; then `last_output` and `outputs` are vectors.
///
/// The step gets zeros in place of the inputs of masked samples. A masked step of a sample repeats the previous output of the sample (zeros before the first output) and
/// keeps the states of the sample. With `go_backwards` the mask is reversed too, and an `input_length` masks
/// the first steps that run: max(input_length) - input_length steps.
///
/// Throws ValueError for an input below rank 3 or without steps, inputs and masks that do not fit each other,
/// a mask without states, and states that change in number or shape. `K.rnn`.
///
///     auto step = [](const Tensor& x, const std::vector<Tensor>& states) {
///       Tensor sum = states[0] + x;
///       return std::pair{sum, std::vector{sum}};
///     };
///     auto [last, outputs, states] =
///         K::rnn(step, K::ones({1, 4, 2}), {K::zeros({1, 2})});
///     std::cout << last << " " << outputs.shape() << "\n"
///               << K::rnn(step, K::ones({1, 4, 2}), {K::zeros({1, 2})},
///                         {.mask = K::constant({{1, 1, 0, 0}})})
///                      .last_output;
RnnResult<std::vector<Tensor>> rnn(const RnnStep& step, const TensorList& inputs,
                                   const TensorList& initial_states, const RnnOptions& options = {});
template <class F>
auto rnn(F&& step, const TensorList& inputs, const TensorList& initial_states,
         const RnnOptions& options = {}) {
  constexpr bool single = detail::one_output<std::remove_reference_t<F>>;
  // Copies the step, because with symbolic tensors the step outlives this call.
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
