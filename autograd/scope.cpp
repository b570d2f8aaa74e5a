#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/scope.hpp>
#include <ktape/autograd/symbol.hpp>

#include <utility>

namespace ktape {
namespace {

/// A symbol that stands for a variable; a deferred op that gets its result reads the variable itself.
class VariableRead final : public Symbol {
 public:
  explicit VariableRead(const Variable& variable) : Symbol("variable") {
    set_operands({Operand(variable)});
    set_outputs({{variable.shape(), variable.dtype()}});
  }
  void run(const OperandValues& values, Results& results) const override { results.set(Tensor(values[0])); }
};

}  // namespace

SymbolicScope::SymbolicScope(bool waits)
    : outer_(std::exchange(thread_state().symbolic, waits ? this : nullptr)) {}

SymbolicScope::~SymbolicScope() { thread_state().symbolic = outer_; }

const Tensor& SymbolicScope::placeholder_of(const Variable& variable) {
  Tensor& tensor = stand_ins_[variable.impl_.get()];
  if (!tensor.defined()) tensor = symbolic_tensor(Ref<Symbol>::adopt(new VariableRead(variable)), 0);
  return tensor;
}

bool symbolic_mode() { return thread_state().symbolic; }

Variable::operator const Tensor&() const {
  if (!defined()) {
    static const Tensor undefined;
    return undefined;
  }
  SymbolicScope* const scope = thread_state().symbolic;
  return scope ? scope->placeholder_of(*this) : value();
}

Variable variable_of(const Tensor& argument) {
  if (is_symbolic(argument)) {
    const Symbol* symbol = argument.get()->symbol.get();
    return dynamic_cast<const VariableRead*>(symbol) ? symbol->operands()[0].variable : Variable();
  }
  if (!argument.defined() || !argument.node() || !argument.node()->leaf()) return {};
  const auto* leaf = dynamic_cast<const VariableLeaf*>(argument.node());
  const bool stands = leaf && (leaf->holds(argument) || argument.get()->stands_for_variable);
  return stands ? leaf->variable() : Variable();
}

namespace {

/// Returns another handle of the value that stands for the variable, also after the variable has changed.
Tensor placeholder_of_variable(const Tensor& value) {
  Tensor copy = value.alias(value.shape());
  copy.get()->node = value.get()->node;
  copy.get()->stands_for_variable = true;
  return copy;
}

}  // namespace

TensorArgument::TensorArgument(const Tensor& tensor)
    : Tensor(!is_symbolic(tensor) && variable_of(tensor).defined() ? placeholder_of_variable(tensor)
                                                                   : tensor) {}

TensorArgument::TensorArgument(const Variable& variable) {
  const Tensor& value = variable;
  Tensor::operator=(value.defined() && !is_symbolic(value) ? placeholder_of_variable(value) : value);
}

}  // namespace ktape
