#pragma once
#include <ktape/autograd/base/dtype.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace ktape::kernels {

template <std::size_t bytes>
using UnsignedOfSize =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t,
                                          std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// Returns an unsigned integer of the size of the value; these integers are ordered as the values are, with NaN last. Both
/// zeros have one key, and so have all NaNs.
template <class T>
UnsignedOfSize<sizeof(T)> sort_key(T value) {
  using Key = UnsignedOfSize<sizeof(T)>;
  constexpr Key sign = Key(Key(1) << (8 * sizeof(T) - 1));
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<Key>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Key>(static_cast<Key>(value) ^ (std::is_signed_v<T> ? sign : Key(0)));
  } else {
    const auto number = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value);
    if (number != number) return static_cast<Key>(~Key(0));
    const Key bits = number == 0 ? Key(0) : std::bit_cast<Key>(value);
    return static_cast<Key>(bits & sign ? ~bits : bits | sign);
  }
}

}  // namespace ktape::kernels
