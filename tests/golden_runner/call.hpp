#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/arguments/per_axis.hpp>
#include <ktape/ops/shape_like.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <type_traits>

#include "case.hpp"

namespace golden {

using ktape::Axes;
using ktape::DType;
using ktape::Shape;
using ktape::Tensor;
using ktape::backend::PaddingPair;
using Results = std::vector<Tensor>;

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_per_axis : std::false_type {};
template <class T>
struct is_per_axis<ktape::backend::PerAxis<T>> : std::true_type {
  using One = T;
};

/// The arguments of one call: tensors under their parameters' names and attributes. The object records which
/// arguments were read, so that an argument that an op's entry does not read is a failure.
class Call {
 public:
  Call(const Case& c, DType floatx, std::map<std::string, Tensor> tensors)
      : attributes_(c.attributes), floatx_(floatx), tensors_(std::move(tensors)) {}

  /// The tensor of this name.
  const Tensor& operator[](const std::string& name) const {
    seen_.insert(name);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::logic_error("the case has no input " + name);
    return found->second;
  }
  bool given(const std::string& name) const { return tensors_.count(name) > 0; }
  /// Returns the tensor, or an undefined tensor when the case leaves the argument out or gives None.
  Tensor optional(const std::string& name) const {
    if (given(name)) return (*this)[name];
    if (has(name) && !none(name)) throw std::logic_error("a tensor or None is expected for " + name);
    return Tensor();
  }

  /// Returns the tensors `name/0`, `name/1`, ...
  std::vector<Tensor> list(const std::string& name) const {
    std::vector<Tensor> out;
    seen_.insert(name);  // as None
    for (int i = 0; given(name + '/' + std::to_string(i)); ++i)
      out.push_back((*this)[name + '/' + std::to_string(i)]);
    return out;
  }

  /// Returns whether the attribute exists; its value may be None.
  bool has(const std::string& name) const { return attributes_.count(name) > 0; }
  bool none(const std::string& name) const { return value(name).kind == Value::None; }
  const Value& value(const std::string& name) const {
    seen_.insert(name);
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) throw std::logic_error("the case has no attribute " + name);
    return found->second;
  }

  /// Returns the attribute as a T. "float32" as a dtype stands for the dtype of this run.
  template <class T>
  T get(const std::string& name) const {
    return as<T>(value(name));
  }
  /// Sets a field of an options struct if the attribute is there: an absent one takes the library's default.
  template <class T>
  void set(const std::string& name, T& field) const {
    if (has(name)) field = get<T>(name);
  }

  std::vector<std::string> unused_arguments() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_)
      if (!seen_.count(name)) names.push_back(name);
    for (const auto& [name, attribute] : attributes_)
      if (name != "name" && !seen_.count(name)) names.push_back(name);  // tensors keep no names
    return names;
  }

 private:
  template <class T>
  T as(const Value& value) const {
    if constexpr (std::is_same_v<T, ktape::OptionalShape>) {
      return value.kind == Value::None ? T() : T(as<Shape>(value));
    } else if constexpr (is_optional<T>::value) {
      if (value.kind == Value::None) return std::nullopt;
      return as<typename T::value_type>(value);
    } else if constexpr (std::is_same_v<T, PaddingPair>) {
      if (value.kind != Value::List) return as<std::int64_t>(value);
      const auto pair = as<std::array<std::int64_t, 2>>(value);
      return {pair[0], pair[1]};
    } else if constexpr (is_per_axis<T>::value) {
      using One = typename is_per_axis<T>::One;
      return value.kind == Value::List ? T(as<std::vector<One>>(value)) : T(as<One>(value));
    } else if constexpr (std::is_same_v<T, Axes>) {
      if (value.kind == Value::None) return Axes();
      return value.kind == Value::List ? Axes(as<std::vector<int>>(value)) : Axes(as<int>(value));
    } else if constexpr (std::is_same_v<T, DType>) {
      expect(value, Value::Text);
      return value.text == "float32" ? floatx_ : DType(value.text);
    } else if constexpr (std::is_same_v<T, std::string>) {
      expect(value, Value::Text);
      return value.text;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value.kind != Value::Bool && value.kind != Value::Integer) expect(value, Value::Bool);
      return value.number != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (std::is_integral_v<T> || value.kind != Value::Integer)
        expect(value, std::is_integral_v<T> ? Value::Integer : Value::Real);
      return static_cast<T>(value.number);
    } else if constexpr (std::is_same_v<T, ktape::backend::ShapeLike>) {
      return as<Shape>(value);
    } else {
      return sequence<T>(value);
    }
  }

  template <class T>
  T sequence(const Value& value) const {
    expect(value, Value::List);
    T out{};
    if constexpr (requires { std::tuple_size<T>::value; }) {
      if (value.list.size() != out.size())
        ktape::fail("[golden] the argument must have ", out.size(), " entries: received ", value.list.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = as<typename T::value_type>(value.list[i]);
    } else {
      for (const Value& item : value.list) out.push_back(as<std::decay_t<decltype(*out.begin())>>(item));
    }
    return out;
  }

  static void expect(const Value& value, Value::Kind kind) {
    if (value.kind != kind) throw std::logic_error("an attribute is of another kind than the op takes");
  }

  const std::map<std::string, Value>& attributes_;
  DType floatx_;
  std::map<std::string, Tensor> tensors_;
  mutable std::set<std::string> seen_;
};

/// Returns a shape as a tensor of int64.
inline Tensor integers(const Shape& shape) {
  Tensor out = Tensor::empty({shape.rank()}, "int64");
  std::copy(shape.begin(), shape.end(), out.pointer<std::int64_t>());
  return out;
}

/// The functions that call the ops of the files.
struct Table {
  std::map<std::string, std::function<Results(const Call&)>> ops;
  /// The ops whose x becomes a variable, which must have a value.
  std::set<std::string> updates;
  /// The configuration setters: each function makes the call and returns the value of the getter afterwards.
  std::map<std::string, std::function<Value(const Call&)>> settings;

  bool knows(const Case& c) const { return ops.count(c.op) || settings.count(c.op); }
};

}  // namespace golden
