#pragma once
#include <ktape/autograd/symbolic/symbol.hpp>

#include <set>
#include <unordered_set>

namespace ktape {

/// The maker of a tensor, a symbol or a node of the tape, and the number of the tensor among its results.
using Origin = std::pair<const void*, std::uint32_t>;
Origin origin_of(const Operand& x);

/// Which result of which symbol a symbolic tensor is.
using SymbolResult = std::pair<const Symbol*, std::uint32_t>;
inline SymbolResult symbol_result(const Tensor& x) { return {x.get()->symbol.get(), x.get()->output}; }

/// The symbols that the tensors depend on, not going beyond the results in `cuts`, by age.
std::vector<Ref<Symbol>> reachable_symbols(const std::vector<Tensor>& tensors,
                                           const std::set<SymbolResult>& cuts);

/// The tensors that gradients of some tensors can reach, through symbols and then along the tape.
class GradientReach {
 public:
  /// Collects all tensors that gradients of `from` reach. With `oldest`, symbols up to this sequence number
  /// and the inputs of the tape's nodes are left out.
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
