#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>

#include "case.hpp"

/// Entries of the table for functions whose arguments are alike.
namespace golden_ops {

template <class F>
auto unary(F f, const char* x = "x") {
  return [f, x](const Call& c) -> Results { return {f(c[x])}; };
}

/// Calls f with the tensor, or the number, under the name.
template <class F>
decltype(auto) with_operand(const Call& c, const std::string& name, F f) {
  if (c.given(name)) return f(c[name]);
  const Value& value = c.value(name);
  if (value.kind == Value::Bool) return f(value.number != 0);
  if (value.kind == Value::Integer) return f(static_cast<std::int64_t>(value.number));
  if (value.kind != Value::Real) throw std::logic_error("a number is expected for " + name);
  return f(value.number);
}

template <class F>
auto binary(F f, const char* x1 = "x1", const char* x2 = "x2") {
  return [f, x1, x2](const Call& c) -> Results {
    return with_operand(c, x1, [&](const auto& x) {
      return with_operand(c, x2, [&](const auto& y) { return Results{f(x, y)}; });
    });
  };
}

/// The attribute, or a default value if the attribute is not there.
template <class T>
T get_or(const Call& c, const std::string& name, T otherwise) {
  if (c.has(name)) return c.get<T>(name);
  return otherwise;
}

/// The tensor, or the number, under the name.
inline ktape::ArrayLike number_or_tensor(const Call& c, const std::string& name) {
  if (c.given(name)) return c[name];
  return c.get<double>(name);
}

/// The axis; none for None and for an axis that is not there.
inline std::optional<int> optional_axis(const Call& c) { return get_or(c, "axis", std::optional<int>()); }
inline Axes axes(const Call& c) { return get_or(c, "axis", Axes()); }
inline bool keepdims(const Call& c) { return get_or(c, "keepdims", false); }

}  // namespace golden_ops
