#pragma once
#include <cstdint>

namespace ktape::kernels {

/// Copies in[i_0 * in_strides[0] + ...] to out[i_0 * out_strides[0] + ...] for every index of `shape`.
/// Strides count elements of `elem_size` bytes (1, 2, 4 or 8) and may be negative (reversed) or, in the
/// input, zero (repeated); in and out point to index 0, do not overlap, and no two indices write to one
/// place. At most 14 dimensions may remain after neighbouring dimensions with matching strides are joined.
void copy_strided(void* out, const std::int64_t* out_strides, const void* in, const std::int64_t* in_strides,
                  const std::int64_t* shape, int rank, int elem_size);

/// Copies n elements of `elem_size` bytes, in parallel and with non-temporal stores when they are many.
void copy_elements(void* out, const void* in, std::int64_t n, int elem_size);

/// Sets n elements of `elem_size` bytes to the element at `value`.
void fill_elements(void* out, const void* value, std::int64_t n, int elem_size);

}  // namespace ktape::kernels
