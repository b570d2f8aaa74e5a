#include <ktape/autograd/base/parallel.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>

namespace ktape {
namespace {

constexpr std::int64_t window = 100'000'000;  // nanoseconds between two checks

/// Involuntary context switches in a window. A process on an idle machine of two processors has 1 to 4
/// switches; beside two other busy programs a process of one thread has 7 and a process of two threads 25.
constexpr double contended_from = 10, idle_up_to = 5;

std::atomic<std::int64_t> next_check{0}, switches_before{0};
std::atomic<bool> contended{false};

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Counts the context switches since the last check, `elapsed` nanoseconds ago, and updates `contended`.
void update_contention(std::int64_t elapsed) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::int64_t since =
      usage.ru_nivcsw - switches_before.exchange(usage.ru_nivcsw, std::memory_order_relaxed);
  const double in_window = static_cast<double>(since) * window / static_cast<double>(elapsed);
  if (in_window >= contended_from) contended.store(true, std::memory_order_relaxed);
  else if (in_window <= idle_up_to) contended.store(false, std::memory_order_relaxed);
}

}  // namespace

bool processors_contended() {
  const std::int64_t time = now();
  std::int64_t due = next_check.load(std::memory_order_relaxed);
  if (time >= due && next_check.compare_exchange_strong(due, time + window, std::memory_order_relaxed))
    update_contention(due == 0 ? window : time - due + window);
  return contended.load(std::memory_order_relaxed);
}

}  // namespace ktape
