#include <doctest/doctest.h>
#include <ktape/autograd/graph/backward_pass.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

#include "../../close.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

Tensor constant(const ArrayLike& value) { return value.tensor("float64", "float64"); }
Variable variable(const ArrayLike& value) { return Variable(constant(value)); }

/// Returns its input, and counts the backward passes that visit the node.
class Milestone final : public Node {
 public:
  explicit Milestone(int& visits) : Node("milestone", true), visits_(visits) {}
  void prepare() override { ++visits_; }
  void backward(Grads& grads) override {
    grads.to(0, [&] { return grads.output(0); });
  }

 private:
  int& visits_;
};

Tensor milestone(const Tensor& x, int& visits) {
  const Tensor y = x.detach(), *input = &x;
  link(Ref<Node>::adopt(new Milestone(visits)), {&input, 1}, {&y, 1});
  return y;
}

/// Returns x with a backward closure that calls `f` and passes on the result.
template <class F>
Tensor with_backward(const Tensor& x, F f) {
  const Tensor y = x.detach();
  record("with_backward", y, {x}, [f](const Tensor& g, Grads& grads) { grads.add(0, f(g)); });
  return y;
}

}  // namespace

TEST_CASE("a backward closure may wait for the gradients of another thread") {
  const Variable x = variable({3});
  const Tensor y = with_backward(x * x, [x](const Tensor& g) {
    Tensor slope;
    std::thread([&] { slope = gradients(K::exp(x * 2), {x})[0]; }).join();
    return g * slope.detach();
  });
  CHECK(close(gradients(y, {x})[0].item<double>(), 6 * 2 * std::exp(6.0)));
}

TEST_CASE("backward passes nest, also over shared nodes") {
  const Variable x = variable({2});
  const Tensor shared = x * x;
  const Tensor y = with_backward(shared, [&](const Tensor& g) {
    const EnableGrad on;
    return g * gradients(shared * 10, {x})[0];  // 40
  });
  CHECK(gradients(y + shared, {x})[0].item() == 40 * 4 + 4);
}

TEST_CASE("a backward pass that throws inside of a closure leaves no state") {
  const Variable x = variable({2});
  const Tensor shared = x * x;
  const Tensor broken =
      with_backward(shared * 3, [](const Tensor&) -> Tensor { throw ValueError("this op is broken"); });
  const Tensor fails = broken + shared;
  int caught = 0;
  const Tensor y = with_backward(shared * 5, [&](const Tensor& g) {
    for (int i = 0; i < 3; ++i) {
      try {
        gradients(fails, {x, shared});
      } catch (const ValueError&) {
        ++caught;
      }
    }
    return g;
  });
  for (int i = 0; i < 2; ++i) {
    const auto g = gradients(y + shared, {x, shared});
    CHECK(g[0].item() == (5 + 1) * 4);
    CHECK(g[1].item() == 5 + 1);
  }
  CHECK(caught == 6);
}

TEST_CASE("any number of backward passes may run: each takes one sequence number") {
  const Variable x = variable({2});
  std::vector<Tensor> kept;
  for (int i = 0; i < 100; ++i) kept.push_back(gradients(x * x, {x})[0]);
  const auto entries = tape().entries();
  CHECK(entries.back().sequence - entries.front().sequence < 1000);
}

TEST_CASE("nodes older than every target are not visited") {
  const Variable x = variable({2});
  int visits = 0;
  Tensor history = x;
  for (int i = 0; i < 10; ++i) history = milestone(history, visits);
  const Variable later = variable({3});
  const Tensor hidden = history * later;
  CHECK(gradients(hidden * hidden, {hidden})[0].item() == 12);
  CHECK(gradients(hidden * hidden, {later, hidden})[0].item() == 24);
  GradientTape tape;
  const Tensor watched = constant({4});
  tape.watch(watched);
  CHECK(gradients(history * watched, {watched})[0].item() == 2);
  CHECK(!gradients(history, {later})[0].defined());
  CHECK(visits == 0);
  CHECK(gradients(hidden, {x})[0].item() == 3);
  CHECK(visits == 10);
}

TEST_CASE("a step of an unrolled optimization walks over its own ops only") {
  const Variable start = variable({1});
  int visits = 0;
  Tensor w = start;
  for (int step = 0; step < 100; ++step) {
    const Tensor loss = milestone(w * w, visits);
    w = w - 0.1 * gradients(loss, {w})[0];
  }
  CHECK(visits == 100);
  CHECK(close(w.item<double>(), std::pow(0.8, 100), {.rtol = 1e-12}));
}

TEST_CASE("an optimization of 20,000 steps is differentiated with respect to its start") {
  const Variable start = variable({1}), rate = variable({1e-5});
  const int steps = 20000;
  Tensor w = start;
  for (int step = 0; step < steps; ++step) w = w - rate * gradients(w * w, {w})[0];
  const auto g = gradients(w, {start, rate});
  CHECK(close(g[0].item<double>(), std::pow(1 - 2e-5, steps), {.rtol = 1e-9}));
  CHECK(close(g[1].item<double>(), -2.0 * steps * std::pow(1 - 2e-5, steps - 1), {.rtol = 1e-9}));
}

TEST_CASE("a hundred thousand intermediate tensors may be targets at once") {
  const Variable x = variable({1});
  std::vector<Tensor> targets{x};
  for (int i = 0; i < 100000; ++i) targets.push_back(targets.back() + x);
  const auto g = gradients(targets.back(), targets);
  CHECK(g.front().item<int>() == 100001);
  CHECK(std::all_of(g.begin() + 1, g.end(), [](const Tensor& t) { return t.item() == 1; }));
}

TEST_CASE("a gradient that is complete does not change in the rest of the backward pass") {
  const Variable x = variable({1, 2});
  const Tensor a = x * 3, b = -a, c = K::exp(b * 0);
  const auto g = gradients(c + b, {b, a, x, c}, {constant({10, 20})});
  CHECK(g[0].item(1) == 20);
  CHECK(g[1].item(1) == -20);
  CHECK(g[2].item(1) == -60);
  CHECK(g[3].item(1) == 20);
}

TEST_CASE("the hook for gradients is called with each complete gradient before the backward pass ends") {
  const Variable early = variable({1, 2}), late = variable({3, 4}), unused = variable({5}),
                 table = variable({{1, 2}, {3, 4}});
  std::vector<std::string> heard;
  const Tensor a = with_backward(early * 2, [&](const Tensor& g) {
    heard.push_back("the walk at a");
    return g;
  });
  const Tensor rows = table[ArrayLike({1}).tensor("int32", "int32")];
  const Tensor loss = K::sum(a * late) + K::sum(late) + K::sum(rows);
  const std::vector<Variable> variables{early, late, unused, table};
  std::vector<LookupGradient> lookups;
  const auto gradients = ktape::gradients(loss, variables, lookups, [&](std::size_t i, const Tensor& g) {
    heard.push_back(std::to_string(i) + " is " + std::to_string(g.item(0)));
  });
  CHECK(heard == std::vector<std::string>{"1 is 3.000000", "the walk at a", "0 is 6.000000"});
  CHECK(gradients[1].item(1) == 5);
  CHECK_FALSE(gradients[2].defined());
  REQUIRE(lookups.size() == 1);  // of the table: the hook is not called
  CHECK(lookups[0].variable == 3);
}
