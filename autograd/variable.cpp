#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbolic.hpp>

#include <cstring>
#include <ostream>

namespace ktape {

VariableImpl::VariableImpl(std::string name, Constraint constraint)
    : name(std::move(name)), constraint(std::move(constraint)), leaf(Ref<VariableLeaf>::adopt(new VariableLeaf(this))) {}
VariableImpl::~VariableImpl() { leaf->owner_ = nullptr; }

Variable VariableLeaf::variable() const {
  Variable variable;
  variable.impl_ = Ref<VariableImpl>(owner_);
  return variable;
}

Variable::Variable(const Tensor& value, std::string name, Constraint constraint) {
  expect_value("variable", value);
  Tensor start = value.detach();
  impl_ = Ref<VariableImpl>::adopt(new VariableImpl(std::move(name), std::move(constraint)));
  impl_->leaf->add_output(start);
  replace(std::move(start));
}

VariableImpl& Variable::impl() const {
  if (!impl_) fail("[variable] the variable must be defined: received an undefined variable");
  return *impl_;
}

const Tensor& Variable::value() const { return impl().value; }
const std::string& Variable::name() const { return impl().name; }
const Constraint& Variable::constraint() const { return impl().constraint; }
bool Variable::trainable() const { return impl().trainable; }
void Variable::set_trainable(bool trainable) { impl().trainable = trainable; }

void Variable::assign(const Tensor& value) {
  expect_value("assign", value);
  if (value.shape() != shape())
    fail("[assign] the new value must have the shape ", shape(), " of '", name(), "': received shape=", value.shape());
  if (value.dtype() != dtype())
    fail<TypeError>("[assign] the new value must have the dtype ", dtype(), " of '", name(), "': received dtype=", value.dtype());
  if (inferring_shapes() || value.raw() == this->value().raw()) return;
  if (!this->value().exclusive()) return replace(value.detach());
  std::memcpy(this->value().raw(), value.raw(), static_cast<std::size_t>(size()) * dtype().size());
}

Tensor Variable::writable() const {
  return value().exclusive() && !inferring_shapes() ? value() : Tensor::empty(shape(), dtype());
}

void Variable::replace(Tensor next) const {
  if (inferring_shapes() && impl().value.defined()) return;
  if (next.node() != impl().leaf.get()) next.get()->node = Ref<Node>(impl().leaf.get());
  impl().value = std::move(next);
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) {
  return out << "<Variable '" << variable.name() << "' " << variable.value() << '>';
}

}  // namespace ktape
