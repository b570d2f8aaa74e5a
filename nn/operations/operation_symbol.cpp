#include <ktape/autograd/defer.hpp>
#include <ktape/nn/operations/operation_symbol.hpp>

#include <algorithm>

namespace ktape::nn {

class OperationSymbol final : public Symbol {
 public:
  OperationSymbol(const OperationCall& call, const std::string& name)
      : Symbol(call.operation().name), call_(call), given_name_(name) {
    std::vector<Operand> operands;
    for (const OperationArgument& argument : call.arguments())
      operands.insert(operands.end(), argument.tensors.begin(), argument.tensors.end());
    set_operands(std::move(operands));
  }

  void run(const OperandValues& values, Results& results) const override {
    OperationCall now = call_;
    std::size_t next = 0;
    for (OperationArgument& argument : now.arguments_)
      for (Tensor& tensor : argument.tensors) tensor = values[next++];
    std::vector<Tensor> made = now.operation().run(now);
    if (made.size() == 1) results.set(std::move(made[0]));
    else results.set(std::move(made));
  }

  const OperationCall& call() const { return call_; }
  const std::string& given_name() const { return given_name_; }

 private:
  OperationCall call_;
  std::string given_name_;
};

const OperationCall* applied_operation(const Symbol& symbol) {
  const auto* const operation = dynamic_cast<const OperationSymbol*>(&symbol);
  return operation ? &operation->call() : nullptr;
}

std::string given_name(const Symbol& symbol) {
  const auto* const operation = dynamic_cast<const OperationSymbol*>(&symbol);
  return operation ? operation->given_name() : "";
}

std::vector<Tensor> apply_operation(const OperationCall& call, const std::string& name) {
  // The results of a call on the symbols tell the shapes of the one symbol that stands for the call.
  const std::vector<Tensor> results = call.operation().run(call);
  if (!std::all_of(results.begin(), results.end(), [](const Tensor& x) { return is_symbolic(x); }))
    return results;
  std::vector<OutputInfo> infos;
  for (const Tensor& result : results) infos.push_back({result.shape(), result.dtype()});
  return defer(Ref<Symbol>::adopt(new OperationSymbol(call, name)), std::move(infos));
}

}  // namespace ktape::nn
