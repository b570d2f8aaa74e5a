#pragma once
#include <cstddef>
#include <vector>

namespace ktape::kernels {

/// A block of memory that is needed from one step to another, both included.
struct ArenaBlock {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;  ///< the result of `place`
};

/// Gives each block an offset, a multiple of 64, such that blocks that are needed at one step do not overlap.
/// Returns the size of the arena. Large blocks are placed first, each at the lowest offset that is free.
std::size_t place(std::vector<ArenaBlock>& blocks);

}  // namespace ktape::kernels
