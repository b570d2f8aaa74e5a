#pragma once
#include <ktape/autograd/base/parallel.hpp>

#include <algorithm>
#include <cstdint>

namespace ktape::kernels {

/// The number of elements up to which starting a second thread takes longer than the work.
inline constexpr std::int64_t row_work_grain = 32768;

/// Calls f(begin, end) on disjoint ranges of [0, rows), in parallel when there is enough to do: `work` is the
/// cost of one row in elements that are read or written. Unlike parallel_for, the ranges are of equal size
/// also for few rows.
template <class F>
void parallel_rows(std::int64_t rows, std::int64_t work, F&& f, Team team = Team::Adaptive) {
  if (rows <= 0) return;
  const std::int64_t chunks = std::min<std::int64_t>(rows, 64);
  const auto bound = [&](std::int64_t chunk) { return rows * chunk / chunks; };
  const int threads =
      static_cast<int>(std::min<std::int64_t>(chunks, team_size(rows * work, row_work_grain, team)));
  parallel_ranges(chunks, threads,
                  [&](std::int64_t begin, std::int64_t end) { f(bound(begin), bound(end)); });
}

}  // namespace ktape::kernels
