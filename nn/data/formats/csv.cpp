#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/data/formats/csv.hpp>
#include <ktape/nn/files/bytes.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace ktape::data {
namespace {

/// The place of an error in a file; lines count from 1.
struct Place {
  const std::string& path;
  std::int64_t line = 0;
  std::int64_t field = 0;
};

std::ostream& operator<<(std::ostream& out, const Place& place) {
  out << place.path;
  if (place.line > 0) out << ", line " << place.line;
  if (place.field > 0) out << ", field " << place.field;
  return out;
}

/// Returns the text in quotes, shortened, with `?` for characters that cannot be printed.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return '\'' + shown + (text.size() > most ? "...'" : "'");
}

std::string_view trimmed(std::string_view text, char delimiter) {
  const auto blank = [delimiter](char c) { return (c == ' ' || c == '\t' || c == '\r') && c != delimiter; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns a field without blanks, quotes and a leading plus sign, which std::from_chars does not accept.
std::string_view bare(std::string_view field, char delimiter) {
  field = trimmed(field, delimiter);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2), delimiter);
  if (field.size() >= 2 && field[0] == '+' && field[1] != '-' && field[1] != '+') field.remove_prefix(1);
  return field;
}

/// Removes the first line from the text and returns the line without its end.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Returns the length of the header, including the end of the line. A field in quotes may span several lines.
std::size_t length_of_header(std::string_view text, char delimiter) {
  bool begins = true, quoted = false, inside = false;  // states of the current field
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (begins || quoted)) inside = !inside, quoted = true;
    else if (c == '\n' && !inside) return i + 1;
    else if (c == delimiter && !inside) quoted = false;
    else if (begins && trimmed({&c, 1}, delimiter).empty()) continue;
    begins = c == delimiter && !inside;
  }
  return inside ? std::min(text.find('\n'), text.size() - 1) + 1 : text.size();
}

/// Returns the end of the first field: a delimiter outside of quotes, or the end of the line.
std::size_t end_of_field(std::string_view line, char delimiter) {
  const std::size_t plain = std::min(line.find(delimiter), line.size());
  if (!trimmed(line.substr(0, plain), delimiter).starts_with('"')) return plain;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '"') inside = !inside;
    else if (line[i] == delimiter && !inside) return i;
  return inside ? plain : line.size();
}

std::string_view next_field(std::string_view& line, char delimiter) {
  const std::size_t end = end_of_field(line, delimiter);
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

std::int64_t count_fields(std::string_view line, char delimiter) {
  if (line.find('"') == std::string_view::npos) return std::count(line.begin(), line.end(), delimiter) + 1;
  std::int64_t count = 1;
  for (std::size_t end; (end = end_of_field(line, delimiter)) < line.size(); ++count)
    line.remove_prefix(end + 1);
  return count;
}

enum class Parsed { number, no_number, out_of_range };

template <class F>
Parsed parse_real(std::string_view text, F& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::invalid_argument || stop != end) return Parsed::no_number;
  if (error == std::errc()) return Parsed::number;
  // The number overflows or underflows: the wider type tells which.
  if constexpr (!std::is_same_v<F, long double>) {
    long double wide = 0;
    if (parse_real(text, wide) == Parsed::number && std::abs(wide) < 1) {
      number = static_cast<F>(wide);
      return Parsed::number;
    }
  }
  return Parsed::out_of_range;
}

template <class T>
Parsed parse(std::string_view text, T& number) {
  if constexpr (is_half<T>) {
    float wide = 0;
    const Parsed result = parse_real(text, wide);
    number = T(wide);
    return result == Parsed::number && std::isinf(static_cast<float>(number)) && !std::isinf(wide)
               ? Parsed::out_of_range
               : result;
  } else if constexpr (std::is_floating_point_v<T>) {
    return parse_real(text, number);
  } else {
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, whole);
    if (error != std::errc() || stop != end) {  // "3.0" and "1e3" are whole numbers, too
      double real = 0;
      if (const Parsed result = parse_real(text, real); result != Parsed::number) return result;
      if (std::trunc(real) != real || std::abs(real) >= 0x1p63) return Parsed::out_of_range;
      whole = static_cast<std::int64_t>(real);
    }
    if (whole < std::numeric_limits<T>::min() || whole > std::numeric_limits<T>::max())
      return Parsed::out_of_range;
    number = static_cast<T>(whole);
    return Parsed::number;
  }
}

bool has_only_numbers(std::string_view line, char delimiter) {
  for (std::int64_t left = count_fields(line, delimiter); left > 0; --left) {
    double number;
    const std::string_view field = bare(next_field(line, delimiter), delimiter);
    if (!field.empty() && parse_real(field, number) == Parsed::no_number) return false;
  }
  return true;
}

/// The extents of a file's table and the position of its first row.
struct Table {
  std::string_view text;
  std::int64_t first_line = 1, rows = 0, fields = 0;
};

/// Finds the header and the extents, and checks the number of fields of every row, before memory is allocated
/// for the numbers.
Table measured(std::string_view text, const std::string& path, const CsvOptions& options) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  while (!text.empty() &&
         (std::isspace(static_cast<unsigned char>(text.back())) && text.back() != options.delimiter))
    text.remove_suffix(1);
  Table table{text};
  for (; table.text.starts_with('#'); ++table.first_line) next_line(table.text);
  std::string_view rest = table.text;
  const bool titled = !has_only_numbers(next_line(rest), options.delimiter);
  if (options.header.value_or(titled) && (titled || table.first_line == 1)) {
    const std::size_t header = length_of_header(table.text, options.delimiter);
    table.first_line += std::max<std::ptrdiff_t>(
        1, std::count(table.text.begin(), table.text.begin() + static_cast<std::ptrdiff_t>(header), '\n'));
    table.text.remove_prefix(header);
  }
  if (table.text.empty())
    fail<IOError>("[load_csv] the file must have a row of numbers: received ", path,
                  text.empty() ? " (empty)" : " (header only)");
  for (rest = table.text; !rest.empty(); ++table.rows) {
    const std::string_view line = next_line(rest);
    const Place place{path, table.first_line + table.rows};
    if (trimmed(line, options.delimiter).empty())
      fail<IOError>("[load_csv] rows must not be blank: received ", place);
    const std::int64_t fields = count_fields(line, options.delimiter);
    if (table.rows == 0) table.fields = fields;
    if (fields != table.fields)
      fail<IOError>("[load_csv] every row must have ", table.fields, " fields as the first has: received ",
                    fields, " in ", place);
  }
  return table;
}

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

/// Parses a field that is a plain decimal, such as -12.5, and ends with the line or a delimiter, as most
/// fields are, and moves to the end of the number. Returns false, without an effect, for other fields and for
/// numbers whose rounding needs the general parser.
template <class T>
bool read_plain(const char*& at, const char* end, char delimiter, T& number) {
  const char* c = at;
  const bool negative = c != end && *c == '-';
  c += negative;
  const char* const first = c;
  const char* point = nullptr;
  std::uint64_t digits = 0;
  for (; c != end; ++c) {
    const auto digit = static_cast<unsigned>(*c - '0');
    if (digit <= 9) digits = digits * 10 + digit;
    else if (*c == '.' && !point) point = c;
    else break;
  }
  const std::ptrdiff_t length = c - first - (point ? 1 : 0), fraction_digits = point ? c - point - 1 : 0;
  if (length < 1 || length > 18 || (c != end && *c != delimiter)) return false;
  if constexpr (std::is_integral_v<T>) {
    const auto whole = static_cast<std::int64_t>(digits);
    if (point || whole > std::numeric_limits<T>::max() || (negative && std::is_unsigned_v<T>)) return false;
    number = static_cast<T>(negative ? -whole : whole);
  } else {
    // Numerator and power of ten are exact doubles, so the quotient is the double nearest to the number.
    if (digits >> 53) return false;
    const double real = static_cast<double>(digits) / powers_of_ten[fraction_digits];
    if constexpr (!std::is_same_v<T, double>) {
      // The second rounding may be wrong if the double is close to the middle between two floats.
      const std::uint64_t below = std::bit_cast<std::uint64_t>(real) & 0x1fffffff;
      if (below >= 0x0fffffff && below <= 0x10000001) return false;
    }
    number = static_cast<T>(negative ? -real : real);
  }
  at = c;
  return true;
}

template <class T>
void read_field(std::string_view field, char delimiter, T& out, const Place& place) {
  const std::string_view text = bare(field, delimiter);
  if (text.empty()) {
    if constexpr (std::is_floating_point_v<T> || is_half<T>) {
      out = T(std::numeric_limits<float>::quiet_NaN());
      return;
    }
    fail<IOError>("[load_csv] a missing value must become one of a floating dtype: received dtype=",
                  dtype_of<T>(), " for ", place);
  }
  const Parsed result = parse(text, out);
  if (result == Parsed::no_number)
    fail<IOError>("[load_csv] every field must be a number: received ", quoted(field), " in ", place);
  if (result == Parsed::out_of_range)
    fail<IOError>("[load_csv] every number must be one of ", dtype_of<T>(), ": received ", quoted(field),
                  " in ", place);
}

template <class T>
void read_row(std::string_view line, char delimiter, std::int64_t fields, T* out, Place place) {
  constexpr bool plain = !is_half<T>;
  for (std::int64_t i = 0; i < fields; ++i) {
    if constexpr (plain) {
      const char* at = line.data();
      if (read_plain(at, line.data() + line.size(), delimiter, out[i])) {
        const auto read = static_cast<std::size_t>(at - line.data());
        line.remove_prefix(std::min(read + 1, line.size()));
        continue;
      }
    }
    place.field = i + 1;
    read_field(next_field(line, delimiter), delimiter, out[i], place);
  }
}

}  // namespace

Tensor load_csv(const std::string& path, const CsvOptions& options) {
  const char delimiter = options.delimiter;
  if (std::isalnum(static_cast<unsigned char>(delimiter)) || std::strchr("+-.\"\r\n", delimiter))
    fail(
        "[load_csv] the delimiter must not be a letter, a digit, a quote, a line end or one of + - . : "
        "received delimiter=",
        quoted({&delimiter, 1}));
  const std::string text = InputFile("load_csv", path).rest();
  const Table table = measured(text, path, options);
  const Tensor out = Tensor::empty({table.rows, table.fields}, options.dtype);
  dispatch(options.dtype, [&]<class T>() {
    std::string_view rest = table.text;
    for (std::int64_t row = 0; row < table.rows; ++row)
      read_row(next_line(rest), delimiter, table.fields, out.pointer<T>() + row * table.fields,
               {path, table.first_line + row});
  });
  return out;
}

}  // namespace ktape::data
