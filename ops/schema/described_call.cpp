#include <ktape/ops/schema/described_call.hpp>

namespace ktape {
namespace {

class DescribedCall final : public Symbol {
 public:
  DescribedCall(Ref<Symbol> call, std::vector<DescribedArgument> arguments)
      : Symbol({call->op(), call->pure()}), call_(std::move(call)), arguments_(std::move(arguments)) {
    const std::span<const Operand> operands = call_->operands();
    set_operands({operands.begin(), operands.end()});
  }

  void run(const OperandValues& values, Results& results) const override { call_->run(values, results); }
  bool same_call(const Symbol& other) const override {
    const auto* const described = dynamic_cast<const DescribedCall*>(&other);
    return described && call_->same_call(*described->call_);
  }
  const std::vector<DescribedArgument>& arguments() const { return arguments_; }

 private:
  Ref<Symbol> call_;
  std::vector<DescribedArgument> arguments_;
};

}  // namespace

Ref<Symbol> described(Ref<Symbol> call, std::vector<DescribedArgument> arguments) {
  return Ref<Symbol>::adopt(new DescribedCall(std::move(call), std::move(arguments)));
}

const std::vector<DescribedArgument>* described_arguments(const Symbol& symbol) {
  const auto* call = dynamic_cast<const DescribedCall*>(&symbol);
  return call ? &call->arguments() : nullptr;
}

}  // namespace ktape
