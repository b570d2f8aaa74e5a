#pragma once
#include <ktape/autograd/tensor.hpp>

#include <concepts>
#include <type_traits>
#include <vector>

/// Detection, at compile time, of the forms of `call` that a layer class has. Internal: for layer.hpp.
namespace ktape::nn {

class LayerImpl;
struct CallArguments;

/// Functions that call a layer on one tensor and on several tensors; null when the class has no such form.
struct CallForms {
  Tensor (*one)(LayerImpl& layer, const Tensor& x, const CallArguments& arguments) = nullptr;
  std::vector<Tensor> (*several)(LayerImpl& layer, const std::vector<Tensor>& inputs,
                                 const CallArguments& arguments) = nullptr;
};

/// Tells whether a class has a form of `call` that takes these arguments and returns one tensor or several.
template <class T, class... Arguments>
concept Calls = requires(T& layer, const Arguments&... arguments) {
  requires std::convertible_to<decltype(layer.call(arguments...)), std::vector<Tensor>> ||
      std::convertible_to<decltype(layer.call(arguments...)), Tensor>;
};

/// Deduction of the class that declares the form of `call` for one tensor and further arguments:
/// `of(&T::call)` returns the class as a std::type_identity.
template <class... Arguments>
struct DeclaringClass {
  template <class Class>
  static std::type_identity<Class> of(Tensor (Class::*)(const Tensor&, const Arguments&...));
};

/// Tells whether a class declares or inherits a form of `call` for one tensor. The virtual functions of
/// LayerImpl itself do not count.
template <class T, class... Arguments>
concept CallsOne = Calls<T, Tensor, Arguments...> && !requires {
  requires std::same_as<decltype(DeclaringClass<Arguments...>::of(&T::call)), std::type_identity<LayerImpl>>;
};

template <class T>
inline constexpr bool has_form_of_call =
    CallsOne<T, CallArguments> || CallsOne<T> || Calls<T, std::vector<Tensor>, CallArguments> ||
    Calls<T, std::vector<Tensor>>;

template <class Result>
std::vector<Tensor> listed(Result&& result) {
  if constexpr (std::convertible_to<Result, std::vector<Tensor>>) return std::forward<Result>(result);
  else return {Tensor(std::forward<Result>(result))};
}

/// Returns the forms of `call` of a class. Of two forms that differ only in the CallArguments, the form with
/// CallArguments is taken.
template <class T>
constexpr CallForms call_forms_of() {
  CallForms forms;
  if constexpr (CallsOne<T, CallArguments>)
    forms.one = [](LayerImpl& layer, const Tensor& x, const CallArguments& arguments) -> Tensor {
      return static_cast<T&>(layer).call(x, arguments);
    };
  else if constexpr (CallsOne<T>)
    forms.one = [](LayerImpl& layer, const Tensor& x, const CallArguments&) -> Tensor {
      return static_cast<T&>(layer).call(x);
    };
  if constexpr (Calls<T, std::vector<Tensor>, CallArguments>)
    forms.several = [](LayerImpl& layer, const std::vector<Tensor>& inputs, const CallArguments& arguments) {
      return listed(static_cast<T&>(layer).call(inputs, arguments));
    };
  else if constexpr (Calls<T, std::vector<Tensor>>)
    forms.several = [](LayerImpl& layer, const std::vector<Tensor>& inputs, const CallArguments&) {
      return listed(static_cast<T&>(layer).call(inputs));
    };
  return forms;
}

template <class T>
inline constexpr CallForms call_forms = call_forms_of<T>();

}  // namespace ktape::nn
