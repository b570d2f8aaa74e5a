#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// Writing of small ONNX files for tests.

inline std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
  return bytes + static_cast<char>(number);
}
/// Returns a field with a number, or with bytes.
inline std::string number_field(int field, std::int64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
}
inline std::string bytes_field(int field, const std::string& value) {
  return varint((static_cast<std::uint64_t>(field) << 3) | 2) + varint(value.size()) + value;
}

inline std::string onnx_node(const std::string& op, const std::vector<std::string>& inputs,
                             const std::string& output, const std::string& more = "") {
  std::string node;
  for (const std::string& input : inputs) node += bytes_field(1, input);
  return bytes_field(1, node + bytes_field(2, output) + bytes_field(4, op) + more);
}
inline std::string onnx_floats(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}
/// Returns the fields of a float tensor: its extents, its name and then `data`.
inline std::string onnx_tensor(const std::string& name, const std::vector<std::int64_t>& shape,
                               const std::string& data) {
  std::string fields;
  for (const std::int64_t extent : shape) fields += number_field(1, extent);
  return fields + number_field(2, 1) + bytes_field(8, name) + data;
}
inline std::string onnx_weight(const std::string& name, const std::vector<std::int64_t>& shape,
                               const std::vector<float>& numbers) {
  return bytes_field(5, onnx_tensor(name, shape, bytes_field(9, onnx_floats(numbers))));
}
inline std::string onnx_input(const std::string& name, int type = 1) {
  return bytes_field(11, bytes_field(1, name) + bytes_field(2, bytes_field(1, number_field(1, type))));
}
inline std::string onnx_output(const std::string& name) { return bytes_field(12, bytes_field(1, name)); }

inline std::string onnx_file(const std::string& graph, int opset = 17) {
  return number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, opset));
}

/// Returns a model y = relu(x w + b) with w of the shape (2, 3).
inline std::string onnx_model() {
  return onnx_file(onnx_node("Gemm", {"x", "w", "b"}, "h") + onnx_node("Relu", {"h"}, "y") +
                   onnx_weight("w", {2, 3}, {1, 2, 3, 4, 5, 6}) + onnx_weight("b", {3}, {0, -20, 1}) +
                   onnx_input("x") + onnx_output("y"));
}

/// Return attributes of a node.
inline std::string onnx_integer(const std::string& name, std::int64_t value) {
  return bytes_field(5, bytes_field(1, name) + number_field(3, value) + number_field(20, 2));
}
inline std::string onnx_integers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string fields = bytes_field(1, name);
  for (const std::int64_t value : values) fields += number_field(8, value);
  return bytes_field(5, fields + number_field(20, 7));
}
inline std::string onnx_texts(const std::string& name, const std::vector<std::string>& values) {
  std::string attribute = bytes_field(1, name) + number_field(20, 8);
  for (const std::string& value : values) attribute += bytes_field(9, value);
  return bytes_field(5, attribute);
}
inline std::string onnx_reals(const std::string& name, const std::vector<float>& values) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(7, onnx_floats(values)) + number_field(20, 6));
}
inline std::string onnx_text(const std::string& name, const std::string& value) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(4, value) + number_field(20, 3));
}
