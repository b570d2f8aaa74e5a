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

AutocastScope::AutocastScope(std::optional<DType> dtype, Cast cast)
    : outer_(std::exchange(thread_state().autocast, this)),
      dtype_(dtype),
      cast_(cast),
      conversions_(outer_ && outer_->dtype_ == dtype ? outer_->conversions_ : &own_) {}

AutocastScope::~AutocastScope() { thread_state().autocast = outer_; }

std::optional<DType> AutocastScope::dtype() {
  const AutocastScope* const scope = thread_state().autocast;
  return scope ? scope->dtype_ : std::nullopt;
}

const Tensor& AutocastScope::read(const Variable& variable, const Tensor& value) {
  if (!dtype_ || value.dtype() == *dtype_ || !value.dtype().is_floating() || !variable.autocast())
    return value;
  Conversion& known = (*conversions_)[variable.impl_.get()];
  // A conversion that a NoGrad scope left unrecorded has no gradient.
  const bool serves = known.value.get() == value.get() &&
                      (is_symbolic(value) || !thread_state().recording || known.converted.node());
  if (!serves) known = {value, cast_(value, *dtype_)};
  return known.converted;
}

void AutocastScope::changed(const VariableImpl* variable) {
  for (AutocastScope* scope = thread_state().autocast; scope; scope = scope->outer_)
    if (const auto known = scope->conversions_->find(variable); known != scope->conversions_->end())
      known->second.value = Tensor();
}

bool symbolic_mode() { return thread_state().symbolic; }

const Tensor& Variable::as_read(const Tensor& value) const {
  AutocastScope* const scope = thread_state().autocast;
  return scope ? scope->read(*this, value) : value;
}

Variable::operator const Tensor&() const {
  if (!defined()) {
    static const Tensor undefined;
    return undefined;
  }
  SymbolicScope* const scope = thread_state().symbolic;
  return scope ? as_read(scope->placeholder_of(*this)) : value();
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
  const bool is_own = value.defined() && !is_symbolic(value) && value.get() == variable.stored().get();
  Tensor::operator=(is_own ? placeholder_of_variable(value) : value);
}

}  // namespace ktape
