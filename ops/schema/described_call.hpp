#pragma once
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/schema/argument_values.hpp>

#include <any>
#include <type_traits>

/// Ops that are deferred together with a description of their arguments. A model with ops between its layers
/// is saved with these descriptions. Internal: sources only.
namespace ktape {

/// An argument of an op: some of the operands of the op's symbol, or a value.
struct DescribedArgument {
  std::size_t operands = 0;  ///< the number of operands of the symbol that belong to the argument
  bool is_list = false;      ///< whether the argument is a list of tensors
  std::any value = {};       ///< the value of an argument that is no tensor
  /// Returns the forms of the value in configs; null for an argument that has none.
  std::optional<ArgumentValues> (*values)(const std::any& value) = nullptr;
};

/// Returns the arguments of the op in the order of the call; null for an op that was deferred without a
/// description.
const std::vector<DescribedArgument>* described_arguments(const Symbol& symbol);

/// Returns a symbol that runs as `call` does and has a description.
Ref<Symbol> described(Ref<Symbol> call, std::vector<DescribedArgument> arguments);

/// Describes an argument. A text that is no std::string is the name of an op, which the symbol knows.
template <class T>
DescribedArgument describe(const T& argument) {
  if constexpr (std::is_same_v<T, TensorList> || std::is_same_v<T, std::vector<Tensor>>) {
    return {argument.size(), true};
  } else if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, WithoutGradient>) {
    return {1};
  } else {
    std::vector<Operand> operands;
    const Argument<T> as_operands(argument, operands);
    DescribedArgument described{operands.size(), false, argument};
    if constexpr (std::is_same_v<T, const char*>)
      described.values = [](const std::any&) { return std::optional(ArgumentValues()); };
    else if constexpr (Describable<T>) described.values = argument_values<T>;
    return described;
  }
}

/// Defers an op as `defer` does, under a description that the caller makes.
template <class F, class... T>
std::vector<Tensor> defer_as(std::vector<DescribedArgument> description, const Op& op,
                             std::vector<OutputInfo> results, F f, const T&... arguments) {
  auto call = Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, false, f, arguments...));
  if (running_graph()) return defer(std::move(call), std::move(results));
  return defer(described(std::move(call), std::move(description)), std::move(results));
}

/// Defers an op as `defer` does, with a description of its arguments.
template <class F, class... T>
std::vector<Tensor> defer_described(const Op& op, std::vector<OutputInfo> results, F f,
                                    const T&... arguments) {
  return defer_as({describe(arguments)...}, op, std::move(results), f, arguments...);
}

template <class F, class... T>
Tensor defer_described(const Op& op, const OutputInfo& result, F f, const T&... arguments) {
  return defer_described(op, std::vector<OutputInfo>{result}, f, arguments...)[0];
}

}  // namespace ktape
