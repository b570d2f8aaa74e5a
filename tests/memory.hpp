#pragma once
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>

/// Returns the peak growth, in megabytes, of the resident memory of a process and its children while f runs,
/// measured in a child process, whose peak starts at its present size. Errors of f are ignored.
template <class F>
std::int64_t peak_growth(F f) {
  const auto peak = [] {
    rusage own{}, others{};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &others);
    return static_cast<std::int64_t>(std::max(own.ru_maxrss, others.ru_maxrss));
  };
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t process = fork();
  if (process == 0) {
    alarm(60);  // a child that hangs is a failure
    const std::int64_t before = peak();
    try {
      f();
    } catch (const std::exception&) {
    }
    const std::int64_t kilobytes = peak() - before;
    _exit(write(ends[1], &kilobytes, sizeof(kilobytes)) == sizeof(kilobytes) ? 0 : 1);
  }
  close(ends[1]);
  std::int64_t kilobytes = 0;
  if (read(ends[0], &kilobytes, sizeof(kilobytes)) != sizeof(kilobytes)) kilobytes = INT64_MAX;  // a crash
  close(ends[0]);
  waitpid(process, nullptr, 0);
  return kilobytes / 1024;
}
