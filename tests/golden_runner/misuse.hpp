#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>

#include "call.hpp"

/// Calls that do not fit. Their errors must name the function that was called, not a function of which it is made.
namespace golden {

using Inputs = std::map<std::string, Tensor>;
using Attributes = std::map<std::string, Value>;

/// Returns values of arguments that few functions take in the place of the given one.
inline std::vector<Tensor> unfit(const Tensor& x) {
  namespace K = ktape::backend;
  std::vector<Tensor> out{Tensor()};
  Shape longer = x.shape();
  if (longer.rank() > 0) longer[-1] += 1;
  const DType dtype = x.dtype();
  for (const Shape& shape :
       {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 3, 5}, Shape{2, 3, 5, 4, 1, 2}, Shape{0}, longer})
    out.push_back(K::ones(shape, {.dtype = dtype}));
  for (const char* other : {"bool", "int32", "uint8", "float16", "float32", "float64"})
    if (dtype != other) out.push_back(K::cast(x, other));
  if (dtype.is_integer()) out.push_back(K::full(x.shape(), -99, dtype));
  for (std::size_t i = 0, n = out.size(); i < n; ++i)
    if (out[i].defined()) out.push_back(ktape::make_placeholder(out[i].shape(), out[i].dtype(), "unfit"));
  return out;
}

inline std::vector<Value> unfit(const Value& given) {
  const auto number = [](Value::Kind kind, double n) {
    Value value;
    value.kind = kind, value.number = n;
    return value;
  };
  if (given.kind == Value::Text) {
    Value text = given;
    text.text = "nonsense";
    return {text};
  }
  if (given.kind == Value::List) {
    Value shorter = given, longer = given, far = given;
    if (!given.list.empty()) shorter.list.pop_back(), longer.list.push_back(given.list[0]);
    for (Value& each : far.list)
      if (each.kind == Value::Integer) each.number = 99;
    return {shorter, longer, far, number(Value::Integer, -5)};
  }
  if (given.kind == Value::Integer || given.kind == Value::None)
    return {number(Value::Integer, 99), number(Value::Integer, -99), number(Value::Integer, 0)};
  if (given.kind == Value::Real) return {number(Value::Real, -5), number(Value::Real, NAN)};
  return {};
}

/// Calls f with each argument in turn replaced by values that do not fit, and returns the texts of errors that name another
/// function than the given one.
template <class F>
std::set<std::string> misnamed_errors(const std::string& name, const Inputs& inputs,
                                      const Attributes& attributes, F call) {
  std::set<std::string> misnamed;
  const auto attempt = [&](const std::string& what, const Inputs& inputs, const Attributes& attributes) {
    Case plain;
    plain.attributes = attributes;
    try {
      call(Call(plain, "float32", inputs));
    } catch (const ktape::Error& error) {
      const std::string text = error.what(), prefix = '[' + name + ']';
      if (!text.starts_with(prefix)) misnamed.insert(name + " with another " + what + ": " + text);
    } catch (const std::exception&) {
      // the entry of the function refuses the argument
    }
  };
  for (const auto& [key, x] : inputs)
    for (const Tensor& other : unfit(x)) {
      Inputs changed = inputs;
      changed[key] = other;
      attempt(key, changed, attributes);
    }
  for (const auto& [key, value] : attributes)
    for (const Value& other : unfit(value)) {
      Attributes changed = attributes;
      changed[key] = other;
      attempt(key, inputs, changed);
    }
  return misnamed;
}

}  // namespace golden
