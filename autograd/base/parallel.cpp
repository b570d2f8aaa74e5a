#include <ktape/autograd/base/parallel.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>

namespace ktape {
namespace {

constexpr std::int64_t window = 100'000'000;  // nanoseconds between two checks

/// Shares of the time in which this process's threads wait for a processor instead of running. On an idle
/// machine the share is 0.005; beside another busy program on each processor the share is a third or more.
constexpr double contended_from = 0.1, idle_up_to = 0.05;

std::atomic<std::int64_t> next_check{0}, ran_before{0}, waited_before{0};
std::atomic<bool> contended{false};

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Nanoseconds since the start of the threads.
struct ThreadTimes {
  std::int64_t ran = 0, waited = 0;
};

/// Returns the sums over the first threads of this process, zero where Linux's /proc is missing. The number of
/// threads is limited because a read takes microseconds.
ThreadTimes thread_times() {
  constexpr int most_threads = 64;
  ThreadTimes sum;
  std::error_code error;
  int threads = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end;
       !error && task != end && threads < most_threads; task.increment(error), ++threads) {
    std::FILE* file = std::fopen((task->path() / "schedstat").c_str(), "re");
    if (file == nullptr) continue;
    long long ran = 0, waited = 0;
    if (std::fscanf(file, "%lld %lld", &ran, &waited) == 2) sum = {sum.ran + ran, sum.waited + waited};
    std::fclose(file);
  }
  return sum;
}

/// Updates `contended` from the times since the last check. When threads ended since then, the sums may have
/// become smaller and the state remains as it is.
void update_contention() {
  const ThreadTimes sum = thread_times();
  const std::int64_t ran = sum.ran - ran_before.exchange(sum.ran, std::memory_order_relaxed);
  const std::int64_t waited = sum.waited - waited_before.exchange(sum.waited, std::memory_order_relaxed);
  if (ran <= 0 || waited < 0) return;
  const double share = static_cast<double>(waited) / static_cast<double>(ran + waited);
  if (share >= contended_from) contended.store(true, std::memory_order_relaxed);
  else if (share <= idle_up_to) contended.store(false, std::memory_order_relaxed);
}

}  // namespace

bool processors_contended() {
  const std::int64_t time = now();
  std::int64_t due = next_check.load(std::memory_order_relaxed);
  if (time >= due && next_check.compare_exchange_strong(due, time + window, std::memory_order_relaxed))
    update_contention();
  return contended.load(std::memory_order_relaxed);
}

}  // namespace ktape
