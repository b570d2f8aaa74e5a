#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

/// The harness of the benchmarks. A source file of this folder adds its workloads with
///
///     static const bench::Group tiny([] {
///       ... data ...
///       bench::report("tiny_chain_forward", [&] { ... one run ... });
///     });
namespace bench {

/// The one workload to run (the program's argument); empty for all.
inline std::string only;

inline std::vector<void (*)()>& groups() {
  static std::vector<void (*)()> all;
  return all;
}

struct Group {
  explicit Group(void (*run)()) { groups().push_back(run); }
};

/// Returns whether one of these workloads is to run: for groups whose data take long to make.
inline bool wanted(std::initializer_list<const char*> names) {
  return only.empty() ||
         std::any_of(names.begin(), names.end(), [](const char* name) { return only == name; });
}

/// Prints `name median_ms`: three runs to warm up, then at least 5 and at most 2000 within about 3 seconds.
template <class F>
void report(const char* name, F&& run) {
  if (!only.empty() && only != name) return;
  using Clock = std::chrono::steady_clock;
  const auto milliseconds = [](Clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
  };
  for (int i = 0; i < 3; ++i) run();
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 5 || (times.size() < 2000 && milliseconds(Clock::now() - begin) < 3000)) {
    const auto start = Clock::now();
    run();
    times.push_back(milliseconds(Clock::now() - start));
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  std::printf("%-28s %10.4f\n", name, times[times.size() / 2]);
  std::fflush(stdout);
}

}  // namespace bench
