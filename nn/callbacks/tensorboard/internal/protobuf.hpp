#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace ktape::nn {

/// A message in the wire format of protocol buffers, field by field. Internal: sources only.
class Message {
 public:
  Message& integer(std::uint32_t field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(std::uint32_t field, double value) {
    key(field, 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(bits >> 8 * byte);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3 | type); }
  /// Appends a number, seven bits in each byte, the lowest bits first. The highest bit of a byte is set if
  /// more bytes follow.
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace ktape::nn
