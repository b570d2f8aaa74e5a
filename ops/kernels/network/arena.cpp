#include <ktape/ops/kernels/network/arena.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::kernels {

std::size_t place(std::vector<ArenaBlock>& blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  const auto rounded = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  std::size_t size = 0;
  std::vector<const ArenaBlock*> placed;  // ordered by offset
  for (const std::size_t index : order) {
    ArenaBlock& block = blocks[index];
    block.offset = 0;
    for (const ArenaBlock* other : placed) {
      const bool together = block.first <= other->last && other->first <= block.last;
      if (!together) continue;
      if (block.offset + rounded(block.bytes) <= other->offset) break;
      block.offset = std::max(block.offset, other->offset + rounded(other->bytes));
    }
    size = std::max(size, block.offset + rounded(block.bytes));
    const auto after = [](std::size_t offset, const ArenaBlock* other) { return offset < other->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block.offset, after), &block);
  }
  return size;
}

}  // namespace ktape::kernels
