#include <doctest/doctest.h>
#include <ktape/nn/files/protobuf.hpp>

#include "../saving/onnx/onnx_bytes.hpp"

using doctest::Contains;
using ktape::IOError;
using ktape::data::ProtobufReader;

TEST_CASE("protobuf: fields of a message") {
  const std::string file = "f", bytes = number_field(1, 300) + number_field(2, -1) + bytes_field(3, "text") +
                                        bytes_field(4, varint(1) + varint(1000)) + number_field(4, 7);
  ProtobufReader in("read", file, bytes);
  REQUIRE(in.next());
  CHECK(in.field() == 1);
  CHECK(in.integer() == 300);
  CHECK_THROWS_WITH_AS(in.text(), Contains("field 1 has the wire type 0 in place of 2"), IOError);
  REQUIRE(in.next());
  CHECK(in.integer() == -1);
  REQUIRE(in.next());
  CHECK(in.text() == "text");
  std::vector<std::int64_t> numbers;
  while (in.next()) in.append(numbers);
  CHECK(numbers == std::vector<std::int64_t>{1, 1000, 7});
}

TEST_CASE("protobuf: damaged messages") {
  const auto check_error = [](const std::string& bytes, const char* reason) {
    const std::string file = "f.bin";
    ProtobufReader in("read", file, bytes);
    CHECK_THROWS_WITH_AS(while (in.next()) continue, Contains(reason), IOError);
  };
  check_error("\x08", "a number is cut off");
  check_error(std::string("\x0a\x05", 2) + "abc", "field 1 is cut off");
  check_error(
      "\x09"
      "1234567",
      "field 1 is cut off");
  check_error("\x0b", "field 1 has the wire type 3");
  check_error(std::string(1, '\0'), "a field has the number 0");
  check_error(std::string("\x08") + std::string(9, '\xff') + "\x02", "a number has more than 64 bits");
}
