#pragma once
#include <ktape/autograd/base/parallel.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <xsimd/xsimd.hpp>

/// Counter-based random numbers: every element of a tensor is a function of the key and of its index, so that
/// neither the number of threads nor the width of the vectors changes a number.
namespace ktape::kernels {

inline constexpr std::uint32_t philox_multipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr std::uint32_t philox_steps[2] = {0x9E3779B9, 0xBB67AE85};

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{philox_multipliers[0]} * c[0],
                        p1 = std::uint64_t{philox_multipliers[1]} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += philox_steps[0];
    key[1] += philox_steps[1];
  }
  return c;
}

using U64 = xsimd::batch<std::uint64_t>;
using U32 = xsimd::batch<std::uint32_t>;

/// Returns the product of the low halves of 64-bit lanes.
inline U64 multiply_low_halves(U64 a, U64 b) {
#if defined(__AVX512F__)
  return _mm512_mul_epu32(a, b);
#elif defined(__AVX2__)
  return _mm256_mul_epu32(a, b);
#elif defined(__SSE2__)
  return _mm_mul_epu32(a, b);
#else
  return (a & U64(0xffffffffu)) * (b & U64(0xffffffffu));
#endif
}

/// The words of sixteen counters, as 32 lanes of 64 bits: (word 0, word 1) of each counter in order, then
/// (word 2, word 3).
struct PhiloxBlock {
  static constexpr int lanes = 32, words = 64, vectors = lanes / static_cast<int>(U64::size);
  U64 vector[vectors];

  void store(void* out) const { std::memcpy(out, vector, sizeof vector); }
};

/// The keys of the ten rounds, repeated over the lanes of a vector.
struct PhiloxKeys {
  std::uint64_t first[10], second[10];
  explicit PhiloxKeys(std::uint64_t key) {
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round, k0 += philox_steps[0], k1 += philox_steps[1])
      first[round] = k0, second[round] = k1;
  }
};

/// Returns block `index` of the stream: the words of the counters from 16 * index on. During the rounds the
/// upper halves of the lanes are undefined.
inline PhiloxBlock philox_block(const PhiloxKeys& keys, std::uint64_t index) {
  constexpr int half = PhiloxBlock::vectors / 2;
  alignas(64) static constexpr std::uint64_t lane_numbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                                 8, 9, 10, 11, 12, 13, 14, 15};
  const U64 m0(philox_multipliers[0]), m1(philox_multipliers[1]);
  U64 c0[half], c1[half], c2[half], c3[half];
  for (int i = 0; i < half; ++i) {
    c0[i] = U64(index * 16) + U64::load_aligned(lane_numbers + i * U64::size);
    c1[i] = c0[i] >> 32;
    c2[i] = c3[i] = U64(0u);
  }
  for (int round = 0; round < 10; ++round) {
    const U64 key0(keys.first[round]), key1(keys.second[round]);
    for (int i = 0; i < half; ++i) {
      const U64 p0 = multiply_low_halves(m0, c0[i]), p1 = multiply_low_halves(m1, c2[i]);
      c0[i] = (p1 >> 32) ^ c1[i] ^ key0;
      c1[i] = p1;
      c2[i] = (p0 >> 32) ^ c3[i] ^ key1;
      c3[i] = p0;
    }
  }
  PhiloxBlock block;
  const U64 word(0xffffffffu);
  for (int i = 0; i < half; ++i) {
    block.vector[i] = (c0[i] & word) | (c1[i] << 32);
    block.vector[half + i] = (c2[i] & word) | (c3[i] << 32);
  }
  return block;
}

/// Calls `make(block, i)` once for the elements [i, i + Size) of every block of a tensor of n elements, in
/// parallel.
template <int Size, class F>
void for_each_block(std::uint64_t key, std::int64_t n, const F& make) {
  static_assert(64 % Size == 0, "the ranges of parallel_for start at multiples of 64");
  const PhiloxKeys keys(key);
  parallel_for(n, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += Size)
      make(philox_block(keys, static_cast<std::uint64_t>(i / Size)), i);
  });
}

}  // namespace ktape::kernels
