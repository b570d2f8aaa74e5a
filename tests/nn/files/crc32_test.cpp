#include <doctest/doctest.h>
#include <zlib.h>
#include <ktape/nn/files/crc32.hpp>

#include <random>
#include <vector>

namespace data = ktape::data;

TEST_CASE("crc32 is zlib's, for all lengths, places and beginnings") {
  CHECK(data::crc32(0, "123456789", 9) == 0xcbf43926);
  std::mt19937 random(1);
  std::vector<unsigned char> bytes(5000);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  for (std::size_t begin : {0, 1, 7, 16})
    for (std::size_t n = 0; n < 700; ++n) {
      const auto before = static_cast<std::uint32_t>(random());
      CAPTURE(n);
      CHECK(data::crc32(before, bytes.data() + begin, n) == crc32_z(before, bytes.data() + begin, n));
    }
  std::uint32_t whole = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 1000) whole = data::crc32(whole, bytes.data() + at, 1000);
  CHECK(whole == crc32_z(0, bytes.data(), bytes.size()));
}

TEST_CASE("crc32 of many bytes, which several threads share, is zlib's") {
  std::vector<unsigned char> bytes((std::size_t{1} << 21) + 12345);
  std::mt19937 random(2);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  for (std::size_t n : {std::size_t{1} << 18, (std::size_t{1} << 18) + 1, bytes.size() - 3, bytes.size()})
    for (std::uint32_t before : {0u, 0x12345678u}) {
      CAPTURE(n);
      CHECK(data::crc32(before, bytes.data(), n) == crc32_z(before, bytes.data(), n));
    }
}
