#pragma once
#include <functional>
#include <string>

namespace ktape::interactive {

/// Returns a duration with three digits and its unit: "1.25 ms".
std::string duration_text(double seconds);

/// Implements %timeit: runs `code` as often as takes about a second, in seven series of runs, and prints mean and
/// standard deviation of the time of a run.
void time_runs(const std::function<void()>& code);

}  // namespace ktape::interactive
