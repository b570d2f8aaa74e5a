#include <doctest/doctest.h>
#include <ktape/nn/files/protobuf.hpp>
#include <ktape/nn/files/protobuf_writer.hpp>

#include <limits>

using ktape::data::ProtobufReader;
using ktape::data::ProtobufWriter;

TEST_CASE("protobuf: written messages are read again") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  ProtobufWriter inner, message;
  inner.bytes(8, std::string(300, 'x'));
  message.integer(1, 300);
  message.integer(2, least);
  message.real32(3, -2.5F);
  message.message(4, inner);
  message.packed(5, std::vector<std::int64_t>{0, 127, 128, -1});
  message.packed(6, std::vector<float>{1, 0.5F});
  message.begin(7, 2);
  const std::string file = "f", bytes = message.content() + "ab";
  ProtobufReader in("read", file, bytes);
  const auto next = [&](std::uint32_t field) { return in.next() && in.field() == field; };
  REQUIRE(next(1));
  CHECK(in.integer() == 300);
  REQUIRE(next(2));
  CHECK(in.integer() == least);
  REQUIRE(next(3));
  CHECK(in.real32() == -2.5F);
  REQUIRE(next(4));
  ProtobufReader part = in.message();
  REQUIRE(part.next());
  CHECK(part.field() == 8);
  CHECK(part.text() == std::string(300, 'x'));
  REQUIRE(next(5));
  std::vector<std::int64_t> integers;
  in.append(integers);
  CHECK(integers == std::vector<std::int64_t>{0, 127, 128, -1});
  REQUIRE(next(6));
  std::vector<float> reals;
  in.append(reals);
  CHECK(reals == std::vector<float>{1, 0.5F});
  REQUIRE(next(7));
  CHECK(in.text() == "ab");
  CHECK(!in.next());
}
