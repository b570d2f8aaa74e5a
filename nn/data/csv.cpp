#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/error.hpp>
#include <ktape/nn/data/csv.hpp>

#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

namespace ktape::data {
namespace {

/// Where in a file something is wrong; lines count from 1.
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

/// The text in quotes, shortened, what cannot be printed as '?'.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return '\'' + shown + (text.size() > most ? "...'" : "'");
}

/// The whole file, decompressed when it is gzip.
std::string read_text(const std::string& path) {
  constexpr std::size_t step = std::size_t{1} << 18;
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (!file)
    fail<IOError>("[load_csv] the file must be readable: received ", path, " (", std::strerror(errno), ')');
  gzbuffer(file.get(), step);
  std::string text;
  for (std::size_t size = 0;; size = text.size()) {
    text.resize(size + step);
    const int count = gzread(file.get(), text.data() + size, static_cast<unsigned>(step));
    text.resize(size + static_cast<std::size_t>(std::max(count, 0)));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (code == Z_ERRNO) reason = std::strerror(errno);
    // A truncated file gives what it has and an error besides.
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
      fail<IOError>("[load_csv] the file must be complete and readable: received ", path, " (", reason, ')');
    if (count == 0) return text;
  }
}

std::string_view trimmed(std::string_view text, char delimiter) {
  const auto blank = [delimiter](char c) { return (c == ' ' || c == '\t' || c == '\r') && c != delimiter; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// A field without blanks, quotes and a leading plus sign, which the standard's parser does not know.
std::string_view bare(std::string_view field, char delimiter) {
  field = trimmed(field, delimiter);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2), delimiter);
  if (field.size() >= 2 && field[0] == '+' && field[1] != '-' && field[1] != '+') field.remove_prefix(1);
  return field;
}

/// Takes one line, without its end, off the front of the text.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view next_field(std::string_view& line, char delimiter) {
  const std::size_t end = std::min(line.find(delimiter), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

std::int64_t count_fields(std::string_view line, char delimiter) {
  return std::count(line.begin(), line.end(), delimiter) + 1;
}

enum class Parsed { number, no_number, out_of_range };

template <class F>
Parsed parse_real(std::string_view text, F& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::invalid_argument || stop != end) return Parsed::no_number;
  if (error == std::errc()) return Parsed::number;
  // Too large, or so small that it is 0: the wider type tells.
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
  if constexpr (std::is_same_v<T, float16>) {
    float wide = 0;
    const Parsed result = parse_real(text, wide);
    number = float16(wide);
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
    if (parse_real(bare(next_field(line, delimiter), delimiter), number) == Parsed::no_number) return false;
  }
  return true;
}

/// The rows of a file and where they begin.
struct Table {
  std::string_view text;
  std::int64_t first_line = 1, rows = 0, fields = 0;
};

/// Finds header and size. Checks the length of every row, so that what is allocated is no more than the file
/// can fill.
Table measured(std::string_view text, const std::string& path, const CsvOptions& options) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  while (!text.empty() &&
         (std::isspace(static_cast<unsigned char>(text.back())) && text.back() != options.delimiter))
    text.remove_suffix(1);
  Table table{text};
  std::string_view rest = text;
  const std::string_view top = next_line(rest);
  if (options.header.value_or(!has_only_numbers(top, options.delimiter))) {
    table.text = rest;
    table.first_line = 2;
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

template <class T>
void read_row(std::string_view line, char delimiter, std::int64_t fields, T* out, Place place) {
  for (std::int64_t i = 0; i < fields; ++i) {
    const std::string_view field = next_field(line, delimiter);
    const Parsed result = parse(bare(field, delimiter), out[i]);
    if (result == Parsed::number) continue;
    place.field = i + 1;
    if (result == Parsed::no_number)
      fail<IOError>("[load_csv] every field must be a number: received ", quoted(field), " in ", place);
    fail<IOError>("[load_csv] every number must be one of ", dtype_of<T>(), ": received ", quoted(field),
                  " in ", place);
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
  const std::string text = read_text(path);
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
