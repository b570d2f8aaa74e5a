#pragma once
#include <ktape/autograd/parallel.hpp>

#include <algorithm>
#include <cstdint>

namespace ktape::kernels {

/// Calls f(begin, end) on disjoint ranges of [0, rows), in parallel when there is enough to do: `work` is the
/// cost of one row in elements that are read or written. Unlike parallel_for it splits evenly however few the
/// rows.
template <class F>
void parallel_rows(std::int64_t rows, std::int64_t work, F&& f) {
  constexpr std::int64_t grain = 32768;
  if (rows <= 0) return;
  const std::int64_t chunks = std::min<std::int64_t>(rows, 64);
  const std::int64_t total = std::max<std::int64_t>(1, rows * work);
  const auto bound = [&](std::int64_t chunk) { return rows * chunk / chunks; };
  parallel_for(chunks, std::max<std::int64_t>(1, chunks * grain / total),
               [&](std::int64_t begin, std::int64_t end) { f(bound(begin), bound(end)); });
}

}  // namespace ktape::kernels
