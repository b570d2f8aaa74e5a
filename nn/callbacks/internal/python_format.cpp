#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/callbacks/internal/python_format.hpp>

#include <charconv>
#include <cmath>
#include <string_view>

namespace ktape::nn {
namespace {

constexpr std::size_t longest = 200;  ///< limit of width and precision; names of files are shorter

/// [[fill]align][sign][0][width][,][.precision][type]
struct Specification {
  char fill = ' ', align = '>', sign = '-', group = '\0', type = '\0';
  std::size_t width = 0;
  std::optional<int> precision = {};
};

template <class... Format>
std::string digits(double value, Format... format) {
  std::array<char, 1024> text;  // room for 309 digits, a point and the longest precision
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format...).ptr};
}

/// A field of a pattern: "val_loss:.2f".
class Field {
 public:
  Field(const char* callback, std::string_view text, const Config& values)
      : callback_(callback), text_(text), name_(text.substr(0, text.find(':'))), value_(find(values)) {
    rest_ = text.substr(std::min(text.size(), name_.size() + 1));
    parse();
  }

  std::string formatted() const {
    const double number = value_.number();
    std::string sign = std::signbit(number) ? "-" : spec_.sign == '-' ? "" : std::string(1, spec_.sign);
    std::string body = value_.is_integer() && is_one_of(spec_.type, "d") ? std::to_string(value_.integer())
                                                                         : real(std::abs(number));
    if (body.starts_with('-')) body.erase(0, 1);
    if (spec_.group) body = grouped(body);
    const std::size_t size = sign.size() + body.size(), missing = spec_.width - std::min(spec_.width, size);
    const std::size_t before = spec_.align == '<' ? 0 : spec_.align == '^' ? missing / 2 : missing;
    if (spec_.align == '=') return sign + std::string(missing, spec_.fill) + body;
    return std::string(before, spec_.fill) + sign + body + std::string(missing - before, spec_.fill);
  }

 private:
  static bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

  [[noreturn]] void fail_here(const char* rule) const {
    fail("[", callback_, "] ", rule, ": received '{", text_, "}'");
  }

  Value find(const Config& values) const {
    const std::string name(name_);
    if (values.contains(name)) return values.at(name);
    fail("[", callback_, "] a name in the file's name must be reported by the training: received '{", text_,
         "}'", suggestion(name, values.names()));
  }

  bool take(std::string_view set, char& out) {
    if (rest_.empty() || !is_one_of(rest_[0], set)) return false;
    out = rest_[0];
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::size_t> take_number() {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (end == rest_.data()) return {};
    if (error != std::errc() || number > longest)
      fail_here("width and precision in the file's name must be at most 200");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  void parse() {
    if (rest_.size() > 1 && is_one_of(rest_[1], "<>=^")) {
      spec_.fill = rest_[0];
      rest_.remove_prefix(1);
    }
    const bool aligned = take("<>=^", spec_.align);
    take("+- ", spec_.sign);
    char taken = '\0';
    if (take("0", taken) && !aligned) spec_.fill = '0', spec_.align = '=';
    spec_.width = take_number().value_or(0);
    take(",_", spec_.group);
    if (take(".", taken)) {
      const std::optional<std::size_t> precision = take_number();
      if (!precision) fail_here("a precision in the file's name must be a number");
      spec_.precision = static_cast<int>(*precision);
    }
    if (value_.is_integer()) spec_.type = 'd';
    take("dfFeEgG%", spec_.type);
    if (!rest_.empty()) fail_here("a field in the file's name must be as in Python's format");
    if (spec_.type == 'd' && (!value_.is_integer() || spec_.precision))
      fail_here("'d' in the file's name must go with an integer and no precision");
  }

  /// Formats a number that is not negative.
  std::string real(double x) const {
    if (std::isnan(x) || std::isinf(x))
      return std::string(std::isnan(x) ? "nan" : "inf") + (spec_.type == '%' ? "%" : "");
    const int precision = spec_.precision.value_or(6);
    std::string text;
    switch (spec_.type) {
      case 'f':
      case 'F':
        return digits(x, std::chars_format::fixed, precision);
      case '%':
        return digits(100 * x, std::chars_format::fixed, precision) + '%';
      case 'e':
      case 'E':
        text = digits(x, std::chars_format::scientific, precision);
        break;
      case 'g':
      case 'G':
        text = digits(x, std::chars_format::general, std::max(precision, 1));
        break;
      default:
        if (!spec_.precision) return python_repr(x);
        text = digits(x, std::chars_format::general, std::max(precision, 1));
    }
    if (is_one_of(spec_.type, "EG"))
      for (char& c : text) c = c == 'e' ? 'E' : c;
    return text;
  }

  /// Separates the digits before the point in groups of three.
  std::string grouped(std::string text) const {
    for (std::size_t at = std::min(text.find_first_not_of("0123456789"), text.size()); at > 3;)
      text.insert(at -= 3, 1, spec_.group);
    return text;
  }

  const char* callback_;
  std::string_view text_, name_, rest_;
  Value value_;
  Specification spec_;
};

}  // namespace

std::string python_repr(double value) {
  const double size = std::abs(value);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (size != 0 && !(size >= 1e-4 && size < 1e16)) return digits(value, std::chars_format::scientific);
  std::string text = digits(value, std::chars_format::fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string python_format(const char* callback, const std::string& pattern, const Config& values) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c != '{' && c != '}') {
      out += c;
    } else if (pattern.compare(at, 2, std::string(2, c)) == 0) {  // a doubled brace stands for a brace
      out += c;
      ++at;
    } else {
      const std::size_t end = c == '{' ? pattern.find('}', at) : std::string::npos;
      if (end == std::string::npos)
        fail("[", callback, "] braces in the file's name must come in pairs: received '", pattern, "'");
      out += Field(callback, std::string_view(pattern).substr(at + 1, end - at - 1), values).formatted();
      at = end;
    }
  }
  return out;
}

}  // namespace ktape::nn
