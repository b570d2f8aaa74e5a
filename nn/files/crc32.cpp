#include <zlib.h>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/crc32.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ktape::data {
namespace {

std::uint32_t by_zlib(std::uint32_t before, const void* bytes, std::size_t n) {
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const unsigned char*>(bytes), n));
}

#if defined(__x86_64__)

// The bytes are the coefficients of a polynomial over bits, with the highest power in the lowest bit; the
// checksum is the remainder of a division by a fixed polynomial. A block of 128 bits that stands n bits
// before another block contributes the remainder of its product with x^n. The two halves of the block, each
// multiplied by a remainder of 32 bits, fit into the later block. So blocks are folded into later blocks,
// four at a time, until 16 bytes are left, which have the remainder of all bytes.

/// Returns the remainder of x^power, with its bits in the order of the blocks, as a factor for halves of
/// blocks.
constexpr std::uint64_t remainder_of_power(int power) {
  std::uint32_t remainder = std::uint32_t{1} << 31;
  for (int i = 0; i < power; ++i) remainder = remainder >> 1 ^ (remainder & 1 ? 0xedb88320u : 0u);
  return std::uint64_t{remainder} << 1;  // a carry-less product has 127 bits: shifts the product by one bit
}

__attribute__((target("pclmul"))) __m128i folded(__m128i block, __m128i factors, __m128i later) {
  const __m128i high = _mm_clmulepi64_si128(block, factors, 0x00);
  const __m128i low = _mm_clmulepi64_si128(block, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(high, low), later);
}

/// Returns the factors for a block that stands `bits` bits before the block into which it is folded.
__m128i factors(int bits) {
  return _mm_set_epi64x(static_cast<long long>(remainder_of_power(bits - 32)),
                        static_cast<long long>(remainder_of_power(bits + 32)));
}

/// Computes the checksum of at least 64 bytes with carry-less products.
__attribute__((target("pclmul"))) std::uint32_t by_folding(std::uint32_t before, const void* bytes,
                                                           std::size_t n) {
  static const __m128i far = factors(512), near = factors(128);
  const auto* at = static_cast<const __m128i*>(bytes);
  __m128i blocks[4];
  for (__m128i& block : blocks) block = _mm_loadu_si128(at++);
  blocks[0] = _mm_xor_si128(blocks[0], _mm_cvtsi32_si128(static_cast<int>(~before)));
  for (n -= 64; n >= 64; n -= 64)
    for (__m128i& block : blocks) block = folded(block, far, _mm_loadu_si128(at++));
  __m128i all = blocks[0];
  for (int i = 1; i < 4; ++i) all = folded(all, near, blocks[i]);
  // The folded bits contain all earlier bytes, so zlib starts from an empty checksum.
  return by_zlib(by_zlib(~std::uint32_t{0}, &all, sizeof(all)), at, n);
}

#endif

}  // namespace

namespace {

/// Computes the checksum on the calling thread.
std::uint32_t in_order(std::uint32_t before, const void* bytes, std::size_t n) {
#if defined(__x86_64__)
  static const bool folds = __builtin_cpu_supports("pclmul");
  if (folds && n >= 64) return by_folding(before, bytes, n);
#endif
  return by_zlib(before, bytes, n);
}

}  // namespace

std::uint32_t crc32(std::uint32_t before, const void* bytes, std::size_t n) {
  if (n <= static_cast<std::size_t>(bytes_for_a_thread)) return in_order(before, bytes, n);
  struct Piece {
    std::int64_t begin, end;
    std::uint32_t checksum;
  };
  std::mutex mutex;
  std::vector<Piece> pieces;
  parallel_for(static_cast<std::int64_t>(n), bytes_for_a_thread, [&](std::int64_t begin, std::int64_t end) {
    const auto* const from = static_cast<const unsigned char*>(bytes) + begin;
    const std::uint32_t checksum = in_order(0, from, static_cast<std::size_t>(end - begin));
    const std::lock_guard lock(mutex);
    pieces.push_back({begin, end, checksum});
  });
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  for (const Piece& piece : pieces)
    before = static_cast<std::uint32_t>(crc32_combine(before, piece.checksum, piece.end - piece.begin));
  return before;
}

}  // namespace ktape::data
