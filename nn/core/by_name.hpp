#pragma once
#include <ktape/autograd/base/error.hpp>

#include <utility>

/// Arguments that must be given, by position or by name: `nn::Dense(4)`, `nn::Dense({.units = 4})`.
///
/// The options of a class have all arguments, in Keras's order. A constructor takes the options alone; the others
/// take the first arguments by position and set them in the options. Where such an argument may be a list in
/// braces, `nn::Reshape({6, 2})`, the constructor is a template: a call that fits both constructors means the one
/// that is no template, and g++ 12 takes `{.target_shape = {6, 2}}` for a Shape, too. Internal: for options.
namespace ktape::nn {

/// The first member of options that begin with numbers. No number converts to ByName, so `{2, 2}` is a list of
/// numbers, and never the first two options.
struct ByName {
  ByName() {}
};

namespace internal {

/// Returns whether an option that has no default was set.
template <class T>
bool is_given(const T& option) {
  if constexpr (requires { option.has_value(); }) return option.has_value();
  else if constexpr (requires { option.defined(); }) return option.defined();
  else if constexpr (requires { option.over(1); }) return !option.list().empty();
  else if constexpr (requires { option.all(); }) return !option.all();
  else return !option.empty();
}

/// Returns the value of an option that must be set. Throws ValueError if the option was not set: "[Dense] units
/// must be given".
template <class T>
const auto& given(const char* owner, const char* argument, const T& option) {
  if (!is_given(option)) fail("[", owner, "] ", argument, " must be given");
  if constexpr (requires { option.has_value(); }) return *option;
  else return option;
}

/// Returns the options with an argument that was given by position.
template <class Options, class Option, class Argument>
Options with(Options options, Option Options::*option, const Argument& argument) {
  options.*option = argument;
  return options;
}
/// Throws ValueError if the options have the argument, too, which has no default.
template <class Options, class Option, class Argument>
Options with(const char* owner, const char* name, const Options& options, Option Options::*option,
             const Argument& argument) {
  if (is_given(options.*option))
    fail("[", owner, "] ", name, " must be given once: received it by position and by name");
  return with(options, option, argument);
}

}  // namespace internal
}  // namespace ktape::nn
