#pragma once
#include <ktape/ops/kernels/elementwise/elementwise.hpp>

#include <vector>

/// Chains of element-wise loops: all loops run on one block of elements after the other, so that intermediate
/// results stay in the cache.
namespace ktape::kernels {

/// The location of the elements of an operand: an array in memory, or one of the buffers of a block.
struct ChainPlace {
  char* array = nullptr;  ///< the first element in memory; null for a buffer
  int buffer = -1;        ///< the index of a buffer
  int bytes = 0;          ///< bytes of an element
  bool repeats = false;   ///< all elements of the buffer are equal
};

/// A loop of a chain, from the operands to the result.
struct ChainStep {
  ElementLoop loop;
  ChainPlace out;
  ChainPlace x[4];
};

/// An array that broadcasts to the shape of the results: its elements are written to a buffer in the order of
/// that shape before the first step.
struct ChainSource {
  const void* at;
  int bytes;
  Shape from, to;
  int buffer;
};

/// Loops over arrays of `size` elements each, in the order of execution. A step may write to the place of an
/// operand of equal element size that no later step reads.
struct Chain {
  std::int64_t size = 0;
  std::vector<ChainSource> sources;
  std::vector<ChainStep> steps;
  int buffers = 0;
};

/// Runs a chain, split over the threads. Every element is computed by the operations of the single loops in
/// their order, so that the results have the same bits. Vectors beyond the last element end in the padding of
/// the arrays.
void run_chain(const Chain& chain);

}  // namespace ktape::kernels
