#pragma once
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/graph/trace.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>

#include <functional>
#include <optional>

namespace ktape::backend {

/// Returns `result`, the result of a callable that is an argument of an op. Throws ValueError, naming the op
/// and the argument, when the result is undefined. Internal: sources only.
inline Tensor returned(const char* op, const char* name, const Tensor& result) {
  if (!result.defined())
    fail("[", op, "] ", name, " must give a tensor: received an undefined tensor (None)");
  return result;
}

/// A branch of a choice: a tensor, a variable, a number, or a callable that returns a tensor and is called
/// only when the side is chosen. A number takes the dtype of a tensor on the other side, or floatx() when the
/// other side is not a tensor.
class Branch {
 public:
  Branch(const Tensor& value) : value_(TensorArgument(value)) {}
  Branch(const Variable& variable) : value_(TensorArgument(variable)) {}
  template <Arithmetic T>
  Branch(T number) : number_(number) {}
  template <class F>
  requires std::is_invocable_r_v<Tensor, F&> Branch(F f) : run_(std::move(f)) {}

  Tensor operator()() const { return run_ ? run_() : value_; }
  /// Returns the tensor; undefined for a callable or a number.
  const Tensor& value() const { return value_; }
  const std::optional<Scalar>& number() const { return number_; }
  /// Throws ValueError, naming op and argument, when the side is an undefined tensor.
  void expect_defined(const char* op, const char* name) const {
    if (!run_ && !number_) ktape::expect_defined(op, name, value_);
  }
  /// Returns a copy of this side in which a number has become a tensor that fits the other side.
  Branch beside(const char* op, const Branch& other) const {
    return number_ ? Branch(TensorOrNumber(*number_).tensor(op, TensorOrNumber(other.value_))) : *this;
  }
  /// Returns the shape and dtype of the tensor that this side gives, known before the callable has run on
  /// values.
  Trace trace(const char* op) const {
    if (!run_) return {{info_of(value_)}};
    return ktape::trace(op, {}, [this](const std::vector<Tensor>&) { return std::vector{run_()}; });
  }

 private:
  Tensor value_;
  std::optional<Scalar> number_;
  std::function<Tensor()> run_;
};

}  // namespace ktape::backend

/// Reads the tensors of a deferred choice as operands. Callables of the choice are called when the choice
/// runs.
template <>
class ktape::Argument<ktape::backend::Branch> {
 public:
  Argument(const backend::Branch& branch, std::vector<Operand>& operands)
      : branch_(branch), value_(branch.value(), operands) {}
  backend::Branch get(const OperandValues& values) const {
    return branch_.value().defined() ? backend::Branch(value_.get(values)) : branch_;
  }

 private:
  backend::Branch branch_;
  Argument<Tensor> value_;
};
