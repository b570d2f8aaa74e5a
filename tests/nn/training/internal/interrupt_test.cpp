#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape/ktape.hpp>
#include <ktape/nn/training/internal/interrupt.hpp>

#include <csignal>
#include <latch>
#include <memory>
#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::nn::InterruptScope;

namespace {

/// Runs f in a process and returns its end: the status that f returns, or minus the signal that ended the
/// process.
template <class F>
int status_of(F f) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    _exit(f());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int status_after(int interrupts) {
  return status_of([&] {
    const InterruptScope scope;
    for (int i = 0; i < interrupts; ++i) std::raise(SIGINT);
    return scope.requested() ? 7 : 8;
  });
}

/// Counts the interrupts that reach the program, while it lives.
struct Caught {
  static inline volatile std::sig_atomic_t count = 0;
  void (*before)(int) = std::signal(SIGINT, [](int) { count = count + 1; });
  Caught() { count = 0; }
  ~Caught() { std::signal(SIGINT, before); }
};

nn::Sequential small_model() {
  const nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = nn::SGD(0.01), .loss = "mse"});
  return model;
}

nn::History fit(const nn::Sequential& model, int epochs, const std::vector<nn::Callback>& callbacks) {
  return model.fit(K::ones({4, 2}), K::ones({4, 1}),
                   {.epochs = epochs, .verbose = 0, .callbacks = callbacks});
}

}  // namespace

TEST_CASE("the first interrupt is kept, the second ends the program") {
  CHECK(status_after(0) == 8);
  CHECK(status_after(1) == 7);
  CHECK(status_after(2) == -SIGINT);
}

TEST_CASE("after a training, an interrupt has its former effect") {
  const Caught caught;
  { const InterruptScope scope; }
  std::raise(SIGINT);
  CHECK(caught.count == 1);
}

TEST_CASE("an interrupt is kept for all scopes, in whatever order they end") {
  const Caught caught;
  auto first = std::make_unique<InterruptScope>(), second = std::make_unique<InterruptScope>();
  CHECK(!first->requested());
  std::raise(SIGINT);
  CHECK(first->requested());
  CHECK(second->requested());
  CHECK(caught.count == 0);
  first.reset();
  second.reset();
  std::raise(SIGINT);
  CHECK(caught.count == 1);
  {
    const InterruptScope scope;
    CHECK(!scope.requested());
    std::raise(SIGINT);
    CHECK(scope.requested());
    std::raise(SIGINT);
    CHECK(caught.count == 2);
  }
  std::raise(SIGINT);
  CHECK(caught.count == 3);
}

TEST_CASE("scopes of two threads overlap, and the program has its interrupts back in the end") {
  const Caught caught;
  std::latch both(2), one(1);
  std::thread second([&] {
    const InterruptScope scope;
    both.arrive_and_wait();
    one.wait();
    std::raise(SIGINT);
    CHECK(scope.requested());
  });
  {
    const InterruptScope first;
    both.arrive_and_wait();
  }
  one.count_down();
  second.join();
  std::raise(SIGINT);
  CHECK(caught.count == 1);
}

TEST_CASE("a scope does not count interrupts of other threads") {
  const Caught caught;
  const InterruptScope scope;
  std::raise(SIGINT);
  std::thread([&] {
    const InterruptScope later;
    CHECK(!later.requested());
    std::raise(SIGINT);
    CHECK(later.requested());
  }).join();
  CHECK(scope.requested());
  CHECK(caught.count == 0);
}

TEST_CASE("the program's own handler, set within a scope, stays") {
  const Caught caught;
  void (*const ignore)(int) = SIG_IGN;
  {
    const InterruptScope scope;
    std::signal(SIGINT, ignore);
  }
  std::raise(SIGINT);
  const bool stays = std::signal(SIGINT, SIG_DFL) == ignore;
  CHECK(stays);
  CHECK(caught.count == 0);
}

TEST_CASE("a fit within a callback is interrupted with the outer one, and takes no interrupt away") {
  const Caught caught;
  const nn::Sequential outer = small_model(), inner = small_model();
  std::size_t inner_epochs = 0;
  const nn::LambdaCallback nested({.on_epoch_end = [&](int, const nn::Logs&) {
    const nn::LambdaCallback interrupt({.on_epoch_end = [](int epoch, const nn::Logs&) {
      if (epoch == 1) std::raise(SIGINT);
    }});
    inner_epochs += fit(inner, 5, {interrupt})["loss"].size();
  }});
  CHECK(fit(outer, 3, {nested})["loss"].size() == 2);  // it ends after the next batch
  CHECK(inner_epochs == 4);                            // 3, and the first batch of the second
  CHECK(caught.count == 0);
  std::raise(SIGINT);
  CHECK(caught.count == 1);
}

TEST_CASE("a fit of the model within a callback does not end the outer fit") {
  const nn::Sequential model = small_model();
  const nn::LambdaCallback nested({.on_epoch_end = [&](int epoch, const nn::Logs&) {
    if (epoch > 0) return;
    const nn::LambdaCallback stop({.on_epoch_end = [&](int, const nn::Logs&) { model.stop_training(); }});
    CHECK(fit(model, 5, {stop})["loss"].size() == 1);
  }});
  CHECK(fit(model, 3, {nested})["loss"].size() == 3);
}
