#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace ktape {

/// Returns whether other programs, or too many threads of this one, want the processors, too: in the last
/// tenth of a second the system took a processor away from a thread of this process again and again. A team
/// of threads then waits for the thread that has no processor, often for milliseconds.
bool processors_contended();

/// How many threads share a loop: all that OpenMP gives, or, while the processors are contended, one for work
/// that takes less time than a thread may have to wait for a processor. Loops whose results depend on the
/// number of threads, or whose bodies start threads when they are called by one thread, have fixed teams.
enum class Team { Adaptive, Fixed };

/// Grains of work up to which adaptive teams are one thread while the processors are contended: a grain takes
/// microseconds, the turn of another program milliseconds.
inline constexpr std::int64_t team_patience = 64;

/// Returns the number of threads for an amount of work: one up to the `grain`, from which a second thread is
/// worth its start, and inside another parallel region.
inline int team_size(std::int64_t work, std::int64_t grain, Team team = Team::Adaptive) {
  if (work <= grain || omp_in_parallel()) return 1;
  const int most = omp_get_max_threads();
  if (most == 1 || (team == Team::Adaptive && work / team_patience <= grain && processors_contended()))
    return 1;
  return static_cast<int>(std::min<std::int64_t>(most, (work + grain - 1) / grain));
}

/// Splits [0, n) into a contiguous range for each of `threads` threads and calls `f(begin, end)` on each.
/// Ranges start at multiples of 64 where n is large enough, so that two threads never write to one cache line
/// and vector loops stay aligned. The host's OpenMP settings are read, never changed. Errors that `f` throws
/// on a thread are thrown here. Internal: sources only.
template <class F>
void parallel_ranges(std::int64_t n, int threads, F&& f) {
  if (n <= 0) return;
  if (threads == 1) return f(std::int64_t{0}, n);
  std::exception_ptr error;  // an exception that left the region would end the program
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
