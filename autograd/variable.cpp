#include <ktape/autograd/base/structure_version.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/reading.hpp>
#include <ktape/autograd/scope.hpp>

#include <algorithm>

#include <cstring>
#include <ostream>

namespace ktape {
namespace {

std::atomic<std::uint64_t> structure_changes = 0;

}  // namespace

std::uint64_t structure_version() { return structure_changes.load(std::memory_order_acquire); }
void count_structure_change() { structure_changes.fetch_add(1, std::memory_order_release); }

VariableImpl::VariableImpl(const OutputInfo& info, std::string name, Constraint constraint)
    : name(std::move(name)),
      constraint(std::move(constraint)),
      leaf(Ref<VariableLeaf>::adopt(new VariableLeaf(this))) {
  leaf->add_output(info);
}
VariableImpl::~VariableImpl() { leaf->owner_ = nullptr; }

Variable VariableLeaf::variable() const {
  Variable variable;
  variable.impl_ = Ref<VariableImpl>(owner_);
  return variable;
}

bool VariableLeaf::holds(const Tensor& handle) const { return owner_ && &handle == &owner_->value; }

Variable::Variable(const OutputInfo& info, std::string name, Constraint constraint)
    : impl_(Ref<VariableImpl>::adopt(new VariableImpl(info, std::move(name), std::move(constraint)))) {}

Variable::Variable(const Tensor& value, std::string name, Constraint constraint) {
  expect_value("variable", value);
  *this = without_value(value.shape(), value.dtype(), std::move(name), std::move(constraint));
  replace(value.detach());
}

Variable Variable::without_value(const Shape& shape, DType dtype, std::string name, Constraint constraint) {
  return Variable(OutputInfo{shape, dtype}, std::move(name), std::move(constraint));
}

VariableImpl& Variable::impl() const {
  if (!impl_) fail("[variable] the variable must be defined: received an undefined variable");
  return *impl_;
}

const Tensor& Variable::value() const { return as_read(stored()); }

const Tensor& Variable::stored() const {
  const Tensor& value = value_to_read(impl());
  if (!value.defined())
    fail("[variable] '", name(), "' holds no value until one is set: received a variable of shape=", shape(),
         ", dtype=", dtype());
  return value;
}

bool Variable::has_value() const { return value_to_read(impl()).defined(); }
const Shape& Variable::shape() const { return impl().leaf->output_info(0).shape; }
DType Variable::dtype() const { return impl().leaf->output_info(0).dtype; }
const std::string& Variable::name() const { return impl().name; }
const Constraint& Variable::constraint() const { return impl().constraint; }
bool Variable::trainable() const { return impl().trainable; }
void Variable::set_trainable(bool trainable) {
  impl().trainable = trainable;
  count_structure_change();
}
bool Variable::autocast() const { return impl().autocast; }
void Variable::set_autocast(bool autocast) { impl().autocast = autocast; }

void expect_assignable(const Variable& variable, const Tensor& value) {
  expect_value("assign", value);
  if (value.shape() != variable.shape())
    fail("[assign] the new value must have the shape ", variable.shape(), " of '", variable.name(),
         "': received shape=", value.shape());
  if (value.dtype() != variable.dtype())
    fail<TypeError>("[assign] the new value must have the dtype ", variable.dtype(), " of '", variable.name(),
                    "': received dtype=", value.dtype());
}

void Variable::assign(const Tensor& value) {
  expect_assignable(*this, value);
  settle_before_change(impl());
  const Tensor& present = impl().value;
  if (inferring_shapes() || (present.defined() && value.raw() == present.raw())) return;
  keep();
  if (!present.defined() || !present.exclusive()) return replace(value.detach());
  present.get()->storage->destroy_memo();
  std::memcpy(present.raw(), value.raw(), static_cast<std::size_t>(size()) * dtype().size());
}

Tensor Variable::writable() const {
  settle_before_change(impl());
  keep();
  stored();  // throws without a value
  const Tensor& present = impl().value;
  PendingWork* const pending = thread_state().pending;
  if (pending && !present.exclusive()) pending->finish();  // ops that wait may be the other readers
  if (!present.exclusive() || inferring_shapes()) return Tensor::empty(shape(), dtype());
  present.get()->storage->destroy_memo();
  return present;
}

void Variable::replace(Tensor next) const {
  if (inferring_shapes() && impl().value.defined()) return;
  keep();
  if (next.node() != impl().leaf.get()) next.get()->node = Ref<Node>(impl().leaf.get());
  impl().value = std::move(next);
}

void Variable::keep() const {
  if (thread_state().autocast) AutocastScope::changed(impl_.get());
  for (VariableTransaction* t = thread_state().transaction; t; t = t->outer_) t->keep(*this);
}

VariableTransaction::VariableTransaction() : outer_(std::exchange(thread_state().transaction, this)) {}

VariableTransaction::~VariableTransaction() {
  thread_state().transaction = outer_;
  for (auto& [variable, value] : before_) variable.impl().value = std::move(value);
}

void VariableTransaction::keep(const Variable& variable) {
  const auto same = [&](const auto& kept) { return kept.first.is(variable); };
  if (std::none_of(before_.begin(), before_.end(), same))
    before_.emplace_back(variable, variable.impl().value);
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) {
  if (!variable.defined()) return out << "<Variable: None>";
  out << "<Variable '" << variable.name() << "' ";
  if (variable.has_value()) return out << variable.value() << '>';
  return out << "shape=" << variable.shape() << ", dtype=" << variable.dtype() << ", no value yet>";
}

}  // namespace ktape
