#pragma once
#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/shape.hpp>
#include <ktape/autograd/scalar.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

#include <array>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace ktape::nn {

class Config;
class Value;

/// A string or Python's None: `.merge_mode = "sum"`, `.merge_mode = None`.
struct OptionalString : std::optional<std::string> {
  using std::optional<std::string>::optional;
  OptionalString(NoneType) {}
  OptionalString(std::optional<std::string> text) : std::optional<std::string>(std::move(text)) {}
};

/// A type with a form in configs, from which an object can be made again: initializers, layers and so on.
template <class T>
concept Configurable = requires(const T& object) {
  object.to_value();
};

/// A value in a config, as in JSON: null, a bool, an integer, a number, a string, a list of values, or
/// another config.
class Value {
 public:
  using List = std::vector<Value>;

  // The source defines copies and the destructor, because std::variant makes these slow to compile.
  Value() noexcept;  ///< null
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  Value(NoneType) : Value() {}
  template <Arithmetic T>
  Value(T value) : Value(Scalar(value)) {}
  Value(const Scalar& number);
  Value(const char* value) : Value(std::string(value)) {}
  Value(std::string value);
  Value(List values);
  Value(const Config& config);
  /// Makes a list of the extents, with null for an unknown extent.
  Value(const Shape& shape);
  /// Converts axes: one axis to an integer, several axes to a list, all axes to null.
  Value(const Axes& axes);
  template <class T>
  Value(const std::optional<T>& value) : Value() {
    if (value) *this = Value(*value);
  }
  template <class T>
  requires(!std::same_as<T, Value>) Value(const std::vector<T>& values)
      : Value(List(values.begin(), values.end())) {}
  template <class T, std::size_t N>
  Value(const std::array<T, N>& values) : Value(List(values.begin(), values.end())) {}
  template <class T>
  Value(const backend::PerAxis<T>& numbers)
      : Value(numbers.list().empty() ? Value() : Value(numbers.list())) {}
  Value(const backend::PaddingPair& pair) : Value(List{pair.before, pair.after}) {}
  template <Configurable T>
  Value(const T& object) : Value(object.to_value()) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_boolean() const { return std::holds_alternative<bool>(data_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_list() const { return std::holds_alternative<List>(data_); }
  bool is_config() const { return std::holds_alternative<std::shared_ptr<const Config>>(data_); }

  /// Returns the content as the type that the function's name says. Throws TypeError if the value is of
  /// another type; `what` names the value in the message. A number without a fraction is also an integer.
  bool boolean(const std::string& what = unnamed) const;
  std::int64_t integer(const std::string& what = unnamed) const;
  double number(const std::string& what = unnamed) const;
  const std::string& string(const std::string& what = unnamed) const;
  const List& list(const std::string& what = unnamed) const;
  const Config& config(const std::string& what = unnamed) const;
  Shape shape(const std::string& what = unnamed) const;
  Axes axes(const std::string& what = unnamed) const;

  /// Returns the value as a T: a number type, a string, a Shape, Axes, an optional, vector or array of these,
  /// or a Configurable type. Throws TypeError for a value of another type, and ValueError for an integer that
  /// does not fit into T and for a list whose length is not the length of the array T.
  template <class T>
  T as(const std::string& what = unnamed) const;

  friend bool operator==(const Value& a, const Value& b);

 private:
  static constexpr const char* unnamed = "[Config] the value";
  [[noreturn]] void mismatch(const std::string& what, const char* rule) const;
  std::int64_t integer_between(std::int64_t least, std::int64_t most, const std::string& what) const;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, std::shared_ptr<const Config>>
      data_;
};

/// The arguments from which an object can be made again: values under Keras's names, in order.
///
///     Config config{{"units", 3}, {"name", "scores"}};
///     config.at("units").integer();
///
/// For example:
///
///     nn::Config config{{"units", 3}, {"name", "scores"}};
///     std::cout << config.at("units").integer() << " " << nn::to_json(config);
class Config {
 public:
  using Entry = std::pair<std::string, Value>;

  Config() = default;
  Config(std::initializer_list<Entry> entries);

  bool contains(const std::string& name) const { return find(name) != nullptr; }
  /// Returns the value under a name. Throws ValueError, with the nearest known names, if the config lacks the
  /// name.
  const Value& at(const std::string& name) const;
  /// Returns the value under a name, or `otherwise` if the config lacks the name.
  Value get(const std::string& name, const Value& otherwise = {}) const;
  /// Replaces the value of a name, or appends name and value.
  void set(const std::string& name, Value value);
  /// Sets all entries of another config, in their order, as `set` does.
  void update(const Config& other);
  void erase(const std::string& name);

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::vector<std::string> names() const;

  /// Returns true if both configs have equal names with equal values, in any order.
  friend bool operator==(const Config& a, const Config& b);

 private:
  const Value* find(const std::string& name) const;
  /// Adds the places of new entries to places_, if the config has many entries.
  void note_last();

  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t>
      places_;  ///< the index of each name; empty while there are few entries
};

/// Returns the value as JSON, on one line or, with an indent, on several lines. Throws ValueError for a
/// number that is not finite, which JSON cannot express.
std::string to_json(const Value& value, int indent = -1);
/// Returns the value of a JSON text. Throws ValueError, naming the position, for a text that is not JSON or
/// is nested too deeply.
///
///     nn::Value value = nn::from_json(R"({"units": 3, "rates": [0.1, 0.2]})");
///     std::cout << value.config().at("rates").list()[1] << " " << value;
Value from_json(const std::string& text);

/// Writes the value as JSON.
std::ostream& operator<<(std::ostream& out, const Value& value);

template <class T>
T Value::as(const std::string& what) const {
  if constexpr (std::is_same_v<T, bool>) return boolean(what);
  else if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(std::int64_t))
    return static_cast<T>(integer(what));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(
        integer_between(std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), what));
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(number(what));
  else if constexpr (std::is_same_v<T, std::string>) return string(what);
  else if constexpr (std::is_same_v<T, Shape>) return shape(what);
  else if constexpr (std::is_same_v<T, Axes>) return axes(what);
  else if constexpr (std::is_same_v<T, Value>) return *this;
  else if constexpr (std::is_same_v<T, backend::PaddingPair>) {
    if (!is_list()) return integer(what);
    const auto pair = as<std::array<std::int64_t, 2>>(what);
    return {pair[0], pair[1]};
  } else if constexpr (requires(const T& t) { t.over(1); }) {
    using One = typename T::value_type;
    if (is_null()) return std::vector<One>();
    return is_list() ? T(as<std::vector<One>>(what)) : T(as<One>(what));
  } else if constexpr (std::is_same_v<T, Config>) return config(what);
  else if constexpr (Configurable<T>) return T(*this);
  else if constexpr (requires { T().has_value(); }) {
    return is_null() ? T() : T(as<typename T::value_type>(what));
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    T out{};
    if (list(what).size() != out.size()) fail(what, " must have ", out.size(), " entries: received ", *this);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = list()[i].as<typename T::value_type>(what);
    return out;
  } else {
    T out;
    if constexpr (std::is_arithmetic_v<typename T::value_type>)
      if (is_number()) return {as<typename T::value_type>(what)};  // Keras accepts one number for all axes
    for (const Value& value : list(what)) out.push_back(value.as<typename T::value_type>(what));
    return out;
  }
}

}  // namespace ktape::nn
