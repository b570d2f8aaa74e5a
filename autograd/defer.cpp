#include <ktape/autograd/defer.hpp>

#include <numeric>

namespace ktape {
namespace {

std::vector<Tensor> operand_values(const Symbol& symbol, Environment& environment) {
  std::vector<Tensor> values;
  for (const Operand& operand : symbol.operands().first(symbol.operands().size() - symbol.captured())) {
    values.push_back(is_symbolic(operand.tensor) ? environment.value(operand.tensor) : operand.value());
  }
  return values;
}

std::vector<Tensor> run_symbol(const Symbol& symbol, const std::vector<Tensor>& values) {
  std::vector<Tensor> results;
  std::vector<OperandValues::Source> sources(values.size());
  std::iota(sources.begin(), sources.end(), 0);
  Results places(results);
  symbol.run({sources, values.data(), nullptr}, places);
  for (Tensor& result : results)
    if (is_symbolic(result))
      result = Environment::current()->value(result);  // a callable returned a tensor from outside
  return results;
}

}  // namespace

std::vector<Tensor> defer(Ref<Symbol> symbol, std::vector<OutputInfo> results) {
  if (running_graph()) return run_symbol(*symbol, operand_values(*symbol, *Environment::current()));
  symbol->set_outputs(std::move(results));
  std::vector<Tensor> tensors;
  for (std::uint32_t i = 0; i < symbol->outputs().size(); ++i) tensors.push_back(symbolic_tensor(symbol, i));
  return tensors;
}

}  // namespace ktape
