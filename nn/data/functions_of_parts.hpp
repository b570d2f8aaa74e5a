#pragma once
#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/core/named_tensors.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

/// Functions of the parts of an element, `[](Tensor x, Tensor y) { ... }`, as functions of the element. Internal: for
/// dataset.hpp.
namespace ktape::data::detail {

using Element = nn::NamedTensors;

template <class F>
struct Parameters : Parameters<decltype(&F::operator())> {};
template <class R, class... A>
struct Parameters<R (*)(A...)> : std::type_identity<std::tuple<A...>> {};
template <class C, class R, class... A>
struct Parameters<R (C::*)(A...)> : std::type_identity<std::tuple<A...>> {};
template <class C, class R, class... A>
struct Parameters<R (C::*)(A...) const> : std::type_identity<std::tuple<A...>> {};

/// Returns the types of the parameters of a function: of a generic one, as many tensors as it takes.
template <class F>
auto parameters_of() {
  if constexpr (std::is_pointer_v<F> || requires { &F::operator(); }) return Parameters<F>();
  else if constexpr (std::invocable<F&, Tensor, Tensor>)
    return std::type_identity<std::tuple<Tensor, Tensor>>();
  else if constexpr (std::invocable<F&, Tensor, Tensor, Tensor>)
    return std::type_identity<std::tuple<Tensor, Tensor, Tensor>>();
  else return std::type_identity<std::tuple<>>();
}
template <class F>
using ParametersOf = typename decltype(parameters_of<F>())::type;

/// A callable of two or more arguments.
template <class F>
concept TakesParts = !std::invocable<F&, const Element&> && requires {
  requires std::tuple_size_v<ParametersOf<F>>
  >= 2;
};

/// Returns the parts of an element: those of `zip` and of from_tensor_slices with several arguments, or the tensors.
/// Throws ValueError, naming the operation, unless there are `count` parts.
std::vector<Element> parts_for(const char* op, const Element& element, std::size_t count);
/// Returns the tensor of a part of one tensor. Throws ValueError, naming the operation, for another part.
const Tensor& only_tensor(const char* op, const Element& part);

template <class Parameter>
auto argument(const char* op, const Element& part) {
  using T = std::remove_cvref_t<Parameter>;
  if constexpr (std::convertible_to<const Element&, T>) return T(part);
  else return T(only_tensor(op, part));
}

/// Returns the result of a function: a pair or a tuple becomes the parts of an element.
template <class Result, class R>
Result result_of(R&& given) {
  if constexpr (std::same_as<Result, Element> && requires { given.first; })
    return Element::of_parts({Element(given.first), Element(given.second)});
  else if constexpr (std::same_as<Result, Element> && !std::convertible_to<R, Element>)
    return std::apply([](const auto&... each) { return Element::of_parts({Element(each)...}); }, given);
  else return Result(std::forward<R>(given));
}

/// Returns a function of elements that calls f with the parts of the element.
template <class Result, class F>
auto of_parts(const char* op, F f) {
  return [op, f = std::move(f)](const Element& element) mutable -> Result {
    using Types = ParametersOf<F>;
    const std::vector<Element> parts = parts_for(op, element, std::tuple_size_v<Types>);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return result_of<Result>(f(argument<std::tuple_element_t<I, Types>>(op, parts[I])...));
    }
    (std::make_index_sequence<std::tuple_size_v<Types>>());
  };
}

}  // namespace ktape::data::detail
