#pragma once
#include <ktape/autograd/trace.hpp>

#include <functional>

namespace ktape::backend {

/// One side of a choice: a tensor, a variable, or a callable that returns one and is called only when the
/// side is taken.
class Branch {
 public:
  Branch(const Tensor& value) : value_(TensorArgument(value)) {}
  Branch(const Variable& variable) : value_(TensorArgument(variable)) {}
  template <class F>
  requires std::is_invocable_r_v<Tensor, F&> Branch(F f) : run_(std::move(f)) {}

  Tensor operator()() const { return run_ ? run_() : value_; }
  /// The tensor; undefined for a callable.
  const Tensor& value() const { return value_; }
  /// What it returns, as it is known without a value.
  Trace trace(const char* op) const {
    if (!run_) return {{info_of(value_)}};
    return ktape::trace(op, {}, [this](const std::vector<Tensor>&) { return std::vector{run_()}; });
  }

 private:
  Tensor value_;
  std::function<Tensor()> run_;
};

}  // namespace ktape::backend

/// A choice that waits reads its tensors as operands and calls its callables when it runs.
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
