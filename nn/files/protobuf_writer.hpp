#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Writing of the wire format of Protocol Buffers. Internal: sources only.
namespace ktape::data {

/// Appends the fields of a message to a string.
///
///     ProtobufWriter tensor;
///     tensor.packed(1, {2, 3});
///     tensor.bytes(8, "weight");
///     ProtobufWriter graph;
///     graph.message(5, tensor);
class ProtobufWriter {
 public:
  void integer(std::uint32_t field, std::int64_t value);
  void real32(std::uint32_t field, float value);
  void bytes(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, const ProtobufWriter& value) { bytes(field, value.content()); }
  /// Write the numbers as one value.
  void packed(std::uint32_t field, const std::vector<std::int64_t>& values);
  void packed(std::uint32_t field, const std::vector<float>& values);
  /// Begins a value of `size` bytes; the bytes must follow the content.
  void begin(std::uint32_t field, std::uint64_t size);

  const std::string& content() const { return content_; }

 private:
  enum Wire : std::uint32_t { Varint = 0, Bytes = 2, Fixed32 = 5 };
  void varint(std::uint64_t value);
  void key(std::uint32_t field, Wire wire) { varint(std::uint64_t{field} << 3 | wire); }

  std::string content_;
};

}  // namespace ktape::data
