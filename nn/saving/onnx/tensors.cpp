#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/onnx/messages.hpp>

#include <cstring>
#include <limits>

namespace ktape::nn::onnx {
namespace {

using data::ProtobufReader;

/// The types of TensorProto.DataType that tensors can hold.
enum Code : std::int64_t {
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16
};

constexpr const char* type_names[] = {
    "undefined",      "float",      "uint8",          "int8",       "uint16",   "int16",
    "int32",          "int64",      "string",         "bool",       "float16",  "double",
    "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",     "float4e2m1"};

std::string type_name(std::int64_t code) {
  return code >= 0 && code < static_cast<std::int64_t>(std::size(type_names)) ? type_names[code]
                                                                              : std::to_string(code);
}

/// Returns the bytes of one element in raw data.
std::size_t stored_size(std::int64_t code) {
  switch (code) {
    case UInt8:
    case Int8:
    case Bool:
      return 1;
    case UInt16:
    case Int16:
    case Float16:
    case BFloat16:
      return 2;
    case Float:
    case Int32:
    case UInt32:
      return 4;
    default:
      return 8;
  }
}

/// The fields of a TensorProto.
struct Stored {
  std::string name;
  std::int64_t code = 0;
  std::vector<std::int64_t> dims, int32s, int64s, uint64s;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::string_view raw;
  bool has_raw = false, external = false;
  std::map<std::string, std::string> place;  ///< of external data: location, offset, length
};

void read_place(ProtobufReader in, Stored& tensor) {
  std::string key, value;
  while (in.next()) {
    if (in.field() == 1) key = in.text();
    else if (in.field() == 2) value = in.text();
  }
  tensor.place[key] = value;
}

Stored read(ProtobufReader& in) {
  Stored tensor;
  while (in.next()) switch (in.field()) {
      case 1:
        in.append(tensor.dims);
        break;
      case 2:
        tensor.code = in.integer();
        break;
      case 4:
        in.append(tensor.floats);
        break;
      case 5:
        in.append(tensor.int32s);
        break;
      case 7:
        in.append(tensor.int64s);
        break;
      case 8:
        tensor.name = in.text();
        break;
      case 9:
        tensor.raw = in.bytes(), tensor.has_raw = true;
        break;
      case 10:
        in.append(tensor.doubles);
        break;
      case 11:
        in.append(tensor.uint64s);
        break;
      case 13:
        read_place(in.message(), tensor);
        break;
      case 14:
        tensor.external = in.integer() == 1;
        break;
      default:
        break;
    }
  return tensor;
}

Shape shape_of(const ProtobufReader& in, const Stored& tensor, std::uint64_t& count) {
  const auto wrong = [&](const std::string& what) {
    in.fail("the tensor '" + printable(tensor.name) + "' " + what);
  };
  if (tensor.dims.size() > Shape::max_rank)
    wrong("has " + std::to_string(tensor.dims.size()) + " axes; at most 8 are possible");
  Shape shape;
  for (const std::int64_t extent : tensor.dims) {
    if (extent < 0) wrong("has the extent " + std::to_string(extent));
    shape.push_back(extent);
  }
  const std::uint64_t bytes = data::tensor_bytes(shape, DType::Float64);
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    wrong("has too many elements");
  count = bytes / 8;
  return shape;
}

/// Converts raw elements, with the lowest byte first, to the elements of a tensor.
void from_raw(const Tensor& out, const char* from, std::int64_t code, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) switch (code) {
      case UInt16:
        out.pointer<std::int32_t>()[i] = data::little_endian<std::uint16_t>(from + 2 * i);
        break;
      case UInt32:
        out.pointer<std::int64_t>()[i] = data::little_endian<std::uint32_t>(from + 4 * i);
        break;
      case Bool:
        out.pointer<bool>()[i] = from[i] != 0;
        break;
      default:
        return void(std::memcpy(out.raw(), from, static_cast<std::size_t>(n) * out.dtype().size()));
    }
}

/// Converts elements that are stored as numbers of a wider type.
template <class From>
void from_numbers(const Tensor& out, const std::vector<From>& numbers, std::int64_t code) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const From x = numbers[i];
    switch (code) {
      case Float:
        out.pointer<float>()[i] = static_cast<float>(x);
        break;
      case Double:
        out.pointer<double>()[i] = static_cast<double>(x);
        break;
      case UInt8:
        out.pointer<std::uint8_t>()[i] = static_cast<std::uint8_t>(x);
        break;
      case Int8:
        out.pointer<std::int8_t>()[i] = static_cast<std::int8_t>(x);
        break;
      case Int16:
        out.pointer<std::int16_t>()[i] = static_cast<std::int16_t>(x);
        break;
      case UInt16:
        out.pointer<std::int32_t>()[i] = static_cast<std::uint16_t>(x);
        break;
      case Int32:
        out.pointer<std::int32_t>()[i] = static_cast<std::int32_t>(x);
        break;
      case Bool:
        out.pointer<bool>()[i] = x != 0;
        break;
      case Float16:
        out.pointer<float16>()[i] = float16::from_bits(static_cast<std::uint16_t>(x));
        break;
      case BFloat16:
        out.pointer<bfloat16>()[i] = bfloat16::from_bits(static_cast<std::uint16_t>(x));
        break;
      default:
        out.pointer<std::int64_t>()[i] = static_cast<std::int64_t>(x);
    }
  }
}

/// Returns the number of an entry of external data.
std::uint64_t number_of(const ProtobufReader& in, const Stored& tensor, const char* key,
                        std::uint64_t otherwise) {
  const auto found = tensor.place.find(key);
  if (found == tensor.place.end()) return otherwise;
  const std::string& text = found->second;
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    in.fail(std::string("the ") + key + " of external data is '" + printable(text) + '\'');
  return std::stoull(text);
}

std::string external_bytes(const ProtobufReader& in, const Stored& tensor, const std::string& folder,
                           std::uint64_t bytes) {
  const auto location = tensor.place.find("location");
  const std::string inside =
      location == tensor.place.end() ? "" : saving::path_beside(in.file(), location->second);
  if (inside.empty())
    in.fail("the external data of '" + printable(tensor.name) + "' must be in the folder of the file: '" +
            (location == tensor.place.end() ? "" : printable(location->second)) + '\'');
  const data::RandomFile file(in.op(), folder + inside);
  const std::uint64_t offset = number_of(in, tensor, "offset", 0);
  const std::uint64_t length = number_of(in, tensor, "length", bytes);
  if (length != bytes || offset > file.size() || file.size() - offset < bytes)
    in.fail("the external data of '" + printable(tensor.name) + "' must have " + std::to_string(bytes) +
            " bytes in " + printable(inside));
  std::string content(static_cast<std::size_t>(bytes), '\0');
  file.read(offset, content.data(), content.size());
  return content;
}

}  // namespace

DType dtype_of_code(std::int64_t code) {
  switch (code) {
    case Float:
      return DType::Float32;
    case BFloat16:
      return DType::BFloat16;
    case Double:
      return DType::Float64;
    case Float16:
      return DType::Float16;
    case UInt8:
      return DType::UInt8;
    case Int8:
      return DType::Int8;
    case Int16:
      return DType::Int16;
    case UInt16:
    case Int32:
      return DType::Int32;
    case UInt32:
    case UInt64:
    case Int64:
      return DType::Int64;
    case Bool:
      return DType::Bool;
    default:
      fail<TypeError>("[onnx] a tensor must have a numeric type of at most 64 bits: received type=",
                      type_name(code));
  }
}

std::int64_t code_of(DType dtype) {
  for (const Code code : {Float, UInt8, Int8, Int16, Int32, Int64, Bool, Float16, BFloat16, Double})
    if (dtype_of_code(code) == dtype) return code;
  fail<TypeError>("[onnx] a dtype must have a type in ONNX: received dtype=", dtype);
}

Tensor tensor_of(ProtobufReader in, const std::string& folder, std::string* name) {
  const Stored stored = read(in);
  if (name) *name = stored.name;
  const auto wrong = [&](const std::string& what) {
    in.fail("the tensor '" + printable(stored.name) + "' " + what);
  };
  std::uint64_t count = 0;
  const Shape shape = shape_of(in, stored, count);
  DType dtype = DType::Float32;
  try {
    dtype = dtype_of_code(stored.code);
  } catch (const TypeError&) {
    wrong("has the type " + type_name(stored.code) + ", which tensors cannot have");
  }
  const std::uint64_t bytes = data::saturated_product(count, stored_size(stored.code));
  if (stored.external || stored.has_raw) {
    const std::string outside = stored.external ? external_bytes(in, stored, folder, bytes) : std::string();
    const std::string_view raw = stored.external ? std::string_view(outside) : stored.raw;
    if (raw.size() != bytes)
      wrong("has " + std::to_string(raw.size()) + " bytes, and the shape " + to_string(shape));
    const Tensor out = Tensor::empty(shape, dtype);
    from_raw(out, raw.data(), stored.code, static_cast<std::int64_t>(count));
    return out;
  }
  const auto filled = [&](const auto& numbers) {
    if (numbers.size() != count)
      wrong("has " + std::to_string(numbers.size()) + " elements, and the shape " + to_string(shape));
    const Tensor out = Tensor::empty(shape, dtype);
    from_numbers(out, numbers, stored.code);
    return out;
  };
  switch (stored.code) {
    case Float:
      return filled(stored.floats);
    case Double:
      return filled(stored.doubles);
    case Int64:
      return filled(stored.int64s);
    case UInt32:
    case UInt64:
      return filled(stored.uint64s);
    default:
      return filled(stored.int32s);
  }
}

}  // namespace ktape::nn::onnx
