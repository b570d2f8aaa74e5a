#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/interactive/display/display.hpp>
#include <ktape/interactive/display/notebook.hpp>
#include <ktape/nn/core/terminal.hpp>
#include <ktape/nn/models/summary_table.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <utility>

namespace ktape::interactive {
namespace {

template <class T>
void write_shortest(std::ostream& out, T value) {
  char text[64];
  const std::string_view digits(
      text, static_cast<std::size_t>(std::to_chars(text, std::end(text), value).ptr - text));
  out << digits;
  if (std::isfinite(value) && digits.find_first_of(".e") == std::string_view::npos) out << ".0";
}

std::string column(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

/// Adds `name='value'` before the closing parenthesis of a tensor's text.
std::string with_field(std::string text, const char* name, const std::string& value) {
  text.pop_back();
  return text + ", " + name + "='" + value + "')";
}

std::ostringstream shown;
MimeBundle shown_forms;
Notebook notebook;
std::shared_ptr<void> kept;

}  // namespace

void show_in(Notebook to) { notebook = std::move(to); }
bool shows_forms() { return static_cast<bool>(notebook); }
void add_forms(const MimeBundle& forms) { shown_forms.insert(forms.begin(), forms.end()); }

void keep_value(std::shared_ptr<void> value) { kept = std::move(value); }
std::shared_ptr<void> take_kept_value() { return std::move(kept); }

std::ostream& begin_display() {
  shown.str({});
  shown.clear();
  shown.copyfmt(std::ostringstream());
  shown_forms.clear();
  return shown;
}

void end_display(bool is_result) {
  if (!notebook) {
    std::cout << shown.view() << std::endl;
    return;
  }
  shown_forms["text/plain"] = shown.str();
  notebook(shown_forms, is_result);
}

void write_tensor(std::ostream& out, const Tensor& tensor) {
  const std::string text = to_string(tensor);
  if (tensor.defined() && !is_symbolic(tensor) && tensor.node() && !tensor.node()->leaf())
    out << with_field(text, "op", tensor.node()->op());
  else out << text;
}

void write_variable(std::ostream& out, const Variable& variable) {
  if (variable.defined()) out << with_field(to_string(variable.value()), "variable", variable.name());
  else out << "None";
}

namespace {
std::map<std::string, Description>& descriptions() {
  static std::map<std::string, Description> all;
  return all;
}
}  // namespace

void add_description(const std::type_info& type, Description description) {
  descriptions()[type.name()] = std::move(description);
}

const Description* description_of(const std::type_info& type) {
  const auto found = descriptions().find(type.name());
  return found == descriptions().end() ? nullptr : &found->second;
}

void fail_division() { fail("[/] the divisor of an integer must not be 0: received 0"); }

void write_model(std::ostream& out, const nn::Model& model) {
  if (!model.defined()) {
    out << "None";
    return;
  }
  std::string text;
  const std::function<void(const std::string&)> add = [&](const std::string& line) { text += line + '\n'; };
  nn::print_summary(model, {}, add, nn::terminal_columns());
  text.erase(text.find_last_not_of('\n') + 1);
  out << text;
}

void write_history(std::ostream& out, const nn::History& history) {
  const std::vector<std::string> names = history.names();
  if (names.empty()) {
    out << "<History of no epochs>";
    return;
  }
  const auto width = [](const std::string& name) {
    return static_cast<int>(std::max<std::size_t>(8, name.size()));
  };
  out << "epoch";
  for (const std::string& name : names) out << "  " << std::setw(width(name)) << name;
  for (std::size_t row = 0; row < history.epoch().size(); ++row) {
    out << '\n' << std::setw(5) << history.epoch()[row] + 1;
    for (const std::string& name : names) {
      const std::vector<double>& values = history[name];
      out << "  " << std::setw(width(name)) << (row < values.size() ? column(values[row]) : "");
    }
  }
}

void write_figure(std::ostream& out, const plot::Figure& figure) {
  winsize size{};
  const bool terminal = !notebook && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  plot::TextOptions options{.color = terminal};
  if (size.ws_col > 0) options.columns = std::clamp<int>(size.ws_col, 20, 120);
  std::string text = figure.text(options);
  text.erase(text.find_last_not_of('\n') + 1);
  out << text;
}

void write_dataset(std::ostream& out, const data::Dataset& dataset) {
  const std::optional<std::int64_t> count = dataset.cardinality();
  out << "<Dataset";
  if (count) out << " of " << *count << (*count == 1 ? " element" : " elements");
  out << '>';
}

void write_object(std::ostream& out, const nn::Object* object) {
  if (!object) {
    out << "None";
    return;
  }
  out << '<' << object->class_name();
  const nn::Config config = object->get_config();
  if (!config.empty()) out << ' ' << nn::Value(config);
  out << '>';
}

void write_quoted(std::ostream& out, std::string_view text, char quote) {
  out << quote;
  for (const char c : text) {
    if (c == '\n') out << "\\n";
    else if (c == '\t') out << "\\t";
    else if (c == '\r') out << "\\r";
    else if (c == '\0') out << "\\0";
    else if (c == quote || c == '\\') out << '\\' << c;
    else out << c;
  }
  out << quote;
}

void write_floating(std::ostream& out, double value) { write_shortest(out, value); }
void write_floating(std::ostream& out, float value) { write_shortest(out, value); }

}  // namespace ktape::interactive
