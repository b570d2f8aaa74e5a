#pragma once
#include <ktape/autograd/memory.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

namespace ktape::kernels {

/// sums = what f(begin, end, sums) adds for disjoint ranges of [0, n), in parallel: each thread adds to
/// numbers of its own, which are added up in order, so that the result is the same every time.
template <class T, class F>
void thread_sums(std::int64_t n, std::int64_t size, T* sums, const F& f) {
  const std::int64_t threads = std::min<std::int64_t>(omp_in_parallel() ? 1 : omp_get_max_threads(), n);
  WorkVector<T> others(static_cast<std::size_t>(std::max<std::int64_t>(0, threads - 1) * size));
  T* const rest = others.data();
  std::fill_n(sums, size, T(0));
  parallel_rows(n, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    f(begin, end, begin == 0 ? sums : rest + (omp_get_thread_num() - 1) * size);
  });
  for (std::int64_t t = 1; t < threads; ++t)
    for (std::int64_t i = 0; i < size; ++i) sums[i] += rest[(t - 1) * size + i];
}

}  // namespace ktape::kernels
