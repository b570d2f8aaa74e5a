#pragma once
#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/options.hpp>
#include <ktape/autograd/shape_rules.hpp>
#include <ktape/autograd/symbol.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

/// Functions that defer an op. An op first checks its arguments and computes the shape of its result; both
/// steps also work with unknown dimensions. The call of `defer` follows; after that line every tensor has a
/// value:
///
///     Tensor sum(const Tensor& x, const Axes& axis, bool keepdims) {
///       expect_number("sum", x);
///       const Groups groups("sum", x, axis, keepdims);
///       if (is_symbolic(x)) return defer("sum", {groups.shape, x.dtype()}, sum, x, axis, keepdims);
///       ...
///
/// An op that only calls other ops needs no call of `defer`.
namespace ktape {

/// Returns the results of a new symbol: values where the operands have values (inside a running graph),
/// symbolic tensors otherwise.
///
///     struct Scaled {
///       static Tensor call(const Tensor& x, const Tensor& like) {
///         if (ktape::is_symbolic(x, like))
///           return ktape::defer("scaled", ktape::info_of(x), call, x,
///                               ktape::WithoutGradient{like});
///         return x * static_cast<double>(like.size());
///       }
///     };
///     Tensor x = K::placeholder({.shape = Shape{2}});
///     auto f = K::function({x}, {Scaled::call(x, K::ones({3}))});
///     std::cout << f({K::constant({1., 2.})})[0];
std::vector<Tensor> defer(Ref<Symbol> symbol, std::vector<OutputInfo> results);

/// Clears the bytes of a function or an argument that belong to no value, so that equal objects have equal
/// bytes. Internal: for DeferredCall.
template <class T>
void clear_padding(T& x) {
#if __has_builtin(__builtin_clear_padding)
  if constexpr (std::is_trivially_copyable_v<T> && !std::is_const_v<T>) __builtin_clear_padding(&x);
#endif
  static_cast<void>(x);
}

/// Returns whether two functions or arguments are known to be equal: numbers, closures and structs of numbers by their
/// bytes, lists and options by their elements and members. Internal: for DeferredCall.
template <class T>
bool same_value(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Shape> || std::is_same_v<T, std::string> || std::is_same_v<T, DType>) {
    return a == b;
  } else if constexpr (std::is_same_v<T, Axes>) {
    return a.all() == b.all() && a.list() == b.list();
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return a.kind() == b.kind() && a.integer() == b.integer() &&
           std::bit_cast<std::uint64_t>(a.real()) == std::bit_cast<std::uint64_t>(b.real());
  } else if constexpr (requires { *a, a.has_value(); }) {
    return a.has_value() == b.has_value() && (!a.has_value() || same_value(*a, *b));
  } else if constexpr (requires { a.list(), a.over(1); }) {
    return same_value(a.list(), b.list());
  } else if constexpr (requires { a.entries(); }) {
    return same_value(a.entries(), b.entries());
  } else if constexpr (requires { a.begin() != a.end(), a.size(); }) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same_value(x, y); });
  } else if constexpr (Options<T>) {
    std::vector<const void*> members;
    fields(const_cast<T&>(a), [&](const char*, const auto& member) { members.push_back(&member); });
    auto next = members.begin();
    bool same = true;
    fields(const_cast<T&>(b), [&]<class M>(const char*, const M& member) {
      same = same_value(*static_cast<const M*>(*next++), member) && same;
    });
    return same;
  } else if constexpr (std::is_empty_v<T>) {
    return true;
  } else if constexpr (std::is_trivially_copyable_v<T> && !requires {
                         { a == b } -> std::same_as<bool>;
                       }) {
    return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(T)) == 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;  // two NaN are equal, the zeros are not
  } else if constexpr (requires {
                         { a == b } -> std::same_as<bool>;
                       }) {
    return a == b;
  } else {
    return false;
  }
}

/// An argument of a deferred op. Tensors, alone or in lists, become operands and are read when the op runs;
/// an argument of another type is copied. Internal: for `defer`.
template <class T>
class Argument {
 public:
  Argument(const T& value, std::vector<Operand>& operands) : value_(value) {
    static_cast<void>(operands);
    clear_padding(value_);
  }
  const T& get(const OperandValues&) const { return value_; }
  bool same(const Argument& other) const { return same_value(value_, other.value_); }

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
  bool same(const Argument& other) const { return at_ == other.at_; }

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
  bool same(const Argument& other) const { return at_ == other.at_ && size_ == other.size_; }

 private:
  std::size_t at_, size_;
};

/// A tensor through which the op passes no gradient: only the shape of the tensor matters, or the op is a
/// step function of the tensor.
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
  bool same(const Argument& other) const { return at_ == other.at_; }

 private:
  std::size_t at_;
};

template <>
class Argument<TensorList> : public Argument<std::vector<Tensor>> {
 public:
  Argument(const TensorList& list, std::vector<Operand>& operands)
      : Argument<std::vector<Tensor>>(list.vector(), operands) {}
};

/// A symbol that calls f(arguments...) when it runs. Internal: for `defer`.
template <class F, class... T>
class DeferredCall final : public Symbol {
 public:
  DeferredCall(const Op& op, bool updates, F f, const T&... arguments)
      : DeferredCall(op, updates, std::move(f), std::vector<Operand>(), arguments...) {}

  void run(const OperandValues& values, Results& results) const override {
    results.set(std::apply([&](const auto&... argument) { return f_(argument.get(values)...); }, arguments_));
  }
  bool updates() const override { return updates_; }
  [[gnu::cold]] bool same_call(const Symbol& other) const override {
    if (typeid(*this) != typeid(other)) return false;
    const auto& call = static_cast<const DeferredCall&>(other);
    return same_value(f_, call.f_) && same_arguments(call, std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... I>
  bool same_arguments(const DeferredCall& call, std::index_sequence<I...>) const {
    const auto same = [](const auto& a, const auto& b) {
      if constexpr (requires { a.same(b); }) return a.same(b);
      else return false;
    };
    return (... && same(std::get<I>(arguments_), std::get<I>(call.arguments_)));
  }
  // The braced initializer guarantees that the arguments add their operands from left to right.
  [[gnu::cold]] DeferredCall(const Op& op, bool updates, F f, std::vector<Operand> operands,
                             const T&... arguments)
      : Symbol(op), f_(std::move(f)), updates_(updates), arguments_{Argument<T>(arguments, operands)...} {
    set_operands(std::move(operands));
    clear_padding(f_);
  }

  F f_;
  bool updates_;
  std::tuple<Argument<T>...> arguments_;
};

/// Defers the call `f(arguments...)`, which returns a tensor with the shape and dtype `result`. An op that draws random
/// numbers, prints, or reads what is no argument, is `impure("its name")`.
template <class F, class... T>
[[gnu::cold]] Tensor defer(const Op& op, const OutputInfo& result, F f, const T&... arguments) {
  return defer(Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, false, f, arguments...)), {result})[0];
}

/// Defers an op whose result is a vector of tensors.
template <class F, class... T>
[[gnu::cold]] std::vector<Tensor> defer(const Op& op, std::vector<OutputInfo> results, F f,
                                        const T&... arguments) {
  return defer(Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, false, f, arguments...)), std::move(results));
}

/// Defers an op with callables that read the operands `captured` from their surroundings (trace.hpp).
///
///     Tensor x = K::placeholder({.shape = Shape{2}});
///     Variable w = K::variable(3.f), b = K::variable(1.f);
///     ktape::Callable twice = [w](const std::vector<Tensor>& v) {
///       return std::vector{v[0] * w * w};
///     };
///     ktape::Callable shifted = [b](const std::vector<Tensor>& v) {
///       return std::vector{v[0] + b};
///     };
///     auto first = ktape::trace("both", {ktape::info_of(x)}, twice);
///     auto second = ktape::trace("both", first.results, shifted);
///     auto both = [twice, shifted](const Tensor& v) { return shifted(twice({v})); };
///     Tensor y = ktape::defer_capturing("both", second.results,
///                                       ktape::joined(first.captured, second.captured),
///                                       both, x)[0];
///     std::cout << K::function({x}, {y})({K::constant({1., 2.})})[0];
template <class F, class... T>
std::vector<Tensor> defer_capturing(const char* op, std::vector<OutputInfo> results,
                                    std::vector<Operand> captured, F f, const T&... arguments) {
  auto symbol = Ref<Symbol>::adopt(new DeferredCall<F, T...>(impure(op), false, f, arguments...));
  symbol->set_captured(std::move(captured));
  return defer(std::move(symbol), std::move(results));
}

/// Defers a call that changes the variable x and returns the new value of x.
///
///     Variable count = K::variable(0.f);
///     auto add = [count](const Tensor& x) { return K::update_add(count, x); };
///     Tensor x = K::placeholder({.shape = Shape{}});
///     Tensor after = ktape::defer_update("count", count, add, x);
///     auto f = K::function({x}, {after});
///     f({K::constant(2.f)});
///     std::cout << f({K::constant(3.f)})[0] << " " << count;
template <class F, class... T>
Tensor defer_update(const char* op, const Variable& x, F f, const T&... arguments) {
  return defer(Ref<Symbol>::adopt(new DeferredCall<F, T...>(op, true, f, arguments...)),
               std::vector<OutputInfo>{{x.shape(), x.dtype()}})[0];
}

}  // namespace ktape
