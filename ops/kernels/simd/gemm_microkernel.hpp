#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

namespace ktape::kernels {

/// Computes sum[r][v] += the sum over k < inner of a[r][k * a_step] times the v-th vector of row k of b,
/// whose rows are b_step elements apart. For products that are too small for the engine, or whose results are
/// used in registers. For V = 1 only `valid` lanes of b are read.
template <int R, int V, class A>
void multiply_add(Vec<A> (&sum)[R][V], const A* const (&a)[R], std::int64_t a_step, std::int64_t inner,
                  const A* b, std::int64_t b_step, std::int64_t valid = lanes<A>) {
  for (std::int64_t k = 0; k < inner; ++k, b += b_step)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      Vec<A> column = V > 1 ? load(b + v * lanes<A>) : load_partial(b, valid);
      if constexpr (R > 1) keep_in_register<A>(column);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) sum[r][v] += a[r][k * a_step] * column;
    }
}

}  // namespace ktape::kernels
