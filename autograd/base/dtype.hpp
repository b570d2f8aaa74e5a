#pragma once
#include <bit>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

namespace ktape {

/// An IEEE half precision number for storage. Arithmetic is done in float; the conversion from float rounds
/// half to even.
///
///     ktape::float16 half(1.5f);
///     std::cout << static_cast<float>(half) * 2;
class float16 {
 public:
  float16() = default;
  explicit float16(float value);
  operator float() const;
  static float16 from_bits(std::uint16_t bits);
  std::uint16_t bits() const { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

/// A brain floating point number for storage: the upper half of a float, with its range and 8 significant bits.
/// Arithmetic is done in float; the conversion from float rounds half to even, and NaN stays NaN.
///
///     ktape::bfloat16 third(1 / 3.f);  // 8 significant bits, the range of float
///     std::cout << third << " " << ktape::bfloat16(1e38f);
class bfloat16 {
 public:
  bfloat16() = default;
  explicit bfloat16(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    const bool nan = (f & 0x7fffffff) > 0x7f800000;  // must not be rounded to infinity
    bits_ = static_cast<std::uint16_t>(nan ? f >> 16 | 0x40 : (f + 0x7fff + (f >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(std::uint32_t{bits_} << 16); }
  static bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 b;
    b.bits_ = bits;
    return b;
  }
  std::uint16_t bits() const { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

/// Whether T is float16 or bfloat16: two bytes in memory, computed in float.
template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The element type of a tensor: a small value that compares with its Keras name and converts from the name.
///
///     DType d = "float32";   d == "float32";   d.name();
///
/// Throws ValueError for a name other than bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32,
/// float64.
///
///     ktape::DType d = "float32";
///     std::cout << d.name() << " " << (ktape::dtype_of<int>() == "int32");
class DType {
 public:
  enum Kind : std::uint8_t { Bool, UInt8, Int8, Int16, Int32, Int64, Float16, Float32, Float64, BFloat16 };

  constexpr DType(Kind kind) : kind_(kind) {}
  DType(std::string_view name);
  DType(const char* name) : DType(std::string_view(name)) {}
  DType(const std::string& name) : DType(std::string_view(name)) {}

  constexpr Kind kind() const { return kind_; }
  const char* name() const;
  /// Returns the size of one element in bytes.
  constexpr std::size_t size() const { return sizes[kind_]; }
  constexpr bool is_floating() const { return kind_ >= Float16; }
  /// Returns whether the dtype is float16 or bfloat16, whose numbers are computed in float32.
  constexpr bool is_half() const { return kind_ == Float16 || kind_ == BFloat16; }
  constexpr bool is_integer() const { return kind_ >= UInt8 && kind_ <= Int64; }
  constexpr bool is_bool() const { return kind_ == Bool; }

  friend constexpr bool operator==(DType a, DType b) { return a.kind_ == b.kind_; }

 private:
  static constexpr std::uint8_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2};
  Kind kind_;
};

std::ostream& operator<<(std::ostream& out, DType dtype);

/// Returns the DType of the C++ type T. Integer types with other names (long long, char) map by size and
/// sign.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::Bool;
  else if constexpr (std::is_same_v<T, float16>) return DType::Float16;
  else if constexpr (std::is_same_v<T, bfloat16>) return DType::BFloat16;
  else if constexpr (std::is_same_v<T, float>) return DType::Float32;
  else if constexpr (std::is_same_v<T, double>) return DType::Float64;
  else {
    static_assert(std::is_integral_v<T>, "no ktape dtype holds this element type");
    if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? DType::Int8 : DType::UInt8;
    else {
      static_assert(std::is_signed_v<T>, "of the unsigned types only uint8 has a ktape dtype");
      return sizeof(T) == 2 ? DType::Int16 : sizeof(T) == 4 ? DType::Int32 : DType::Int64;
    }
  }
}

}  // namespace ktape
