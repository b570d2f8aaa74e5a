#pragma once
#include <ktape/autograd/symbol.hpp>

#include <functional>

namespace ktape {

/// The results of a callable on symbolic tensors: their shapes and dtypes, and the operands that the callable
/// reads.
struct Trace {
  std::vector<OutputInfo> results;
  /// The operands that the callable captures: symbolic tensors, variables and recorded tensors from outside.
  std::vector<Operand> captured = {};
};
using Callable = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Calls `f` once on symbolic tensors of the given shapes and dtypes. No op prints, draws random numbers or
/// changes a variable. An `f` that throws, because it needs values, is called on small values of several
/// extents instead; extents of the results that differ between these calls are unknown. Throws the errors of
/// `f`, and ValueError, naming the op, when `f` returns an undefined tensor.
///
///     ktape::Trace found =
///         ktape::trace("rows", {{{None, 4}, ktape::DType::Float32}},
///                      [](const std::vector<Tensor>& x) {
///                        return std::vector{K::sum(x[0], 1), K::shape(x[0])};
///                      });
///     for (const ktape::OutputInfo& result : found.results)
///       std::cout << result.shape << " " << result.dtype.name() << "\n";
Trace trace(const char* op, const std::vector<OutputInfo>& arguments, const Callable& f);

/// Returns the operands that several callables capture.
std::vector<Operand> joined(std::vector<Operand> captured, const std::vector<Operand>& more);

}  // namespace ktape
