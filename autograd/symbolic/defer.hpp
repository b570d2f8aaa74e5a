#pragma once
#include <ktape/autograd/symbolic/environment.hpp>
#include <ktape/autograd/symbolic/shape_rules.hpp>
#include <ktape/autograd/symbolic/symbol.hpp>

#include <tuple>
#include <utility>
#include <vector>

/// The gate of an op. An op first checks its arguments and finds the shape of its result; both work for
/// unknown dimensions, too. Then follows the gate: after the gate, every tensor has a value:
///
///     Tensor sum(const Tensor& x, const Axes& axis, bool keepdims) {
///       expect_number("sum", x);
///       const Groups groups("sum", x, axis, keepdims);
///       if (is_symbolic(x)) return defer("sum", {groups.shape, x.dtype()}, sum, x, axis, keepdims);
///       ...
///
/// An op that only calls others needs no gate.
namespace ktape {

/// The results of a new symbol: at once where the operands have values (inside a running graph), symbolic
/// otherwise.
std::vector<Tensor> defer(Ref<Symbol> symbol, std::vector<OutputInfo> results);

/// An argument of an op that waits: tensors, alone or in lists, come from the values of the operands,
/// anything else is kept.
template <class T>
class Argument {
 public:
  Argument(const T& value, std::vector<Operand>& operands) : value_(value) { static_cast<void>(operands); }
  const T& get(const OperandValues&) const { return value_; }

 private:
  T value_;
};

template <>
class Argument<Tensor> {
 public:
  Argument(const Tensor& x, std::vector<Operand>& operands) : at_(operands.size()) {
    operands.emplace_back(x);
  }
  const Tensor& get(const OperandValues& values) const { return values[at_]; }

 private:
  std::size_t at_;
};

template <>
class Argument<std::vector<Tensor>> {
 public:
  Argument(const std::vector<Tensor>& list, std::vector<Operand>& operands)
      : at_(operands.size()), size_(list.size()) {
    operands.insert(operands.end(), list.begin(), list.end());
  }
  std::vector<Tensor> get(const OperandValues& values) const {
    std::vector<Tensor> list;
    for (std::size_t i = 0; i < size_; ++i) list.push_back(values[at_ + i]);
    return list;
  }

 private:
  std::size_t at_, size_;
};

/// A tensor that has no influence on the gradient of the op: its shape matters, or steps between its values
/// do.
struct WithoutGradient {
  const Tensor& tensor;
};

template <>
class Argument<WithoutGradient> {
 public:
  Argument(const WithoutGradient& x, std::vector<Operand>& operands) : at_(operands.size()) {
    operands.emplace_back(x.tensor, false);
  }
  const Tensor& get(const OperandValues& values) const { return values[at_]; }

 private:
  std::size_t at_;
};

template <>
class Argument<TensorList> : public Argument<std::vector<Tensor>> {
 public:
  Argument(const TensorList& list, std::vector<Operand>& operands)
      : Argument<std::vector<Tensor>>(list.vector(), operands) {}
};

/// The call f(arguments...), for later.
template <class F, class... T>
class DeferredCall final : public Symbol {
 public:
  DeferredCall(const char* op, bool updates, F f, const T&... arguments)
      : DeferredCall(op, updates, std::move(f), std::vector<Operand>(), arguments...) {}

  void run(const OperandValues& values, Results& results) const override {
    results.set(std::apply([&](const auto&... argument) { return f_(argument.get(values)...); }, arguments_));
  }
  bool updates() const override { return updates_; }

 private:
  // The braces make the arguments name their operands from left to right.
  DeferredCall(const char* op, bool updates, F f, std::vector<Operand> operands, const T&... arguments)
      : Symbol(op), f_(std::move(f)), updates_(updates), arguments_{Argument<T>(arguments, operands)...} {
    set_operands(std::move(operands));
  }

  F f_;
  bool updates_;
  std::tuple<Argument<T>...> arguments_;
};

/// Runs `f(arguments...)`, which returns a tensor of this shape and dtype, later: the gate's other half.
template <class F, class... T>
Tensor defer(const char* op, const OutputInfo& result, F f, const T&... arguments) {
  return defer(Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, false, f, arguments...)), {result})[0];
}

/// Defers an op whose result is a vector of tensors.
template <class F, class... T>
std::vector<Tensor> defer(const char* op, std::vector<OutputInfo> results, F f, const T&... arguments) {
  return defer(Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, false, f, arguments...)), std::move(results));
}

/// Defers an op with callables, which read the operands `captured` from outside (trace.hpp).
template <class F, class... T>
std::vector<Tensor> defer_capturing(const char* op, std::vector<OutputInfo> results,
                                    std::vector<Operand> captured, F f, const T&... arguments) {
  auto symbol = Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, false, f, arguments...));
  symbol->set_captured(std::move(captured));
  return defer(std::move(symbol), std::move(results));
}

/// Defers a call that changes the variable x and returns the new value of x.
template <class F, class... T>
Tensor defer_update(const char* op, const Variable& x, F f, const T&... arguments) {
  return defer(Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, true, f, arguments...)),
               std::vector<OutputInfo>{{x.shape(), x.dtype()}})[0];
}

}  // namespace ktape
