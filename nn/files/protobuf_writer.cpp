#include <ktape/nn/files/protobuf_writer.hpp>

#include <bit>

namespace ktape::data {
namespace {

std::string fixed32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  return bytes;
}

}  // namespace

void ProtobufWriter::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) content_ += static_cast<char>((value & 0x7f) | 0x80);
  content_ += static_cast<char>(value);
}

void ProtobufWriter::integer(std::uint32_t field, std::int64_t value) {
  key(field, Varint);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufWriter::real32(std::uint32_t field, float value) {
  key(field, Fixed32);
  content_ += fixed32(value);
}

void ProtobufWriter::begin(std::uint32_t field, std::uint64_t size) {
  key(field, Bytes);
  varint(size);
}

void ProtobufWriter::bytes(std::uint32_t field, std::string_view value) {
  begin(field, value.size());
  content_ += value;
}

void ProtobufWriter::packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
  ProtobufWriter numbers;
  for (const std::int64_t value : values) numbers.varint(static_cast<std::uint64_t>(value));
  bytes(field, numbers.content_);
}

void ProtobufWriter::packed(std::uint32_t field, const std::vector<float>& values) {
  std::string numbers;
  for (const float value : values) numbers += fixed32(value);
  bytes(field, numbers);
}

}  // namespace ktape::data
