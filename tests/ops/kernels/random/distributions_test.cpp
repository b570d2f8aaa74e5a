// Random numbers against their formulas, in float64, applied to the words of the plain generator.
#include <doctest/doctest.h>
#include <ktape/ops/kernels/random/distributions.hpp>

#include "../references.hpp"

namespace {

using Words = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// Returns lane l of 32 in a block of sixteen counters: words 0 and 1 of each, then words 2 and 3.
std::uint64_t lane_of(std::uint64_t key, std::uint64_t block, std::uint64_t l) {
  const std::uint64_t counter = block * 16 + l % 16;
  const Words words = reference::philox(
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  return words[l / 16 * 2] | std::uint64_t{words[l / 16 * 2 + 1]} << 32;
}

/// The bits of element i of a block of numbers made of `Bits` bits, as a fraction of 1.
template <class T>
struct Bits {
  static constexpr int count = std::is_same_v<T, double> ? 64 : 32;
  static constexpr i64 block = 32 * 64 / count;

  static std::uint64_t of(std::uint64_t key, i64 i) {
    const auto place = static_cast<std::uint64_t>(i % block), at = static_cast<std::uint64_t>(i / block);
    if (count == 64) return lane_of(key, at, place);
    return lane_of(key, at, place / 2) >> (place % 2 * 32) & 0xffffffff;
  }
  /// Returns a number in [0, 1).
  static double unit(std::uint64_t bits) {
    return count == 64 ? double(bits >> 12) * 0x1p-52 : double(bits >> 8) * 0x1p-24;
  }
  /// Returns a number in (0, 1].
  static double above_zero(std::uint64_t bits) {
    return count == 64 ? 1 - unit(bits) : double(bits >> 1) * 0x1p-31 + 0x1p-32;
  }
  /// Returns a number in [-1, 1].
  static double symmetric(std::uint64_t bits) {
    if (count == 64) return 2 * unit(bits) - 1 + 0x1p-52;
    return double(static_cast<std::int32_t>(bits)) * 0x1p-31 + 0x1p-32;
  }
  static bool top(std::uint64_t bits) { return bits >> (count - 1) & 1; }
  static std::uint64_t left(std::uint64_t bits, int by) {
    return bits << by & (~std::uint64_t{0} >> (64 - count));
  }
};

/// Computes Box and Muller's transform: the first half of a block has the radii, the second the directions,
/// which lie within an eighth of a turn of an axis that two more bits choose.
template <class T>
double normal_number(std::uint64_t key, i64 i) {
  using B = Bits<T>;
  constexpr i64 half = B::block / 2;
  const i64 first = i - i % B::block + i % half;
  const std::uint64_t turn = B::of(key, first + half);
  const double radius = std::sqrt(-2 * std::log(B::above_zero(B::of(key, first)))),
               angle = M_PI / 4 * B::symmetric(B::left(turn, 2)),
               cosine = B::top(turn) ? -std::cos(angle) : std::cos(angle), sine = std::sin(angle);
  const bool second = i % B::block >= half, swapped = B::top(B::left(turn, 1));
  return radius * (second == swapped ? cosine : sine);
}

constexpr std::uint64_t key = 0x0123456789abcdef;
constexpr i64 sizes[] = {0, 1, 31, 64, 65, 1000, 70001};

}  // namespace

TEST_CASE("the plain Philox gives the known answers of its authors") {
  CHECK(reference::philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(reference::philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(reference::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("kernels: Philox agrees with the plain one, alone and in blocks") {
  std::mt19937 random(1);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  for (int i = 0; i < 1000; ++i) {
    const Words counter{word(), word(), word(), word()};
    const Key small{word(), word()};
    CHECK(k::philox(counter, small) == reference::philox(counter, small));
  }
  for (const std::uint64_t index : {0ull, 1ull, 12345ull, (1ull << 28) - 1, 1ull << 28, 1ull << 40}) {
    std::uint64_t lanes[32];
    k::philox_block(k::PhiloxKeys(key), index).store(lanes);
    for (std::uint64_t l = 0; l < 32; ++l) CHECK(lanes[l] == lane_of(key, index, l));
  }
}

TEST_CASE_TEMPLATE("kernels: uniform, normal and truncated normal numbers agree with their formulas", T,
                   float, double) {
  using C = k::random_real<T>;
  using B = Bits<T>;
  const double allowed = std::is_same_v<T, double> ? 1e-14 : std::is_same_v<T, float> ? 1e-6 : 2e-3;
  for (const i64 n : sizes) {
    const Array<T> uniform(n), normal(n), truncated(n);
    k::fill_uniform(key, n, uniform.data(), C(-1), C(3), C(2));
    k::fill_normal(key, n, normal.data(), C(0.5), C(2));
    k::fill_truncated_normal(key, n, truncated.data(), C(0), C(1));
    std::vector<double> uniforms, normals, shares, kept;
    for (i64 i = 0; i < n; ++i) {
      uniforms.push_back(3 * B::unit(B::of(key, i)) - 1);
      normals.push_back(0.5 + 2 * normal_number<T>(key, i));
      // The share of the distribution between 0 and a number tells the number.
      shares.push_back(std::erf(double(truncated[i]) / std::sqrt(2.)));
      kept.push_back(B::symmetric(B::of(key, i)) * std::erf(std::sqrt(2.)));
    }
    CHECK(close(as_list(uniform), uniforms, {.rtol = allowed, .atol = allowed}));
    CHECK(close(as_list(normal), normals, {.rtol = 4 * allowed, .atol = 4 * allowed}));
    CHECK(close(shares, kept, {.rtol = allowed, .atol = allowed}));
  }
}

TEST_CASE("kernels: a uniform number is never above the last one allowed") {
  const Array<float> x(1000);
  k::fill_uniform(key, x.size(), x.data(), 0.f, 1.f, 0.5f);
  CHECK(*std::max_element(x.data(), x.data() + x.size()) == 0.5f);
}

TEST_CASE_TEMPLATE("kernels: whole numbers are the bits as a fraction of the range", T, std::uint8_t,
                   std::int16_t, std::int32_t, i64) {
  using Wide = unsigned __int128;
  for (const std::uint64_t range : {1ull, 3ull, 100ull, 1ull << 32, (1ull << 32) + 1, ~0ull}) {
    if (range > std::uint64_t(std::numeric_limits<T>::max()) + 1 && range != ~0ull) continue;
    for (const i64 n : sizes) {
      const Array<T> x(n);
      k::fill_integers(key, n, x.data(), 5, range);
      const auto wanted = [&](i64 i) {
        const i64 per_block = range <= 1ull << 32 ? 32 : 16;
        const auto block = static_cast<std::uint64_t>(i / per_block),
                   place = static_cast<std::uint64_t>(i % per_block);
        std::uint64_t offset = static_cast<std::uint64_t>(Wide{lane_of(key, block, place)} * range >> 64);
        if (per_block == 16) {  // 128 bits for a number
          const Wide low = Wide{lane_of(key, block, place + 16)} * range >> 64;
          offset = static_cast<std::uint64_t>((Wide{lane_of(key, block, place)} * range + low) >> 64);
        }
        return static_cast<T>(5 + offset);
      };
      INFO("n=", n, ", range=", range);
      CHECK(each_is(x.data(), n, wanted));
    }
  }
}

TEST_CASE_TEMPLATE("kernels: Bernoulli's numbers compare a word with a bound", T, std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t) {
  for (const i64 n : sizes)
    for (const std::uint32_t last : {0u, 0x40000000u, ~0u}) {
      const Array<T> x(n);
      k::fill_bernoulli(key, n, x.data(), T(0x35), last);
      INFO("n=", n, ", last=", last);
      CHECK(each_is(x.data(), n, [&](i64 i) { return Bits<float>::of(key, i) <= last ? T(0x35) : T(0); }));
    }
}

TEST_CASE_TEMPLATE("kernels: dropout scales kept elements and sets the others to 0", T, float, double) {
  using C = k::random_real<T>;
  for (const i64 n : sizes)
    for (const std::uint32_t first : {0u, 0x60000000u, ~0u}) {
      const Array<T> x = numbers<T>(n), y(n);
      k::scale_kept(key, n, y.data(), x.data(), C(4), first);
      INFO("n=", n, ", first=", first);
      CHECK(each_is(y.data(), n, [&](i64 i) {
        const bool kept = Bits<T>::of(key, i) >> (Bits<T>::count - 32) >= first;
        return kept ? T(C(x[i]) * 4) : T(0);
      }));
      k::scale_kept(key, n, x.data(), x.data(), C(4), first);
      CHECK(each_is(x, y));
    }
}
