#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/npy.hpp>
#include <ktape/nn/files/npz.hpp>
#include <ktape/nn/files/zip.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

namespace ktape::data {
namespace {

constexpr const char* rule = "the file must be a .npy file of numbers";

/// The contents of a header.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

/// Reads a header: a Python dictionary of a string, a bool and a tuple of integers.
class HeaderParser {
 public:
  HeaderParser(const ByteSource& file, std::string_view text) : file_(file), text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !header.descr) header.descr = string();
      else if (key == "fortran_order" && !header.fortran_order) header.fortran_order = boolean();
      else if (key == "shape" && !header.shape) header.shape = shape();
      else fail("the key '" + key + "' is unknown or repeated");
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!text_.empty()) fail("there is text after the dictionary");
    if (!header.descr || !header.fortran_order || !header.shape) fail("a key is missing");
    return header;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    file_.fail(rule, "in its header ", reason...);
  }

  void skip_blanks() {
    while (!text_.empty() && std::strchr(" \t\r\n", text_.front()) && text_.front()) text_.remove_prefix(1);
  }
  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail("there must be '", c, "'");
  }
  std::string string() {
    skip_blanks();
    const char quote = text_.empty() ? ' ' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos || end > 32) fail("there must be a short string");
    const std::string out(text_.substr(1, end - 1));
    if (std::any_of(out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }))
      fail("a string is not plain");
    text_.remove_prefix(end + 1);
    return out;
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(0, word.size()) == word) return text_.remove_prefix(word.size()), word == "True";
    fail("there must be True or False");
  }
  Shape shape() {
    Shape out;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      std::int64_t extent = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) fail("there must be an extent");
      if (out.rank() == Shape::max_rank) fail("there are more than 8 extents");
      out.push_back(extent);
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  const ByteSource& file_;
  std::string_view text_;
};

constexpr std::pair<const char*, DType::Kind>
    dtypes[] = {{"b1", DType::Bool},    {"u1", DType::UInt8},   {"i1", DType::Int8},
                {"i2", DType::Int16},   {"i4", DType::Int32},   {"i8", DType::Int64},
                {"f2", DType::Float16}, {"f4", DType::Float32}, {"f8", DType::Float64},
                {"V2", DType::BFloat16}};  // NumPy has no bfloat16; ml_dtypes writes bytes without a meaning
constexpr bool little = std::endian::native == std::endian::little;

/// A number format for which the library has no dtype: the dtype by which its bits are read, and the dtype of
/// the result.
struct Widened {
  const char* code;
  DType::Kind bits, dtype;
};
constexpr Widened unsigned_dtypes[] = {{"u2", DType::Int16, DType::Int32},
                                       {"u4", DType::Int32, DType::Int64},
                                       {"u8", DType::Int64, DType::Int64}};

Tensor unsigned_numbers(const ByteSource& file, const Tensor& bits, DType dtype) {
  const Tensor out = backend::cast(bits, dtype);
  if (bits.dtype() != dtype)
    return backend::where(out < 0, out + (std::int64_t{1} << 8 * bits.dtype().size()), out);
  if (backend::any(out < 0).item<bool>()) file.fail("the numbers must fit int64", "dtype uint64");
  return out;
}

/// Reads the numbers that a header describes.
Tensor read_numbers(ByteSource& file, const std::string& descr, const Shape& shape) {
  const bool swapped = descr.front() == (little ? '>' : '<');
  if (descr.size() == 3 && std::strchr("<>|=", descr[0])) {
    for (const auto& [code, dtype] : dtypes)
      if (descr.substr(1) == code) return file.read_tensor(shape, dtype, swapped);
    for (const auto& [code, bits, dtype] : unsigned_dtypes)
      if (descr.substr(1) == code)
        return unsigned_numbers(file, file.read_tensor(shape, bits, swapped), dtype);
  }
  file.fail("the numbers must be bool, integers, float16 to float64 or bfloat16 (V2)", "dtype '", descr, "'");
}

Tensor read_array(ByteSource& file) {
  unsigned char head[8], length[4] = {};
  file.read_exactly(head, sizeof(head), "header");
  if (std::memcmp(head, "\x93NUMPY", 6) != 0) file.fail(rule, "it begins with other bytes");
  if (head[6] < 1 || head[6] > 3) file.fail(rule, "version ", int{head[6]});
  file.read_exactly(length, head[6] == 1 ? 2 : 4, "header");
  const auto bytes = little_endian<std::uint32_t>(length);
  if (bytes > 0xffff) file.fail(rule, "a header of ", bytes, " bytes");
  file.expect_room(bytes, "header");
  std::string text(bytes, '\0');
  file.read_exactly(text.data(), bytes, "header");
  const Header header = HeaderParser(file, text).parse();
  Shape shape = *header.shape;
  if (*header.fortran_order) std::reverse(shape.begin(), shape.end());
  const Tensor out = read_numbers(file, *header.descr, shape);
  file.expect_end("the array");
  return *header.fortran_order ? backend::transpose(out) : out;
}

/// Returns the bytes before the numbers, padded to a multiple of 64 bytes, as NumPy does.
std::string header_of(const Tensor& array) {
  const char* code = nullptr;
  for (const auto& [known, dtype] : dtypes)
    if (array.dtype() == dtype) code = known;
  std::string text = std::string("{'descr': '") +
                     (code[1] == '1' ? '|'
                      : little       ? '<'
                                     : '>') +
                     code + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : array.shape()) text += std::to_string(extent) + ",";
  if (array.ndim() > 1) text.pop_back();
  text += "), }";
  constexpr std::size_t before = 10, multiple = 64;  // bytes of the magic number, version and length
  text.resize((before + text.size() + multiple) / multiple * multiple - before - 1, ' ');
  text += '\n';
  const char length[] = {static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)};
  return std::string("\x93NUMPY\x01\0", 8) + std::string(length, 2) + text;
}

std::string_view bytes_of(const Tensor& array) {
  return {static_cast<const char*>(array.raw()),
          static_cast<std::size_t>(array.size()) * array.dtype().size()};
}

}  // namespace

Tensor load_npy(const std::string& path) {
  InputFile file("load_npy", path);
  return read_array(file);
}

std::vector<std::pair<std::string, Tensor>> load_npz(const std::string& path) {
  return read_npz("load_npz", path, 0);
}

std::vector<std::pair<std::string, Tensor>> read_npz(const char* op, const std::string& path,
                                                     std::uint64_t expected) {
  const ZipArchive archive(op, path, expected);
  std::vector<std::pair<std::string, Tensor>> arrays;
  std::set<std::string> names;
  for (const ZipEntry& entry : archive.entries()) {
    const bool ended = entry.name.ends_with(".npy");
    const std::string name = ended ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    const std::unique_ptr<ByteSource> file = archive.open(entry);
    if (!names.insert(name).second) file->fail("names of arrays must be different", "two are ", name);
    arrays.emplace_back(name, read_array(*file));
  }
  return arrays;
}

void save_npy(const std::string& path, const Tensor& array) {
  expect_defined("save_npy", "array", array);
  expect_value("save_npy", array);
  nn::saving::AtomicFile file("save_npy", path);
  file.write(header_of(array));
  file.write(bytes_of(array));
  file.commit();
}

void save_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays) {
  for (const auto& [name, array] : arrays) {
    expect_defined("save_npz", name.c_str(), array);
    expect_value("save_npz", array);
  }
  nn::saving::AtomicFile file("save_npz", path);
  ZipWriter archive("save_npz", file);
  for (const auto& [name, array] : arrays) archive.add(name + ".npy", {header_of(array), bytes_of(array)});
  archive.finish();
  file.commit();
}

}  // namespace ktape::data
