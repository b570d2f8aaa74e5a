#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/protobuf.hpp>

namespace ktape::data {
namespace {

constexpr int deepest_message = 100;
constexpr std::uint32_t last_field = (1u << 29) - 1;

/// Returns the first n bytes and removes them.
std::string_view taken(std::string_view& from, std::size_t n) {
  const std::string_view part = from.substr(0, n);
  from.remove_prefix(n);
  return part;
}

}  // namespace

void ProtobufReader::fail(const std::string& reason) const {
  ktape::fail<IOError>("[", op_, "] the file must be a valid message of Protocol Buffers: received ", *file_,
                       " (", reason, ')');
}

std::uint64_t ProtobufReader::varint(std::string_view& from) const {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (from.empty()) fail("a number is cut off");
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    if (shift == 63 && byte > 1) fail("a number has more than 64 bits");
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
  fail("a number has more than 10 bytes");
}

bool ProtobufReader::next() {
  if (bytes_.empty()) return false;
  const std::uint64_t key = varint(bytes_);
  if (key >> 3 == 0 || key >> 3 > last_field) fail("a field has the number " + std::to_string(key >> 3));
  field_ = static_cast<std::uint32_t>(key >> 3);
  wire_ = static_cast<Wire>(key & 7);
  const auto cut_off = [&] { fail("field " + std::to_string(field_) + " is cut off"); };
  switch (wire_) {
    case Wire::Varint:
      number_ = varint(bytes_);
      break;
    case Wire::Fixed64:
      if (bytes_.size() < 8) cut_off();
      number_ = little_endian<std::uint64_t>(taken(bytes_, 8).data());
      break;
    case Wire::Fixed32:
      if (bytes_.size() < 4) cut_off();
      number_ = little_endian<std::uint32_t>(taken(bytes_, 4).data());
      break;
    case Wire::Bytes: {
      const std::uint64_t size = varint(bytes_);
      if (size > bytes_.size()) cut_off();
      value_ = taken(bytes_, static_cast<std::size_t>(size));
      break;
    }
    default:
      fail("field " + std::to_string(field_) + " has the wire type " + std::to_string(key & 7));
  }
  return true;
}

void ProtobufReader::expect(Wire wire) const {
  if (wire_ != wire)
    fail("field " + std::to_string(field_) + " has the wire type " + std::to_string(static_cast<int>(wire_)) +
         " in place of " + std::to_string(static_cast<int>(wire)));
}

std::int64_t ProtobufReader::integer() const {
  expect(Wire::Varint);
  return static_cast<std::int64_t>(number_);
}

float ProtobufReader::real32() const {
  expect(Wire::Fixed32);
  return std::bit_cast<float>(static_cast<std::uint32_t>(number_));
}

std::string_view ProtobufReader::bytes() const {
  expect(Wire::Bytes);
  return value_;
}

ProtobufReader ProtobufReader::message() const {
  if (depth_ == deepest_message)
    fail("messages are nested more deeply than " + std::to_string(deepest_message));
  return {op_, *file_, bytes(), depth_ + 1};
}

void ProtobufReader::append(std::vector<std::int64_t>& numbers) const {
  if (wire_ != Wire::Bytes) return numbers.push_back(integer());
  for (std::string_view packed = value_; !packed.empty();)
    numbers.push_back(static_cast<std::int64_t>(varint(packed)));
}

template <class T>
void ProtobufReader::append_fixed(std::vector<T>& numbers, Wire single) const {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (wire_ != Wire::Bytes) {
    expect(single);
    return numbers.push_back(std::bit_cast<T>(static_cast<Bits>(number_)));
  }
  if (value_.size() % sizeof(T) != 0)
    fail("field " + std::to_string(field_) + " has " + std::to_string(value_.size()) +
         " bytes of packed numbers");
  for (std::size_t at = 0; at < value_.size(); at += sizeof(T))
    numbers.push_back(std::bit_cast<T>(little_endian<Bits>(value_.data() + at)));
}

void ProtobufReader::append(std::vector<float>& numbers) const { append_fixed(numbers, Wire::Fixed32); }
void ProtobufReader::append(std::vector<double>& numbers) const { append_fixed(numbers, Wire::Fixed64); }

}  // namespace ktape::data
