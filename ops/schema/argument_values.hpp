#pragma once
#include <ktape/autograd/indexing.hpp>
#include <ktape/autograd/options.hpp>
#include <ktape/ops/schema/config.hpp>

#include <any>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The arguments of ops as values of configs, by name where they are options: a struct of options lists its members
/// in a function `fields`, beside the op.
///
///     template <class F>
///     void fields(GeluOptions& options, F&& field) {
///       field("approximate", options.approximate);
///     }
///
/// A type of arguments that no Value can be made from has a function `value_of`. Internal: sources only.
namespace ktape {

/// The values of an argument: one value without a name, or the options of a struct, each with its name.
using ArgumentValues = std::vector<std::pair<const char*, nn::Value>>;

inline nn::Value value_of(DType dtype) { return dtype.name(); }
inline nn::Value value_of(const std::pair<double, double>& pair) {
  return nn::Value::List{pair.first, pair.second};
}
nn::Value value_of(const std::map<std::string, std::int64_t>& numbers);
/// Returns the entries as Keras writes them: positions, null, "..." and the start, stop and step of slices.
nn::Value value_of(const Indices& indices);
template <class T>
nn::Value value_of(const backend::PerAxis<T>& each) {
  return each.list().size() == 1 ? nn::Value(each.list()[0]) : nn::Value(each.list());
}
template <class T>
requires std::constructible_from<nn::Value, const T&> nn::Value value_of(const T& value) { return value; }
template <class T>
nn::Value value_of(const std::optional<T>& value) {
  return value ? value_of(*value) : nn::Value();
}

/// An argument that is an operand as long as it has no value: a shape with symbolic extents.
template <class T>
concept Waiting = requires(const T& argument) {
  argument.waits();
  argument.known();
};

/// A type of arguments with a form in configs.
template <class T>
concept Describable = Options<T> || Waiting<T> || requires(const T& argument) {
  value_of(argument);
};

/// Returns the values of an argument of the type T; nothing where operands take their place.
template <Describable T>
std::optional<ArgumentValues> argument_values(const std::any& argument) {
  const T& typed = *std::any_cast<T>(&argument);
  if constexpr (Options<T>) {
    ArgumentValues values;
    fields(const_cast<T&>(typed),
           [&](const char* name, const auto& option) { values.emplace_back(name, value_of(option)); });
    return values;
  } else if constexpr (Waiting<T>) {
    if (typed.waits()) return {};
    return ArgumentValues{{"", value_of(typed.known())}};
  } else {
    return ArgumentValues{{"", value_of(typed)}};
  }
}

}  // namespace ktape
