#pragma once
#include <ktape/ops/kernels/copy/loop_nest.hpp>
#include <ktape/ops/kernels/copy/strided_copy.hpp>

namespace ktape::kernels {

/// out = in with its dimensions in another order, as NumPy's transpose: dimension d of out is dimension
/// pattern[d] of in. in is contiguous of `shape`, out contiguous of the permuted shape, elements of 1, 2, 4
/// or 8 bytes, at most 14 dimensions.
inline void permute(const void* in, void* out, const std::int64_t* shape, const int* pattern, int rank,
                    int elem_size) {
  std::array<std::int64_t, detail::LoopNest::capacity> sizes{}, in_strides{}, permuted{}, out_strides{};
  for (std::int64_t d = rank - 1, step = 1; d >= 0; step *= shape[d--]) permuted[d] = step;
  for (int d = 0; d < rank; ++d) sizes[d] = shape[pattern[d]], in_strides[d] = permuted[pattern[d]];
  for (std::int64_t d = rank - 1, step = 1; d >= 0; step *= sizes[d--]) out_strides[d] = step;
  copy_strided(out, out_strides.data(), in, in_strides.data(), sizes.data(), rank, elem_size);
}

}  // namespace ktape::kernels
