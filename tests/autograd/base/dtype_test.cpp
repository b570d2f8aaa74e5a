#include <doctest/doctest.h>
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/base/error.hpp>

#include <bit>
#include <cmath>
#include <sstream>

using namespace ktape;

TEST_CASE("a dtype converts from its Keras name and compares with the name") {
  const DType dtype = "float32";
  CHECK(dtype == "float32");
  CHECK(dtype == DType::Float32);
  CHECK(dtype != "float64");
  CHECK(dtype.name() == std::string("float32"));
  CHECK(DType(std::string("int8")) == DType::Int8);
  std::ostringstream out;
  out << dtype;
  CHECK(out.str() == "float32");
}

TEST_CASE("every dtype knows its size and kind") {
  const std::pair<const char*, std::size_t> sizes[] = {
      {"bool", 1},  {"uint8", 1},   {"int8", 1},    {"int16", 2},   {"int32", 4},
      {"int64", 8}, {"float16", 2}, {"float32", 4}, {"float64", 8}, {"bfloat16", 2}};
  for (const auto& [name, size] : sizes) {
    const DType dtype = name;
    CAPTURE(dtype);
    CHECK(dtype.name() == std::string(name));
    CHECK(dtype.size() == size);
    CHECK(dtype.is_bool() + dtype.is_integer() + dtype.is_floating() == 1);
  }
  CHECK(DType("bool").is_bool());
  CHECK(DType("uint8").is_integer());
  CHECK(DType("float16").is_floating());
  CHECK(DType("bfloat16").is_floating());
  CHECK(DType("float16").is_half());
  CHECK(DType("bfloat16").is_half());
  CHECK_FALSE(DType("float32").is_half());
}

TEST_CASE("an unknown name is refused with the names that exist") {
  CHECK_THROWS_WITH_AS(
      DType("float12"),
      "[dtype] the name must be one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, "
      "float64: received 'float12'",
      ValueError);
  CHECK_THROWS_AS(DType(""), ValueError);
}

TEST_CASE("C++ types map to the dtype that holds them, integers by size") {
  CHECK(dtype_of<bool>() == "bool");
  CHECK(dtype_of<char>() == (std::is_signed_v<char> ? "int8" : "uint8"));
  CHECK(dtype_of<short>() == "int16");
  CHECK(dtype_of<int>() == "int32");
  CHECK(dtype_of<long>() == "int64");
  CHECK(dtype_of<long long>() == "int64");
  CHECK(dtype_of<float16>() == "float16");
  CHECK(dtype_of<bfloat16>() == "bfloat16");
  CHECK(dtype_of<double>() == "float64");
}

TEST_CASE("every half keeps its value in a conversion to float and back") {
  int changed = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float16 half = float16::from_bits(static_cast<std::uint16_t>(bits));
    const float16 again(static_cast<float>(half));
    const bool both_nan = std::isnan(static_cast<float>(half)) && std::isnan(static_cast<float>(again));
    if (!both_nan && again.bits() != half.bits()) ++changed;
  }
  CHECK(changed == 0);
}

TEST_CASE("a float becomes the nearest half, ties to even") {
  CHECK(float16(1.f).bits() == 0x3c00);
  CHECK(float16(-2.f).bits() == 0xc000);
  CHECK(float16(65504.f).bits() == 0x7bff);  // the largest
  CHECK(float16(65519.f).bits() == 0x7bff);
  CHECK(float16(65520.f).bits() == 0x7c00);  // rounds to infinity
  CHECK(float16(HUGE_VALF).bits() == 0x7c00);
  CHECK(std::isnan(static_cast<float>(float16(NAN))));
  CHECK(float16(1.f + 0x1p-11f).bits() == 0x3c00);  // halfway, to even
  CHECK(float16(1.f + 3 * 0x1p-11f).bits() == 0x3c02);
  CHECK(float16(0x1p-24f).bits() == 0x0001);  // the smallest
  CHECK(float16(0x1p-25f).bits() == 0x0000);
  CHECK(float16(-0.f).bits() == 0x8000);
}

TEST_CASE(
    "every bfloat16 is the upper half of a float, and keeps its bits in a conversion to float and back") {
  int changed = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const bfloat16 number = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = number;
    const bfloat16 again(wide);
    changed += std::bit_cast<std::uint32_t>(wide) != bits << 16;
    if (std::isnan(wide)) changed += !std::isnan(static_cast<float>(again)) || (again.bits() ^ bits) & 0x8000;
    else changed += again.bits() != bits;
  }
  CHECK(changed == 0);
}

TEST_CASE("a float becomes the nearest bfloat16, ties to even") {
  CHECK(bfloat16(1.f).bits() == 0x3f80);
  CHECK(bfloat16(-2.f).bits() == 0xc000);
  CHECK(bfloat16(0x1.fep127f).bits() == 0x7f7f);  // the largest
  CHECK(bfloat16(0x1.fefffep127f).bits() == 0x7f7f);
  CHECK(bfloat16(0x1.ffp127f).bits() == 0x7f80);  // rounds to infinity
  CHECK(bfloat16(-HUGE_VALF).bits() == 0xff80);
  CHECK(bfloat16(1.f + 0x1p-8f).bits() == 0x3f80);  // halfway, to even
  CHECK(bfloat16(1.f + 3 * 0x1p-8f).bits() == 0x3f82);
  CHECK(bfloat16(1.f + 0x1p-8f + 0x1p-20f).bits() == 0x3f81);
  CHECK(bfloat16(0x1p-133f).bits() == 0x0001);  // the smallest, a subnormal number
  CHECK(bfloat16(0x1p-134f).bits() == 0x0000);
  CHECK(bfloat16(-0.f).bits() == 0x8000);
  // The payloads of these NaNs lie in the bits that are cut off, or are rounded upwards beyond all bits.
  for (const std::uint32_t nan : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fc00000u})
    CHECK(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(nan)))));
}
