#include <ktape/interactive/session/timing.hpp>

#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <vector>

namespace ktape::interactive {
namespace {

constexpr int series = 7;
constexpr double least_series = 0.15;  // seconds

double seconds_of(const std::function<void()>& code, long runs) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < runs; ++i) code();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::string duration_text(double seconds) {
  std::ostringstream text;
  text << std::setprecision(3);
  if (seconds < 1e-6) text << seconds * 1e9 << " ns";
  else if (seconds < 1e-3) text << seconds * 1e6 << " us";
  else if (seconds < 1) text << seconds * 1e3 << " ms";
  else text << seconds << " s";
  return text.str();
}

void time_runs(const std::function<void()>& code) {
  long runs = 1;
  while (seconds_of(code, runs) < least_series) runs *= runs < 10 ? 10 : 2;
  std::vector<double> times;
  for (int i = 0; i < series; ++i) times.push_back(seconds_of(code, runs) / static_cast<double>(runs));
  double mean = 0, square = 0;
  for (const double time : times) mean += time / series;
  for (const double time : times) square += (time - mean) * (time - mean) / series;
  std::cout << duration_text(mean) << " ± " << duration_text(std::sqrt(square)) << " per run (" << series
            << " times " << runs << (runs == 1 ? " run)" : " runs)") << std::endl;
}

}  // namespace ktape::interactive
