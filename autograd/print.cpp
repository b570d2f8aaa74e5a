#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/interrupt_gate.hpp>
#include <ktape/autograd/symbol.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string_view>

// The rules are those of NumPy's default print options: 8 digits, lines of 75 characters, one width for all
// entries.
namespace ktape {
namespace {

constexpr int precision = 8;
constexpr std::size_t line_width = 75;
constexpr std::string_view opening = "tensor(";

/// The entries of an axis that are printed: all entries, or some entries at either end.
struct Shown {
  std::int64_t leading, trailing, extent;
  bool gap() const { return leading + trailing < extent; }
  std::int64_t count() const { return leading + trailing; }
  std::int64_t index(std::int64_t i) const { return i < leading ? i : extent - count() + i; }
};

Shown shown(std::int64_t extent, bool summarize, int edge) {
  if (summarize && 2 * std::int64_t{edge} < extent) return {edge, edge, extent};
  return {extent, 0, extent};
}

void collect_offsets(const Shape& shape, bool summarize, int edge, int axis, std::int64_t offset,
                     std::vector<std::int64_t>& out) {
  if (axis == shape.rank()) return out.push_back(offset);
  const Shown entries = shown(shape[axis], summarize, edge);
  for (std::int64_t i = 0; i < entries.count(); ++i)
    collect_offsets(shape, summarize, edge, axis + 1, offset * shape[axis] + entries.index(i), out);
}

std::string padded_left(std::string text, std::size_t width, char with = ' ') {
  if (text.size() < width) text.insert(0, width - text.size(), with);
  return text;
}

/// A finite number, split at its decimal point and its exponent.
struct Digits {
  std::string whole, fraction, exponent;
};

Digits cut(std::string_view text) {
  Digits digits;
  const std::size_t e = std::min(text.find('e'), text.size()), point = std::min(text.find('.'), e);
  digits.whole = text.substr(0, point);
  if (point < e) digits.fraction = text.substr(point + 1, e - point - 1);
  digits.exponent = text.substr(e);
  return digits;
}

/// Returns the shortest digits that read back as the value, at most `precision` digits after the point.
template <class T>
Digits digits_of(T value, bool scientific) {
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  char text[400];
  Digits digits = cut({text, std::to_chars(text, std::end(text), value, format).ptr});
  if (digits.fraction.size() <= static_cast<std::size_t>(precision)) return digits;
  digits = cut({text, std::to_chars(text, std::end(text), value, format, precision).ptr});
  digits.fraction.erase(digits.fraction.find_last_not_of('0') + 1);
  return digits;
}

/// Returns the double whose shortest decimal form equals the shortest decimal form of the half.
template <class T>
double shortest_half(T value) {
  for (int digits = 0; digits < 4; ++digits) {
    char text[40];
    const char* end =
        std::to_chars(text, std::end(text), static_cast<float>(value), std::chars_format::scientific, digits)
            .ptr;
    double candidate = 0;
    std::from_chars(text, end, candidate);
    if (T(static_cast<float>(candidate)).bits() == value.bits()) return candidate;
  }
  return static_cast<float>(value);
}

template <class T>
bool needs_exponent(const std::vector<T>& values) {
  double largest = 0, smallest = HUGE_VAL;
  for (T value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::fabs(static_cast<double>(value)));
    smallest = std::min(smallest, std::fabs(static_cast<double>(value)));
  }
  return largest != 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
}

template <class T>
std::vector<std::string> float_cells(const std::vector<T>& values) {
  const bool scientific = needs_exponent(values);
  std::vector<Digits> digits(values.size());
  std::size_t whole = 0, fraction = 0, exponent = 0, special = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      special = std::max<std::size_t>(special, std::isnan(values[i]) || values[i] > 0 ? 3 : 4);
      continue;
    }
    digits[i] = digits_of(values[i], scientific);
    whole = std::max(whole, digits[i].whole.size());
    fraction = std::max(fraction, digits[i].fraction.size());
    exponent = std::max(exponent, digits[i].exponent.size());
  }
  const std::size_t rest = 1 + fraction + exponent, width = std::max(whole + rest, special);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      Digits& d = digits[i];
      d.fraction.resize(fraction, scientific ? '0' : ' ');
      if (scientific) d.exponent.insert(2, exponent - d.exponent.size(), '0');
      cells.push_back(padded_left(d.whole, width - rest) + '.' + d.fraction + d.exponent);
    } else {
      cells.push_back(padded_left(std::isnan(values[i]) ? "nan" : values[i] > 0 ? "inf" : "-inf", width));
    }
  }
  return cells;
}

std::vector<std::string> cells_of(const Tensor& tensor, const std::vector<std::int64_t>& offsets) {
  return dispatch(tensor.dtype(), [&]<class T>() {
    const T* data = tensor.pointer<T>();
    std::vector<std::string> cells;
    if constexpr (is_half<T>) {
      std::vector<double> values;
      for (std::int64_t at : offsets) values.push_back(shortest_half(data[at]));
      cells = float_cells(values);
    } else if constexpr (std::is_floating_point_v<T>) {
      std::vector<T> values;
      for (std::int64_t at : offsets) values.push_back(data[at]);
      cells = float_cells(values);
    } else {
      for (std::int64_t at : offsets) {
        if constexpr (std::is_same_v<T, bool>) cells.push_back(data[at] ? "True" : "False");
        else cells.push_back(std::to_string(data[at]));
      }
      std::size_t width = std::is_same_v<T, bool> && tensor.ndim() > 0 ? 5 : 0;
      for (const std::string& cell : cells) width = std::max(width, cell.size());
      for (std::string& cell : cells) cell = padded_left(std::move(cell), width);
    }
    return cells;
  });
}

/// Arranges the printed elements in nested brackets.
class Layout {
 public:
  Layout(const Shape& shape, bool summarize, int edge, std::vector<std::string> cells)
      : shape_(shape), summarize_(summarize), edge_(edge), cells_(std::move(cells)) {}

  std::string text(int axis = 0) {
    if (axis == shape_.rank()) return cells_[next_++];
    const Shown entries = shown(shape_[axis], summarize_, edge_);
    const std::string indent(opening.size() + 1 + static_cast<std::size_t>(axis), ' ');
    return '[' + (axis + 1 == shape_.rank() ? row(entries, indent) : block(entries, indent, axis)) + ']';
  }

 private:
  std::string row(const Shown& entries, const std::string& indent) {
    // The line width minus room for the closing brackets and the comma that follows them.
    const std::size_t width = line_width - 2 - static_cast<std::size_t>(shape_.rank() - 1);
    std::string out, line = indent;
    auto add = [&](const std::string& word, bool last) {
      if (line.size() + word.size() > width && line.size() > indent.size()) {
        line.pop_back();
        out += line + '\n';
        line = indent;
      }
      line += last ? word : word + ", ";
    };
    for (std::int64_t i = 0; i < entries.count(); ++i) {
      if (i == entries.leading && entries.gap()) add("...", false);
      add(cells_[next_++], i + 1 == entries.count());
    }
    if (entries.count() == 0) add("...", true);
    return (out + line).substr(indent.size());
  }

  std::string block(const Shown& entries, const std::string& indent, int axis) {
    const std::string separator =
        ',' + std::string(static_cast<std::size_t>(shape_.rank() - axis - 1), '\n') + indent;
    std::string out;
    for (std::int64_t i = 0; i < entries.count(); ++i) {
      if (i > 0) out += separator;
      if (i == entries.leading && entries.gap()) out += "..." + separator;
      out += text(axis + 1);
    }
    return entries.count() == 0 ? "..." : out;
  }

  const Shape& shape_;
  bool summarize_;
  int edge_;
  std::vector<std::string> cells_;
  std::size_t next_ = 0;
};

std::string elements(const Tensor& tensor, int edge, std::int64_t threshold) {
  if (tensor.size() == 0) return "[]";
  const bool summarize = tensor.size() > threshold;
  std::vector<std::int64_t> offsets;
  collect_offsets(tensor.shape(), summarize, edge, 0, 0, offsets);
  return Layout(tensor.shape(), summarize, edge, cells_of(tensor, offsets)).text();
}

}  // namespace

std::string to_string(const Tensor& tensor, int edge, std::int64_t threshold) {
  interrupt_gate("print");  // a loop that prints without end calls no op
  if (!tensor.defined()) return "None";
  if (edge < 0) fail("[to_string] edge must be at least 0: received edge=", edge);
  if (is_symbolic(tensor)) {
    const Symbol& made_by = *tensor.get()->symbol;
    const std::string origin = made_by.placeholder() ? '\'' + made_by.name() + '\'' : made_by.op();
    return "tensor(symbolic " + origin + ", shape=" + to_string(tensor.shape()) +
           ", dtype=" + tensor.dtype().name() + ')';
  }
  std::string text = std::string(opening) + elements(tensor, edge, threshold) + ',';
  const std::string facts = "shape=" + to_string(tensor.shape()) + ", dtype=" + tensor.dtype().name() + ')';
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool fits = last_line + 1 + facts.size() <= line_width;
  return text + (fits ? std::string(" ") : '\n' + std::string(opening.size(), ' ')) + facts;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace ktape
