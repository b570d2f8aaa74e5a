#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/schema/argument_values.hpp>
#include <ktape/ops/schema/operation.hpp>

#include <tuple>

/// Calls of functions of C++ with the arguments of an operation: tensors in the order of Keras's call, values in the order of
/// the other parameters, and the members of a struct of options by their names. Internal: sources only.
namespace ktape::nn {

/// Reads a value of a config as an argument of the type T.
template <class T>
T argument_from(const Value& value, const std::string& what) {
  if constexpr (std::is_same_v<T, DType>) {
    return DType(value.string(what));
  } else if constexpr (std::is_same_v<T, Scalar>) {
    if (value.is_boolean()) return value.boolean();
    return value.is_integer() ? Scalar(value.integer()) : Scalar(value.number(what));
  } else if constexpr (std::is_same_v<T, std::pair<double, double>>) {
    const auto both = value.as<std::array<double, 2>>(what);
    return {both[0], both[1]};
  } else if constexpr (std::is_same_v<T, Shape>) {
    return value.is_integer() ? Shape{value.integer()} : value.shape(what);
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::int64_t>>) {
    T numbers;
    for (const auto& [name, number] : value.config(what)) numbers[name] = number.integer(what + '.' + name);
    return numbers;
  } else if constexpr (requires { T().has_value(); }) {
    if (value.is_null()) return T();
    return argument_from<typename T::value_type>(value, what);
  } else if constexpr (requires { from_value(value, what, std::type_identity<T>()); }) {
    return from_value(value, what, std::type_identity<T>());
  } else {
    return value.as<T>(what);
  }
}

namespace detail {

template <class T>
inline constexpr bool is_tensors = std::is_same_v<T, TensorList> || std::is_same_v<T, std::vector<Tensor>>;
/// An argument that Keras takes in the call.
template <class T>
inline constexpr bool is_operand = std::is_same_v<T, Tensor> || std::is_same_v<T, ArrayLike> ||
                                   std::is_same_v<T, TensorOrNumber> || is_tensors<T>;

/// The parameters of a call, and which of them a function takes.
class Parameters {
 public:
  explicit Parameters(const OperationCall& call);
  /// Return the name of the parameter i among those for tensors, or among the others.
  const char* operand(std::size_t i) const { return operands_.at(i); }
  const char* value(std::size_t i) const { return values_.at(i); }
  /// Returns whether an option is a parameter and has a value.
  bool given(const char* option) const;

  void take_operand(std::size_t i) { taken_.push_back(operand(i)); }
  void take_value(std::size_t i) { taken_.push_back(value(i)); }
  void take_option(const char* name) { taken_.push_back(name); }
  /// Throws ValueError for a parameter that is not taken and has another value than its default.
  void expect_all_taken() const { call_->expect_only(taken_); }

 private:
  const OperationCall* call_;
  std::vector<const char*> operands_, values_, taken_;
};

template <class T>
auto operand(const OperationCall& call, const char* name) {
  if constexpr (std::is_same_v<T, TensorOrNumber>) return call.operand(name);
  else if constexpr (is_tensors<T>) return call.tensors(name);
  else return call.optional(name);
}

/// Returns a shape: numbers, or a tensor of rank 1.
template <Waiting T>
T shape(const OperationCall& call, const char* name) {
  if (call.value(name).is_null() && call.has(name)) return call.tensor(name);
  return call.shape(name);
}

template <Options T>
T options(const OperationCall& call, const Parameters& parameters) {
  T made;
  fields(made, [&]<class Option>(const char* name, Option& option) {
    if (!parameters.given(name)) return;
    if constexpr (std::is_same_v<Option, ArrayLike>)
      option = call.is_number(name) ? call.number(name) : ArrayLike(call.tensor(name));
    else if constexpr (std::is_assignable_v<Option&, const Tensor&>) option = call.tensor(name);
    else option = argument_from<Option>(call.value(name), call.what(name));
  });
  return made;
}

/// Returns the argument of the type T after `operands` operands and `values` values.
template <class T, std::size_t operands, std::size_t values>
decltype(auto) argument(const OperationCall& call, const Parameters& parameters) {
  if constexpr (is_operand<T>) return operand<T>(call, parameters.operand(operands));
  else if constexpr (Waiting<T>) return shape<T>(call, parameters.value(values));
  else if constexpr (Options<T>) return options<T>(call, parameters);
  else return argument_from<T>(call.value(parameters.value(values)), call.what(parameters.value(values)));
}

template <class T, std::size_t operands, std::size_t values>
void take(Parameters& parameters) {
  if constexpr (is_operand<T>) {
    parameters.take_operand(operands);
  } else if constexpr (Options<T>) {
    T made;
    fields(made, [&](const char* name, const auto&) { parameters.take_option(name); });
  } else {
    parameters.take_value(values);
  }
}

template <class... T, std::size_t... I>
constexpr std::size_t count_before(std::size_t end, bool operands, std::index_sequence<I...>) {
  return (std::size_t{0} + ... +
          std::size_t(I < end && (operands ? is_operand<T> : !is_operand<T> && !Options<T>)));
}

/// Returns the tensors of a result.
inline Tensor results(Tensor result) { return result; }
inline std::vector<Tensor> results(std::vector<Tensor> result) { return result; }
template <class T>
requires requires { std::tuple_size<T>::value; }
std::vector<Tensor> results(const T& result) {
  return std::apply([](const auto&... each) { return std::vector<Tensor>{each...}; }, result);
}

/// A struct of tensors.
template <class T>
requires(std::is_aggregate_v<T>&& requires {
  T{Tensor(), Tensor()};
}) std::vector<Tensor> results(const T& result) {
  if constexpr (requires { T{Tensor(), Tensor(), Tensor(), Tensor()}; }) {
    const auto& [a, b, c, d] = result;
    return {a, b, c, d};
  } else if constexpr (requires { T{Tensor(), Tensor(), Tensor()}; }) {
    const auto& [a, b, c] = result;
    return {a, b, c};
  } else {
    const auto& [a, b] = result;
    return {a, b};
  }
}

template <class R, class... A>
auto run(R (*f)(A...), const OperationCall& call) {
  return [&]<std::size_t... I>(std::index_sequence<I...> all) {
    Parameters parameters(call);
    (take<std::decay_t<A>, count_before<std::decay_t<A>...>(I, true, all),
          count_before<std::decay_t<A>...>(I, false, all)>(parameters),
     ...);
    parameters.expect_all_taken();
    return results(f(argument<std::decay_t<A>, count_before<std::decay_t<A>...>(I, true, all),
                              count_before<std::decay_t<A>...>(I, false, all)>(call, parameters)...));
  }
  (std::index_sequence_for<A...>());
}

}  // namespace detail

/// Calls the function f with the arguments of a call. An argument that f does not take must have its default. The
/// compiler makes cold functions small.
template <auto f>
[[gnu::cold]] auto calls(const OperationCall& call) {
  return detail::run(f, call);
}

}  // namespace ktape::nn
