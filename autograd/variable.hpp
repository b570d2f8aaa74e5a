#pragma once
#include <ktape/autograd/node.hpp>

#include <functional>
#include <string>

namespace ktape {

/// A function that maps a new value to an allowed value; optimizers apply the function after an update.
///
///     Variable w = K::variable({-1.f}, {.constraint = nn::NonNeg()});
///     std::cout << w.constraint()(w);
using Constraint = std::function<Tensor(const Tensor&)>;

struct VariableImpl;
class ArrayLike;
template <class Key>
class VariablePart;

/// A named tensor that can change, at which gradients end. A Variable is a handle: copies refer to one
/// variable. Where a Tensor is taken, a variable stands for its current value; a value taken before an update
/// never changes. A deferred op (ops/control/function.hpp) takes the variable itself and reads the value when
/// the op runs.
///
///     Variable w = K::variable({1.f, 2.f}, {.name = "w"});
///     Tensor loss = K::sum(w * w);
///     K::update_sub(w, 0.1f * K::gradients(loss, {w})[0]);
///     std::cout << w;
class Variable {
 public:
  /// Makes an undefined variable.
  Variable() = default;
  /// Makes a variable that starts with the value of the tensor and has the dtype of the tensor.
  Variable(const Tensor& value, std::string name = "Variable", Constraint constraint = {});
  /// Makes a variable without a value, for `manual_variable_initialization`. Until a value is assigned the
  /// variable has a shape, a dtype and a name, and reading its value throws a ValueError that names the
  /// variable.
  static Variable without_value(const Shape& shape, DType dtype, std::string name = "Variable",
                                Constraint constraint = {});

  /// Deleted, because a variable keeps its identity: assign a tensor to a variable with `update`, or declare
  /// a Tensor.
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
  /// Returns the current value. Ops on the value are recorded, and gradients flow to this variable. In the
  /// `call` of a layer with a mixed policy, a floating value is converted to the compute dtype, unless
  /// `autocast` is off, and the reference is valid until the call ends.
  const Tensor& value() const;
  /// Returns the current value in the dtype of the variable.
  const Tensor& stored() const;
  /// Converts the variable to an argument of an op: its value, or inside `K::symbolic` a symbolic tensor that
  /// stands for the variable. An undefined variable gives an undefined tensor.
  operator const Tensor&() const;

  /// Returns whether the variable holds a value.
  bool has_value() const;
  const Shape& shape() const;
  DType dtype() const;
  int ndim() const { return shape().rank(); }
  std::int64_t size() const { return shape().count(); }
  template <class T = float, class... Index>
  T item(Index... index) const {
    return value().template item<T>(index...);
  }
  /// Returns a part of the value, `v[{All, 0}]`, as a tensor to which values can be assigned.
  template <class T = Indices>
  VariablePart<T> operator[](const T& index) const {
    return {*this, index};
  }

  const std::string& name() const;
  const Constraint& constraint() const;
  /// Returns whether optimizers change the variable. The recording of ops does not depend on this flag.
  bool trainable() const;
  void set_trainable(bool trainable);
  /// Returns whether layers with a mixed policy read the variable in their compute dtype: true by default.
  bool autocast() const;
  void set_autocast(bool autocast);

  /// Gives the variable a new value of equal shape and dtype. The value is copied in place when no other
  /// handle sees the old value; otherwise the variable shares the memory of the new value. Throws ValueError
  /// for another shape and TypeError for another dtype; the variable does not change then.
  void assign(const Tensor& value);
  template <std::same_as<Variable> T>
  void assign(const T& value) {
    assign(static_cast<const Tensor&>(value));
  }
  /// Gives the variable a new value that is a number, for a scalar variable, or a literal; numbers are converted
  /// to the dtype of the variable. Otherwise as `assign` of a tensor.
  void assign(const ArrayLike& value);
  /// Adds to the variable, or subtracts from it, as `K::update_add` and `K::update_sub` do: a single number
  /// changes every element. Returns the new value. Mirrors `keras.Variable.assign_add` and `assign_sub`.
  ///
  ///     Variable total = K::variable({1.f, 2.f});
  ///     total.assign_add(1);
  ///     total.assign_sub({0.5f, 1.f});
  ///     std::cout << total;
  Tensor assign_add(const ArrayLike& value);
  Tensor assign_sub(const ArrayLike& value);

  /// Calls `f(target, source)` on the memory of the new and of the current value, which may be equal, and
  /// makes the target the value of the variable. For the library's in-place updates.
  template <class F>
  void modify(F&& f) {
    Tensor next = writable();
    f(next.raw(), static_cast<const void*>(stored().raw()));
    replace(std::move(next));
  }

  /// Returns whether both handles refer to one variable. (`==` compares element by element.)
  bool is(const Variable& other) const { return impl_.get() == other.impl_.get(); }

 private:
  friend class AutocastScope;
  friend class SymbolicScope;
  friend class VariableLeaf;
  friend class VariableTransaction;
  Variable(const OutputInfo& info, std::string name, Constraint constraint);
  VariableImpl& impl() const;
  void keep() const;
  const Tensor& as_read(const Tensor& value) const;
  Tensor writable() const;
  void replace(Tensor next) const;
  Ref<VariableImpl> impl_;
};

std::ostream& operator<<(std::ostream& out, const Variable& variable);

/// A part of a variable: a tensor with the values that the part has now. `v[{All, 0}] = value` changes the part of the
/// variable by a call of `assign_part`, which argument-dependent lookup finds in ops/parts.hpp. The assignment of a
/// tensor to a declared `auto part = v[0]` lets `part` refer to the tensor, as in Python.
template <class Key>
class VariablePart : public Tensor {
 public:
  VariablePart(const Variable& owner, const Key& key)
      : Tensor(static_cast<const Tensor&>(owner)[key]), owner_(owner), key_(key) {}
  VariablePart(const VariablePart&) = default;

  void operator=(const ArrayLike& value) && { assign_part(owner_, key_, value); }
  void operator=(const VariablePart& value) && {
    assign_part(owner_, key_, static_cast<const Tensor&>(value));
  }
  VariablePart& operator=(const Tensor& tensor) & {
    Tensor::operator=(tensor);
    return *this;
  }
  VariablePart& operator=(const VariablePart& part) & { return *this = static_cast<const Tensor&>(part); }

 private:
  Variable owner_;
  Key key_;
};

/// The argument of an update: a variable. Tensors are refused, because a tensor never changes, and a variable
/// made from a tensor would be destroyed after the call.
///
///     Variable w = K::variable({1.f});
///     K::update(w, K::constant({5.}));
///     std::cout << w << " " << K::maximum(w, 7);
class Assignable : public Variable {
 public:
  Assignable(const Variable& variable) : Variable(variable) {}
  template <std::same_as<Tensor> T>
  Assignable(const T&) = delete;  // a Tensor never changes: declare a Variable
};

/// The node at which the gradients of a variable end. The node may outlive the variable. Internal: sources only.
class VariableLeaf final : public LeafNode {
 public:
  explicit VariableLeaf(VariableImpl* owner) : LeafNode("variable"), owner_(owner) {}
  /// Returns the variable; undefined when the variable has been destroyed.
  Variable variable() const;
  /// Returns whether the handle is the variable's own value handle, not a copy.
  bool holds(const Tensor& handle) const;

 private:
  friend struct VariableImpl;
  VariableImpl* owner_;
};

/// Returns the variable that an argument of an op stands for; undefined when the argument is a value.
///
///     Variable w = K::variable({1.f});
///     Tensor x = w;
///     std::cout << ktape::variable_of(x).defined();
Variable variable_of(const Tensor& argument);

/// A scope that makes several changes of variables atomic: without a commit, the end of the scope restores
/// the variables that this thread changed in the scope.
///
///     Variable a = K::variable(1.f), b = K::variable(2.f);
///     try {
///       ktape::VariableTransaction changes;
///       K::update(a, 10.f);
///       K::update(b, K::ones({3}));  // another shape
///       changes.commit();
///     } catch (const ktape::ValueError&) {
///       std::cout << a;  // as before
///     }
class VariableTransaction {
 public:
  VariableTransaction();
  ~VariableTransaction();
  VariableTransaction(const VariableTransaction&) = delete;
  VariableTransaction& operator=(const VariableTransaction&) = delete;
  void commit() { before_.clear(); }

 private:
  friend class Variable;
  /// Stores the value that the variable has before its first change.
  void keep(const Variable& variable);
  std::vector<std::pair<Variable, Tensor>> before_;
  VariableTransaction* outer_;
};

/// The object to which a Variable refers. Internal: sources only.
struct VariableImpl {
  std::atomic<std::int32_t> refs{1};
  std::string name;
  Constraint constraint;
  bool trainable = true, autocast = true;
  Ref<VariableLeaf> leaf;  ///< the leaf node of the variable, with its shape and dtype; updates keep the leaf
  Tensor value;            ///< undefined until a value is set

  VariableImpl(const OutputInfo& info, std::string name, Constraint constraint);
  ~VariableImpl();
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

}  // namespace ktape
