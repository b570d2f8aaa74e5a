#pragma once
#include <ktape/autograd/node.hpp>

#include <functional>
#include <string>

namespace ktape {

/// A function that maps a new value to an allowed one; optimizers apply it after an update.
using Constraint = std::function<Tensor(const Tensor&)>;

struct VariableImpl;

/// A named, changeable tensor, and a place at which gradients end. A Variable is a handle: copies are the
/// same variable. Wherever a Tensor is taken, a variable stands for its present value; a value taken before
/// an update never changes. To an op that waits for a function (ops/function.hpp) the variable itself is
/// passed, not its value.
class Variable {
 public:
  /// An undefined variable.
  Variable() = default;
  /// A new variable that starts with the tensor's value and has its dtype.
  Variable(const Tensor& value, std::string name = "Variable", Constraint constraint = {});
  /// A new variable without a value, for `manual_variable_initialization`: until one is assigned it has a
  /// shape, a dtype and a name, and reading its value throws a ValueError that names it.
  static Variable without_value(const Shape& shape, DType dtype, std::string name = "Variable",
                                Constraint constraint = {});

  /// A variable keeps its identity: a tensor goes into it by `update`, or belongs in a Tensor.
  template <std::same_as<Tensor> T>
  Variable& operator=(const T&) = delete;  // use K::update(variable, value), or declare a Tensor
  template <class T>
  Variable& operator+=(const T&) = delete;  // use K::update_add(variable, increment), or declare a Tensor
  template <class T>
  Variable& operator-=(const T&) = delete;  // use K::update_sub(variable, decrement), or declare a Tensor
  template <class T>
  Variable& operator*=(const T&) = delete;  // use K::update(variable, value), or declare a Tensor
  template <class T>
  Variable& operator/=(const T&) = delete;  // use K::update(variable, value), or declare a Tensor

  bool defined() const { return static_cast<bool>(impl_); }
  /// The present value. What is computed from it is recorded, and differentiated with respect to this
  /// variable.
  const Tensor& value() const;
  /// The variable as an argument of an op: its value, or inside `K::symbolic` a symbolic tensor that stands
  /// for it; an undefined tensor where the variable is undefined.
  operator const Tensor&() const;

  /// Whether it holds a value.
  bool has_value() const;
  const Shape& shape() const;
  DType dtype() const;
  int ndim() const { return shape().rank(); }
  std::int64_t size() const { return shape().count(); }
  template <class T = float, class... Index>
  T item(Index... index) const {
    return value().template item<T>(index...);
  }
  template <class T = Indices>
  Tensor operator[](const T& index) const {
    return static_cast<const Tensor&>(*this)[index];
  }

  const std::string& name() const;
  const Constraint& constraint() const;
  /// Whether optimizers change it. It says nothing about recording.
  bool trainable() const;
  void set_trainable(bool trainable);

  /// Gives the variable a new value of equal shape and dtype: copies the value in place when no other handle
  /// sees the old value, and shares the new value's memory otherwise. Throws ValueError for another shape and
  /// TypeError for another dtype; the variable does not change then.
  void assign(const Tensor& value);

  /// Calls `f(target, source)` on the memory of the next and of the present value, which may be one memory,
  /// and makes the target the variable's value. For the library's in-place updates.
  template <class F>
  void modify(F&& f) {
    Tensor next = writable();
    f(next.raw(), static_cast<const void*>(value().raw()));
    replace(std::move(next));
  }

  /// Whether both handles are one variable. (`==` compares element by element.)
  bool is(const Variable& other) const { return impl_.get() == other.impl_.get(); }

 private:
  friend class SymbolicScope;
  friend class VariableLeaf;
  friend class VariableTransaction;
  Variable(const OutputInfo& info, std::string name, Constraint constraint);
  VariableImpl& impl() const;
  void keep() const;
  Tensor writable() const;
  void replace(Tensor next) const;
  Ref<VariableImpl> impl_;
};

std::ostream& operator<<(std::ostream& out, const Variable& variable);

/// The argument of an update: a variable. A tensor never changes, and a variable made of a tensor would be
/// gone after the call.
class Assignable : public Variable {
 public:
  Assignable(const Variable& variable) : Variable(variable) {}
  template <std::same_as<Tensor> T>
  Assignable(const T&) = delete;  // a Tensor never changes: declare it as a Variable
};

/// The node at which the gradients of a variable end. It may outlive the variable.
class VariableLeaf final : public LeafNode {
 public:
  explicit VariableLeaf(VariableImpl* owner) : LeafNode("variable"), owner_(owner) {}
  /// The variable; undefined when it is gone.
  Variable variable() const;
  /// Whether this handle is the variable's own, not a copy.
  bool holds(const Tensor& handle) const;

 private:
  friend struct VariableImpl;
  VariableImpl* owner_;
};

/// The variable that an argument of an op stands for; undefined when the argument is a value.
Variable variable_behind(const Tensor& argument);

/// Makes several changes of variables one: unless it is committed, its end gives the variables that this
/// thread changed meanwhile their values back.
class VariableTransaction {
 public:
  VariableTransaction();
  ~VariableTransaction();
  VariableTransaction(const VariableTransaction&) = delete;
  VariableTransaction& operator=(const VariableTransaction&) = delete;
  void commit() { before_.clear(); }

 private:
  friend class Variable;
  /// Keeps the value that the variable has before its first change.
  void keep(const Variable& variable);
  std::vector<std::pair<Variable, Tensor>> before_;
  VariableTransaction* outer_;
};

struct VariableImpl {
  std::atomic<std::int32_t> refs{1};
  std::string name;
  Constraint constraint;
  bool trainable = true;
  Ref<VariableLeaf>
      leaf;      ///< the node by which gradients find the variable; has its shape and dtype; updates keep it
  Tensor value;  ///< undefined until there is one

  VariableImpl(const OutputInfo& info, std::string name, Constraint constraint);
  ~VariableImpl();
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

}  // namespace ktape
