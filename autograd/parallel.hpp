#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace ktape {

/// Splits [0, n) into one contiguous range per thread and calls `f(begin, end)` on each, in parallel when n
/// exceeds `grain`. Ranges start at multiples of 64, so that two threads never write to one cache line and
/// vector loops stay aligned. Runs serially below the grain and inside another parallel region; the host's
/// OpenMP settings are read, never changed. What `f` throws on a thread is thrown here. Internal: sources
/// only.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& f) {
  if (n <= 0) return;
  if (n <= grain || omp_in_parallel() || omp_get_max_threads() == 1) return f(std::int64_t{0}, n);
  const int wanted = static_cast<int>(std::min<std::int64_t>(omp_get_max_threads(), (n + grain - 1) / grain));
  std::exception_ptr error;  // one that left the region would end the program
#pragma omp parallel num_threads(wanted)
  {
    const std::int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    const std::int64_t step = n < 64 * threads ? (n + threads - 1) / threads : (n / threads + 63) / 64 * 64;
    const std::int64_t begin = std::min(n, me * step),
                       end = me + 1 == threads ? n : std::min(n, begin + step);
    try {
      if (begin < end) f(begin, end);
    } catch (...) {
#pragma omp critical(ktape_parallel_for)
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace ktape
