#include <doctest/doctest.h>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>
#include <thread>

#include "../close.hpp"
#include "../in_threads.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

Variable variable(const ArrayLike& value) { return Variable(value.tensor("float64", "float64")); }

/// Minimizes (w - goal)^2 and returns where it ends.
double train(double goal, int steps) {
  const Variable w = variable({0});
  for (int i = 0; i < steps; ++i) {
    Variable v = w;
    v.assign(w - 0.1 * gradients(K::square(w - goal), {w})[0]);
  }
  return w.item<double>();
}

thread_local std::vector<Tensor> kept;

int threads_with_state() {
  int count = 0;
  for_each_thread([&](const ThreadState&) { ++count; });
  return count;
}

}  // namespace

TEST_CASE("threads train separate models as each would alone") {
  double ends[3];
  in_threads(3, [&](int i) { ends[i] = train(i + 1, 300); });
  for (int i = 0; i < 3; ++i) CHECK(ends[i] == train(i + 1, 300));
}

TEST_CASE("threads differentiate one graph at once, to the second order") {
  for (int round = 0; round < 50; ++round) {
    const Variable x = variable({0.5, 2});
    const Tensor first = gradients(K::exp(x) * x, {x})[0];  // its own graph is made when it is first needed
    double second[4];
    in_threads(4, [&](int i) { second[i] = gradients(first, {x})[0].item<double>(1); });
    for (double value : second) REQUIRE(close(value, 4 * std::exp(2.0)));
  }
}

TEST_CASE("threads read one variable, and release each other's tensors") {
  const Variable x = variable({1, 2, 3});
  std::vector<Tensor> made(4);
  in_threads(4, [&](int i) {
    for (int step = 0; step < 100; ++step) made[i] = K::tanh(x * (i + 1)) * x;
  });
  in_threads(4, [&](int i) {
    const Tensor other = std::exchange(made[3 - i], Tensor());
    CHECK(gradients(other, {x})[0].defined());
  });
}

TEST_CASE("recorded ops outlive their thread, on a tape that no other thread sees") {
  const Variable x = variable({2});
  Tensor y;
  std::thread([&] { y = x * x * x; }).join();
  std::thread([] { CHECK(tape().size() == 0); }).join();
  CHECK(tape().size() == 0);
  CHECK(gradients(y, {x})[0].item() == 12);
  std::thread([y = std::exchange(y, Tensor())]() mutable { y = Tensor(); }).join();
}

TEST_CASE("threads free all memory, even with tensors among their thread-local objects") {
  const Variable x = variable({1, 2, 3});
  const auto work = [&] {
    kept.reserve(2);  // before the first op: these tensors end after everything that the library keeps
    const Tensor y = K::exp(x * 2) * x;
    kept = {gradients(y, {x})[0], y};
  };
  std::thread(work).join();
  const int states = threads_with_state();
  const MemoryStats before = memory_stats();
  for (int i = 0; i < 2000; ++i) std::thread(work).join();
  for (int i = 0; i < 20; ++i) in_threads(50, [&](int) { work(); });
  const MemoryStats after = memory_stats();
  CHECK(threads_with_state() == states);
  CHECK(after.live_bytes == before.live_bytes);
  CHECK(after.cached_bytes <=
        before.cached_bytes);  // threads take blocks of the shared cache, and return them to the system
  CHECK(after.allocations > before.allocations);
}

namespace {
Tensor in_static_storage;
}

TEST_CASE("a tensor may live in static storage until the program ends") {
  const Variable x = variable({1, 2});
  std::thread([&] { in_static_storage = K::exp(x); }).join();
  CHECK(gradients(in_static_storage, {x})[0].defined());
}
