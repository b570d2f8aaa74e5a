#pragma once
#include <ktape/autograd/base/memory.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

namespace ktape::kernels {

/// Calls f(begin, end, part) for disjoint parts of [0, rows), a part for each thread, in parallel, and adds
/// the sums of the parts in order, so that the result does not change from run to run, nor when one thread
/// computes all parts. `work` is the cost of a row in elements.
template <class T, class F>
void thread_sums(std::int64_t rows, std::int64_t work, std::int64_t size, T* sums, const F& f,
                 Team team = Team::Adaptive) {
  const std::int64_t parts = std::min<std::int64_t>(omp_in_parallel() ? 1 : omp_get_max_threads(), rows);
  WorkVector<T> others(static_cast<std::size_t>(std::max<std::int64_t>(0, parts - 1) * size));
  T* const rest = others.data();
  std::fill_n(sums, size, T(0));
  const int threads =
      team == Team::Adaptive && team_size(rows * work, row_work_grain) == 1 ? 1 : static_cast<int>(parts);
  parallel_ranges(parts, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part)
      f(rows * part / parts, rows * (part + 1) / parts, part == 0 ? sums : rest + (part - 1) * size);
  });
  for (std::int64_t part = 1; part < parts; ++part)
    for (std::int64_t i = 0; i < size; ++i) sums[i] += rest[(part - 1) * size + i];
}

}  // namespace ktape::kernels
