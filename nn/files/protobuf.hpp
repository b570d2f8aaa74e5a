#pragma once
#include <ktape/autograd/base/error.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Reading of the wire format of Protocol Buffers: messages are lists of fields, each a number, a wire type and a
/// value. Internal: sources only.
namespace ktape::data {

/// Reads the fields of a message in order. The bytes are not copied and must outlive the reader. All errors are
/// IOErrors that name the operation and the file; nothing is allocated for a size that only the file states.
///
///     ProtobufReader message("load", path, bytes);
///     while (message.next())
///       if (message.field() == 1) name = message.text();
class ProtobufReader {
 public:
  enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  ProtobufReader(const char* op, const std::string& file, std::string_view bytes, int depth = 0)
      : op_(op), file_(&file), bytes_(bytes), depth_(depth) {}

  /// Advances to the next field and reads the field's value. Returns whether there is a field.
  bool next();
  std::uint32_t field() const { return field_; }

  /// Return the value of the field. Throw for a field of another wire type. A field that appears again replaces
  /// the earlier value, as the format prescribes.
  std::int64_t integer() const;
  float real32() const;
  std::string_view bytes() const;
  std::string text() const { return std::string(bytes()); }
  /// Returns a reader of the message in the field. Throws for messages nested more deeply than 100.
  ProtobufReader message() const;

  /// Append the numbers of the field, packed in one value or a single number.
  void append(std::vector<std::int64_t>& numbers) const;
  void append(std::vector<float>& numbers) const;
  void append(std::vector<double>& numbers) const;

  /// Throws IOError with a reason.
  [[noreturn]] void fail(const std::string& reason) const;
  const char* op() const { return op_; }
  const std::string& file() const { return *file_; }

 private:
  std::uint64_t varint(std::string_view& from) const;
  void expect(Wire wire) const;
  template <class T>
  void append_fixed(std::vector<T>& numbers, Wire single) const;

  const char* op_;
  const std::string* file_;
  std::string_view bytes_;  ///< the bytes that are not read yet
  int depth_;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::Varint;
  std::uint64_t number_ = 0;  ///< the value of a field that is not bytes
  std::string_view value_;    ///< the value of a field that is bytes
};

}  // namespace ktape::data
