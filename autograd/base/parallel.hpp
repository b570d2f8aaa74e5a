#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace ktape {

/// Returns whether other programs, or too many threads of this program, compete for the processors: during
/// the last tenth of a second this process's threads waited for a processor for a tenth of their time. A team
/// of threads then waits for the thread without a processor, often for milliseconds.
bool processors_contended();

/// The number of threads that share a loop. An Adaptive team has all threads that OpenMP gives; while the
/// processors are contended, work that takes less time than a thread may have to wait for a processor gets a
/// team of one thread. A Fixed team ignores contention and is meant for loops whose results depend on the
/// number of threads, and for loops whose bodies start threads when the body is called by a single thread.
enum class Team { Adaptive, Fixed };

/// The number of grains up to which an adaptive team is one thread while the processors are contended: a
/// grain takes microseconds, the time slice of another program milliseconds.
inline constexpr std::int64_t team_patience = 64;

/// Returns the number of threads for an amount of work. The result is 1 for work up to `grain` (a second
/// thread would cost more than it gains) and inside another parallel region.
inline int team_size(std::int64_t work, std::int64_t grain, Team team = Team::Adaptive) {
  if (work <= grain || omp_in_parallel()) return 1;
  const int most = omp_get_max_threads();
  if (most == 1 || (team == Team::Adaptive && work / team_patience <= grain && processors_contended()))
    return 1;
  return static_cast<int>(std::min<std::int64_t>(most, (work + grain - 1) / grain));
}

/// Splits [0, n) into one contiguous range for each of `threads` threads and calls `f(begin, end)` on each
/// range. For a large n the ranges start at multiples of 64, so that two threads never write to one cache
/// line and vector loops stay aligned. The OpenMP settings of the host program are read, never changed. An
/// exception of `f` on any thread is rethrown on the calling thread. Internal: sources only.
template <class F>
void parallel_ranges(std::int64_t n, int threads, F&& f) {
  if (n <= 0) return;
  if (threads == 1) return f(std::int64_t{0}, n);
  std::exception_ptr error;  // an exception that leaves the parallel region ends the program
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t count = omp_get_num_threads(), me = omp_get_thread_num();
    const std::int64_t step = n < 64 * count ? (n + count - 1) / count : (n / count + 63) / 64 * 64;
    const std::int64_t begin = std::min(n, me * step), end = me + 1 == count ? n : std::min(n, begin + step);
    try {
      if (begin < end) f(begin, end);
    } catch (...) {
#pragma omp critical(ktape_parallel_for)
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Calls `f(begin, end)` on ranges that cover [0, n), in parallel when n exceeds `grain`. Internal: sources
/// only.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& f, Team team = Team::Adaptive) {
  parallel_ranges(n, team_size(n, grain, team), std::forward<F>(f));
}

}  // namespace ktape
