#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape/nn/models/interrupt.hpp>

using ktape::nn::InterruptScope;

namespace {

/// How a process ends that is interrupted so many times while a training goes on: its exit status, or minus
/// the signal that ended it.
int status_after(int interrupts) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    const InterruptScope scope;
    for (int i = 0; i < interrupts; ++i) std::raise(SIGINT);
    _exit(scope.requested() ? 7 : 8);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the first interrupt is kept, the second ends the program") {
  CHECK(status_after(0) == 8);
  CHECK(status_after(1) == 7);
  CHECK(status_after(2) == -SIGINT);
}

TEST_CASE("behind a training, an interrupt does what it did before") {
  static volatile std::sig_atomic_t caught;
  caught = 0;
  const auto before = std::signal(SIGINT, [](int) { caught = 1; });
  { const InterruptScope scope; }
  std::raise(SIGINT);
  CHECK(caught == 1);
  std::signal(SIGINT, before);
}
