#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/base/error.hpp>

#include <array>
#include <bit>
#include <ostream>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace ktape {
namespace {
constexpr std::array names = {"bool",  "uint8",   "int8",    "int16",   "int32",
                              "int64", "float16", "float32", "float64", "bfloat16"};
}  // namespace

#if defined(__F16C__)
float16::float16(float value)
    : bits_(static_cast<std::uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT))) {}
float16::operator float() const { return _cvtsh_ss(bits_); }
#else
float16::float16(float value) {
  const std::uint32_t f = std::bit_cast<std::uint32_t>(value), sign = f >> 16 & 0x8000,
                      magnitude = f & 0x7fffffff;
  std::uint32_t half;
  if (magnitude > 0x7f800000) half = 0x7e00;        // NaN
  else if (magnitude >= 0x477ff000) half = 0x7c00;  // rounds to infinity
  else if (magnitude < 0x38800000) {                // subnormal: let the FPU round at the right place
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  } else {
    half = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  }
  bits_ = static_cast<std::uint16_t>(sign | half);
}

float16::operator float() const {
  const std::uint32_t sign = std::uint32_t(bits_ & 0x8000) << 16, exponent = bits_ >> 10 & 31,
                      fraction = bits_ & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) return (sign ? -1.f : 1.f) * static_cast<float>(fraction) * 0x1p-24f;
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}
#endif

float16 float16::from_bits(std::uint16_t bits) {
  float16 h;
  h.bits_ = bits;
  return h;
}

DType::DType(std::string_view name) : kind_(Float32) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) {
      kind_ = static_cast<Kind>(i);
      return;
    }
  fail(
      "[dtype] the name must be one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, "
      "float64: received '",
      name, "'");
}

const char* DType::name() const { return names[kind_]; }

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype.name(); }

}  // namespace ktape
