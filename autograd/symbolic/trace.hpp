#pragma once
#include <ktape/autograd/symbolic/symbol.hpp>

#include <functional>

namespace ktape {

/// A callable as it was seen to work on tensors without values.
struct Trace {
  std::vector<OutputInfo> results;
  /// The operands that the callable reads from outside: symbolic tensors, variables and recorded tensors.
  std::vector<Operand> captured = {};
};
using Callable = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Calls `f` once on symbolic tensors of these shapes and dtypes. Nothing is printed, drawn or changed. An
/// `f` that refuses them, because it asks for values, is called on small values of many extents instead: what
/// differs in the results is unknown then. Throws what `f` throws, and ValueError, naming the op, when it
/// returns an undefined tensor.
Trace trace(const char* op, const std::vector<OutputInfo>& arguments, const Callable& f);

/// Returns the operands that several callables read from outside.
std::vector<Operand> joined(std::vector<Operand> captured, const std::vector<Operand>& more);

}  // namespace ktape
