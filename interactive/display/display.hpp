#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/data/dataset.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/plot/plot.hpp>
#include <ktape/nn/training/history.hpp>
#include <ktape/ops/help/help.hpp>

#include <xtensor/xio.hpp>

#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <ostream>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

/// Shows the value of an expression of any type at the prompt and in notebooks: as text like Python's repr,
/// and in a notebook also as a table or picture.
namespace ktape::interactive {

/// Returns the stream for the text of the next value to be shown.
std::ostream& begin_display();
/// Shows the value: as the result of the cell, or as output in the middle of the cell.
void end_display(bool is_result);

/// A MIME bundle: representations of a value, by MIME type.
using MimeBundle = std::map<std::string, std::string>;
/// Returns whether values are shown in a notebook, which can show more than text.
bool shows_forms();
/// Adds representations of the value that is being shown.
void add_forms(const MimeBundle& forms);

/// Returns an HTML table, and for images a PNG picture.
MimeBundle forms_of(const Tensor& tensor);
MimeBundle forms_of(const Variable& variable);
/// Returns the curves of all logged values, each beside the curve of its validation value.
MimeBundle forms_of(const nn::History& history);
/// Returns a drawing of the model's graph; nothing for a model without a known graph.
MimeBundle forms_of(const nn::Model& model);
MimeBundle forms_of(const plot::Figure& figure);

/// Writes the tensor as NumPy prints arrays, followed by the op that recorded it, if any.
void write_tensor(std::ostream& out, const Tensor& tensor);
/// Writes the variable's value as `write_tensor` does, followed by the variable's name.
void write_variable(std::ostream& out, const Variable& variable);
/// Writes the model's summary.
void write_model(std::ostream& out, const nn::Model& model);
/// Writes a table with a row for each epoch and a column for each logged value.
void write_history(std::ostream& out, const nn::History& history);
/// Draws the figure in characters, as wide as the terminal, in colors if the terminal has colors.
void write_figure(std::ostream& out, const plot::Figure& figure);
/// Writes `<Dataset of 32 elements>`, or `<Dataset>` where the number is unknown.
void write_dataset(std::ostream& out, const data::Dataset& dataset);
/// Writes `<Adam {"learning_rate": 0.001}>`, or None for an undefined handle.
void write_object(std::ostream& out, const nn::Object* object);
void write_quoted(std::ostream& out, std::string_view text, char quote);
/// Writes the shortest digits that read back as the number, with a point also for whole numbers.
void write_floating(std::ostream& out, double value);
void write_floating(std::ostream& out, float value);

/// Returns the compiler's spelling of the type's name.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.size() - 1);
}

/// Returns whether T is the type of a lambda, by the name of the type: a `requires` on a generic lambda would
/// instantiate the body of the lambda.
template <class T>
constexpr bool is_lambda() {
  return type_name<T>().starts_with("(lambda");
}

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};
template <class T>
concept Keyed = requires {
  typename T::key_type;
  typename T::mapped_type;
};
template <class T>
concept Pointing = requires(const T& value) {
  value.get();
  *value;
};
template <class T>
concept Optional = requires(const T& value) {
  value.has_value();
  *value;
};
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept Variant = requires {
  std::variant_size<T>::value;
};

/// A type that is shown by its elements even if it converts to something else. xtensor's arrays have their
/// own output operator.
template <class T>
concept Container = std::ranges::input_range<const T> && requires {
  typename T::allocator_type;
} && !requires(const T& value) {
  value.dimension();
};

template <class T>
concept FunctionObject = requires {
  &T::operator();
};

template <class T>
void write(std::ostream& out, const T& value);

/// Writes a value of a type that the session defines.
using Description = std::function<void(std::ostream&, const void*)>;
void add_description(const std::type_info& type, Description description);
/// Returns null for a type without a description.
const Description* description_of(const std::type_info& type);

/// Shows values of a type by a function from now on; returns true. The session describes the structs and enums of its cells.
template <class T>
bool describe(void (*write_value)(std::ostream&, const T&)) {
  add_description(typeid(T), [write_value](std::ostream& out, const void* value) {
    write_value(out, *static_cast<const T*>(value));
  });
  return true;
}

/// Writes the members of a struct: `Point{.x = 1, .y = 2}`.
class MemberList {
 public:
  MemberList(std::ostream& out, const char* type) : out_(out) { out_ << type << '{'; }
  ~MemberList() { out_ << '}'; }
  MemberList(const MemberList&) = delete;
  MemberList& operator=(const MemberList&) = delete;
  template <class T>
  void add(const char* name, const T& value) {
    out_ << (std::exchange(first_, false) ? "." : ", .") << name << " = ";
    write(out_, value);
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

/// Writes a value of an enum that no enumerator names: `Color(7)`.
template <class E>
void write_number_of(std::ostream& out, std::string_view type, E value) {
  out << type << '(' << +static_cast<std::underlying_type_t<E>>(value) << ')';
}

template <class T>
bool write_described(std::ostream& out, const T& value) {
  const Description* const description = description_of(typeid(T));
  if (description) (*description)(out, &value);
  return description != nullptr;
}

/// Writes the elements between braces, at most the first 1000.
template <class Range>
void write_range(std::ostream& out, Range& range) {
  constexpr int shown = 1000;
  int count = 0;
  out << '{';
  for (const auto& element : range) {
    if (count > 0) out << ", ";
    if (++count > shown) {
      out << "...";
      break;
    }
    if constexpr (Keyed<Range>) {
      write(out, element.first);
      out << ": ";
      write(out, element.second);
    } else {
      using Element = std::ranges::range_value_t<Range>;  // `element` of a vector<bool> is a proxy
      write<Element>(out, element);
    }
  }
  out << '}';
}

template <class T>
void write_tuple(std::ostream& out, const T& tuple) {
  out << '(';
  std::apply(
      [&](const auto&... element) {
        int count = 0;
        ((out << (count++ > 0 ? ", " : ""), write(out, element)), ...);
      },
      tuple);
  out << ')';
}

template <class T>
void write(std::ostream& out, const T& value) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (is_lambda<Plain>()) out << "<lambda>";
  else if constexpr (std::is_same_v<Plain, bool>) out << (value ? "true" : "false");
  else if constexpr (std::is_same_v<Plain, char>) write_quoted(out, {&value, 1}, '\'');
  else if constexpr (std::is_same_v<Plain, float> || std::is_same_v<Plain, double>)
    write_floating(out, value);
  else if constexpr (std::is_integral_v<Plain>) out << +value;
  else if constexpr (std::is_same_v<Plain, DType::Kind>) out << DType(value);
  else if constexpr (std::is_enum_v<Plain>) {
    if (write_described(out, value)) return;
    if constexpr (Streamable<T> && !std::is_convertible_v<Plain, int>) out << value;
    else if constexpr (std::is_convertible_v<Plain, int>)
      out << +static_cast<std::underlying_type_t<Plain>>(value);
    else write_number_of(out, type_name<Plain>(), value);
  } else if constexpr (std::is_same_v<Plain, backend::HelpText>) {
    out << value.substr(0, value.find_last_not_of('\n') + 1);
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    if (const char* text = value) write_quoted(out, text, '"');
    else out << "nullptr";
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) write_quoted(out, value, '"');
  else if constexpr (std::is_base_of_v<Tensor, Plain>) write_tensor(out, value);
  else if constexpr (std::is_same_v<Plain, Variable>) write_variable(out, value);
  else if constexpr (std::is_base_of_v<nn::Model, Plain>) write_model(out, value);
  else if constexpr (std::is_base_of_v<nn::History, Plain>) write_history(out, value);
  else if constexpr (std::is_same_v<Plain, plot::Figure>) write_figure(out, value);
  else if constexpr (std::is_same_v<Plain, data::Dataset>) write_dataset(out, value);
  else if constexpr (requires { write_object(out, value.shared().get()); })
    write_object(out, value.shared().get());
  else if constexpr (std::is_null_pointer_v<Plain>) out << "nullptr";
  else if constexpr (std::is_function_v<std::remove_pointer_t<Plain>> || FunctionObject<Plain>)
    out << '<' << type_name<Plain>() << '>';
  else if constexpr (Container<Plain>) write_range(out, value);
  else if constexpr (Pointing<T> || std::is_pointer_v<Plain>) {
    const void* address = nullptr;
    if constexpr (std::is_pointer_v<Plain>)
      address = const_cast<const void*>(static_cast<const volatile void*>(value));
    else address = value.get();
    if (address) out << address;
    else out << "nullptr";
  } else if constexpr (Streamable<T> && !std::is_array_v<T>) out << value;
  else if constexpr (std::ranges::input_range<const T>) write_range(out, value);
  else if constexpr (Optional<T>) {
    if (value.has_value()) write(out, *value);
    else out << "nullopt";
  } else if constexpr (std::ranges::view<Plain> && std::ranges::input_range<Plain> && std::copyable<Plain>) {
    Plain copy = value;  // some views cache their position and have no const begin()
    write_range(out, copy);
  } else if constexpr (TupleLike<Plain>) write_tuple(out, value);
  else if constexpr (Variant<Plain>) std::visit([&](const auto& one) { write(out, one); }, value);
  else if constexpr (std::is_base_of_v<std::exception, Plain>)
    out << '<' << type_name<Plain>() << ": " << value.what() << '>';
  else if (!write_described(out, value)) out << '<' << type_name<Plain>() << '>';
}

template <class T>
concept Pictured = std::is_base_of_v<Tensor, T> || std::is_same_v<T, Variable> ||
    std::is_same_v<T, plot::Figure> || std::is_base_of_v<nn::History, T> || std::is_base_of_v<nn::Model, T>;

template <class T>
void show_as(bool is_result, const T& value) {
  write(begin_display(), value);
  if constexpr (Pictured<std::remove_cv_t<T>>)
    if (shows_forms()) add_forms(forms_of(value));
  end_display(is_result);
}

/// Shows the value of an expression that ends a cell without a semicolon, unless the value is a stream, as in
/// `std::cout << x`.
template <class T>
void show(const T& value) {
  if constexpr (!std::is_base_of_v<std::ios_base, T>) show_as(true, value);
}

/// Keeps a copy of a value for take_kept_value().
void keep_value(std::shared_ptr<void> value);
/// Returns the copy that was kept last, and gives it away.
std::shared_ptr<void> take_kept_value();

/// Shows a value and keeps a copy, which the session makes known as `_`.
template <class T>
void show_and_keep(const T& value) {
  show(value);
  keep_value(std::make_shared<std::remove_cv_t<T>>(value));
}

/// Throws ValueError: a cell divided an integer by 0.
[[noreturn]] void fail_division();

/// Returns the divisor of integers in a cell. Throws ValueError if it is 0.
template <class T>
constexpr T divisor(T value) {
  if (value == 0) fail_division();
  return value;
}

/// Shows a value in the middle of a cell, as in IPython.
template <class T>
void display(const T& value) {
  show_as(false, value);
}

/// Returns a curve for a vector, a heat map for a matrix, a grid for images. Throws ValueError for another
/// tensor.
plot::Figure figure_of(const Tensor& tensor);
plot::Figure figure_of(const Variable& variable);
std::vector<plot::Figure> figures_of(const nn::History& history);

/// Implements %plot: draws ranges of numbers, tensors and histories, and displays any other value.
template <class T>
void draw(const T& value) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<Plain, Tensor> || std::is_same_v<Plain, Variable>) display(figure_of(value));
  else if constexpr (std::is_base_of_v<nn::History, Plain>)
    for (const plot::Figure& figure : figures_of(value)) display(figure);
  else if constexpr (requires { std::vector<double>(std::begin(value), std::end(value)); })
    display(plot::lines(std::vector<double>(std::begin(value), std::end(value))));
  else display(value);
}
inline void draw(std::initializer_list<double> numbers) {
  display(plot::lines(std::vector<double>(numbers)));
}

}  // namespace ktape::interactive
