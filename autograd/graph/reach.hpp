#pragma once
#include <ktape/autograd/symbol.hpp>

#include <set>
#include <unordered_set>

namespace ktape {

/// The symbol or tape node that made a tensor, and the index of the tensor among the results.
using Origin = std::pair<const void*, std::uint32_t>;
Origin origin_of(const Operand& x);

/// The symbol of a symbolic tensor, and the index of the tensor among the results of the symbol.
using SymbolResult = std::pair<const Symbol*, std::uint32_t>;
inline SymbolResult symbol_result(const Tensor& x) { return {x.get()->symbol.get(), x.get()->output}; }

/// Returns the symbols on which the tensors depend, oldest first. The search stops at the results in `cuts`.
std::vector<Ref<Symbol>> reachable_symbols(const std::vector<Tensor>& tensors,
                                           const std::set<SymbolResult>& cuts);

/// The set of tensors that gradients of some tensors can reach, through symbols and then along the tape.
class GradientReach {
 public:
  /// Collects all tensors that gradients of `from` reach. With `oldest` not 0, the search does not continue
  /// into the operands of symbols up to this sequence number and into the inputs of tape nodes.
  explicit GradientReach(const std::vector<Tensor>& from, std::uint64_t oldest = 0);
  bool contains(const Operand& x) const { return reached_.count(origin_of(x)); }

 private:
  void meet(const Operand& x);
  void meet(Origin origin);

  std::set<Origin> reached_;
  std::unordered_set<const void*> seen_;
  std::vector<const Symbol*> symbols_;
  std::vector<Node*> nodes_;
  std::uint64_t oldest_;
};

}  // namespace ktape
