#include <doctest/doctest.h>
#include <ktape/ops/kernels/network/arena.hpp>

#include <random>

using ktape::kernels::ArenaBlock, ktape::kernels::place;

TEST_CASE("blocks of a chain share two places") {
  std::vector<ArenaBlock> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back({1000, i, i + 1});
  CHECK(place(blocks) == 2048);
}

TEST_CASE("blocks that are needed together do not overlap") {
  std::mt19937 random(1);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<ArenaBlock> blocks;
    std::size_t sum = 0;
    for (int i = 0; i < 40; ++i) {
      const int first = static_cast<int>(random() % 30);
      blocks.push_back({1 + random() % 5000, first, first + static_cast<int>(random() % 6)});
      sum += (blocks.back().bytes + 63) / 64 * 64;
    }
    const std::size_t size = place(blocks);
    CHECK(size < sum);
    for (const ArenaBlock& a : blocks) {
      CHECK(a.offset % 64 == 0);
      CHECK(a.offset + a.bytes <= size);
      for (const ArenaBlock& b : blocks) {
        if (&a == &b || a.last < b.first || b.last < a.first) continue;
        const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        CHECK(apart);
      }
    }
  }
}
