#include "reference.hpp"

namespace reference {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = counter[0] * std::uint64_t{0xD2511F53},
                        odd = counter[2] * std::uint64_t{0xCD9E8D57};
    counter = {high(odd) ^ counter[1] ^ key[0], low(odd), high(even) ^ counter[3] ^ key[1], low(even)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

}  // namespace reference
