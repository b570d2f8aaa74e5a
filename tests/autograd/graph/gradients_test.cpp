#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "../../close.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

Tensor constant(const ArrayLike& value, DType dtype = "float64") { return value.tensor(dtype, dtype); }
Variable variable(const ArrayLike& value, DType dtype = "float64") {
  return Variable(constant(value, dtype));
}
constexpr Tolerance rounding{.rtol = 1e-12};

}  // namespace

TEST_CASE("gradients are those of the sum of the loss, one per variable") {
  const Variable x = variable({1, 2, 3}), w = variable({2, 2, 2});
  const Tensor loss = K::square(x) * w;
  const auto g = gradients(loss, {x, w});
  CHECK(g[0].item(2) == 12);
  CHECK(g[1].item(1) == 4);
  CHECK(g[0].shape() == x.shape());
  CHECK(g[0].dtype() == "float64");
}

TEST_CASE("a variable that the loss does not depend on has no gradient") {
  const Variable x = variable({1}), apart = variable({1});
  CHECK(!gradients(x * 2, {apart})[0].defined());
  CHECK(!gradients(constant({1}), {x})[0].defined());
  CHECK(!gradients(x * 2, {constant({1})})[0].defined());
  CHECK(gradients(x * 2, {}).empty());
}

TEST_CASE("a variable may be asked for twice, or be the loss itself") {
  const Variable x = variable({3});
  const auto g = gradients(x * x, {x, x});
  CHECK(g[0].item() == 6);
  CHECK(g[1].item() == 6);
  CHECK(gradients(x, {x})[0].item() == 1);
}

TEST_CASE("several losses add up, weighed by their seeds") {
  const Variable x = variable({1, 2});
  const Tensor a = x * 3, b = x * x;
  CHECK(gradients({a, b}, {x})[0].item(1) == 3 + 4);
  CHECK(gradients({a, b}, {x}, {constant({10, 100}), constant({1, -1})})[0].item(1) == 300 - 4);
  CHECK(gradients({a, b}, {x}, {Tensor(), constant({0, 0})})[0].item(1) == 3);
  CHECK(gradients({a, a}, {x})[0].item(0) == 6);
}

TEST_CASE("gradients are taken with respect to intermediate tensors, too") {
  const Variable x = variable({1, 2});
  const Tensor hidden = x * 3;
  const Tensor top = hidden * hidden;
  const auto g = gradients(top, {hidden, x, top});
  CHECK(g[0].item(1) == 12);
  CHECK(g[1].item(1) == 36);
  CHECK(g[2].item(1) == 1);
}

TEST_CASE("a gradient can be differentiated, to any order") {
  const Variable x = variable({0.5, -1});
  const Tensor y = K::tanh(x);
  const double t = std::tanh(0.5);
  const Tensor first = gradients(y, {x})[0];
  const Tensor second = gradients(first, {x})[0];
  const Tensor third = gradients(second, {x})[0];
  const Tensor fourth = gradients(third, {x})[0];
  CHECK(close(first.item<double>(0), 1 - t * t, rounding));
  CHECK(close(second.item<double>(0), -2 * t * (1 - t * t), rounding));
  CHECK(close(third.item<double>(0), (1 - t * t) * (6 * t * t - 2), rounding));
  CHECK(close(fourth.item<double>(0), 8 * t * (1 - t * t) * (2 - 3 * t * t), rounding));
}

TEST_CASE("mixed second derivatives are equal in either order") {
  const Variable x = variable({2}), y = variable({3});
  const Tensor f = K::square(x) * K::square(y);
  const auto first = gradients(f, {x, y});
  CHECK(gradients(first[0], {x})[0].item() == 2 * 9);
  CHECK(gradients(first[0], {y})[0].item() == 4 * 2 * 3);
  CHECK(gradients(first[1], {x})[0].item() == 4 * 2 * 3);
  CHECK(gradients({first[0], first[1]}, {x})[0].item() == 18 + 24);
}

TEST_CASE("functions of a gradient are differentiable: a gradient penalty") {
  const Variable x = variable({0.5, 2});
  const Tensor g = gradients(K::exp(x) * x, {x})[0];  // (1 + x) e^x
  const Tensor penalty = K::square(g - 1);
  const double e = std::exp(2.0);
  CHECK(close(gradients(penalty, {x})[0].item<double>(1), 2 * (3 * e - 1) * 4 * e, rounding));
}

TEST_CASE("differentiating the gradient of a long chain stays in order") {
  const Variable x = variable(1.0);
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y * (x * 0.5 + 0.5);
  const double n = 100000;
  const Tensor first = gradients(y, {x})[0], second = gradients(first, {x})[0];
  CHECK(close(first.item(), 1 + n / 2));
  CHECK(close(second.item(), n + n * (n - 1) / 4));
}

TEST_CASE("a gradient of a gradient with respect to the seed is the directional derivative") {
  const Variable x = variable({0.5, 2}), v = variable({1, 1});
  const Tensor g = gradients(K::exp(x), {x}, {v})[0];
  CHECK(close(gradients(g, {v}, {constant({3, 4})})[0].item<double>(1), 4 * std::exp(2.0), rounding));
}

TEST_CASE("inside NoGrad gradients are plain values") {
  const Variable x = variable({3});
  const Tensor y = x * x;
  NoGrad off;
  const Tensor g = gradients(y, {x})[0];
  CHECK(g.item() == 6);
  CHECK(g.node() == nullptr);
  CHECK(!gradients(g, {x})[0].defined());
}

TEST_CASE("the graph stays: gradients can be taken again") {
  const Variable x = variable({3});
  const Tensor y = x * x;
  for (int i = 0; i < 3; ++i) CHECK(gradients(y, {x})[0].item() == 6);
}

TEST_CASE("arguments that do not fit are refused by name") {
  const Variable x = variable({1, 2});
  const Tensor y = x * 2;
  CHECK_THROWS_WITH_AS(gradients(Tensor(), {x}),
                       "[gradients] losses[0] must be a tensor: received an undefined tensor (None)",
                       ValueError);
  CHECK_THROWS_WITH_AS(gradients(y, {Tensor()}),
                       "[gradients] variables[0] must be a tensor: received an undefined tensor (None)",
                       ValueError);
  CHECK_THROWS_WITH_AS(gradients({}, {x}), "[gradients] there must be a loss: received none", ValueError);
  CHECK_THROWS_WITH_AS(gradients(constant({1}, "int32"), {x}),
                       "[gradients] the loss must be floating: received dtype=int32", TypeError);
  CHECK_THROWS_WITH_AS(gradients(y, {x}, {constant({1})}),
                       "[gradients] a seed must have its loss's shape (2,): received shape=(1,)", ValueError);
  CHECK_THROWS_WITH_AS(gradients(y, {x}, {constant({1, 2}, "float32")}),
                       "[gradients] a seed must have its loss's dtype float64: received dtype=float32",
                       TypeError);
  CHECK_THROWS_WITH_AS(gradients(y, {x}, {y, y}),
                       "[gradients] there must be one seed per loss: received 2 seeds for 1 losses",
                       ValueError);
}

TEST_CASE("a backward closure that gives a wrong shape is named") {
  const Variable x = variable({1, 2});
  Tensor y = constant({1, 2});
  record("broken", y, {x}, [](const Tensor&, Grads& grads) { grads.add(0, constant({1, 2, 3})); });
  CHECK_THROWS_WITH_AS(gradients(y, {x}),
                       "[broken] a gradient must have its tensor's shape (2,): received shape=(3,)",
                       ValueError);
  Tensor z = constant({1, 2});
  record("broken", z, {x}, [](const Tensor&, Grads& grads) { grads.add(0, constant({1, 2}, "float32")); });
  CHECK_THROWS_WITH_AS(gradients(z, {x}),
                       "[broken] a gradient must have its tensor's dtype float64: received dtype=float32",
                       TypeError);
  CHECK(gradients(x * 2, {x})[0].item(0) == 2);  // the engine is in order after an error
}

TEST_CASE("only the gradients that are wanted are computed") {
  const Variable x = variable({1, 2});
  const Tensor c = constant({1, 2});
  bool wanted_x = false, wanted_c = true;
  Tensor y = constant({1, 2});
  record("probe", y, {x, c}, [&](const Tensor& g, Grads& grads) {
    wanted_x = grads.wants(0);
    wanted_c = grads.wants(1);
    grads.to(0, [&] { return g; });
  });
  gradients(y, {x});
  CHECK(wanted_x);
  CHECK(!wanted_c);
}

TEST_CASE("an op of several outputs gets the gradients of those that are used") {
  const Variable x = variable({1, 2});
  Tensor outs[] = {constant({1, 2}), constant({3, 4})};
  record("pair", std::span<const Tensor>(outs), {x}, [](Grads& grads) {
    if (grads.output(0).defined()) grads.add(0, grads.output(0) * 10);
    if (grads.output(1).defined()) grads.add(0, grads.output(1) * 100);
  });
  CHECK(gradients(outs[0], {x})[0].item(0) == 10);
  CHECK(gradients(outs[1], {x})[0].item(0) == 100);
  CHECK(gradients({outs[0] * 2, outs[1]}, {x})[0].item(0) == 120);
  CHECK(gradients(outs[1] * 3, {outs[1]})[0].item(0) == 3);
}

TEST_CASE("a gradient tape makes constants differentiable while it lives") {
  const Tensor t = constant({3});
  {
    GradientTape tape;
    tape.watch(t);
    const Tensor z = t * t;
    CHECK(tape.gradient(z, t).item() == 6);
    const Variable v = variable({2});
    const auto both = tape.gradient(t * v, std::vector<Tensor>{t, v});
    CHECK(both[0].item() == 2);
    CHECK(both[1].item() == 3);
    CHECK(tape.gradient(v * v, std::vector<Variable>{v})[0].item() == 4);
  }
  CHECK(gradients(t * t, {t})[0].defined() == false);
  GradientTape tape;
  CHECK_THROWS_WITH_AS(tape.watch(constant({1}, "int32")),
                       "[watch] the tensor must be floating: received dtype=int32", TypeError);
  CHECK_THROWS_AS(tape.watch(Tensor()), ValueError);
}

TEST_CASE("the end of a gradient tape does not unwatch tensors of another tape") {
  const Tensor t = constant({3});
  SUBCASE("nested") {
    GradientTape outer;
    outer.watch(t);
    {
      GradientTape inner;
      inner.watch(std::vector<Tensor>{t, t});
      CHECK(inner.gradient(t * t, t).item() == 6);
    }
    CHECK(outer.gradient(t * t, t).item() == 6);
  }
  SUBCASE("overlapping") {
    std::optional<GradientTape> first(std::in_place), second(std::in_place);
    first->watch(t);
    const Tensor before = t * t;
    second->watch(t);
    first.reset();
    CHECK(second->gradient(t * t, t).item() == 6);
    CHECK(second->gradient(before, t).item() == 6);
  }
  CHECK(t.node() == nullptr);
}

TEST_CASE("a gradient with respect to a watched tensor can be differentiated after the end of the tape") {
  const Variable w = variable({3, 4});
  const auto slope = [&] {
    GradientTape tape;
    const Tensor x = variable({1, 2}).value().detach();
    tape.watch(x);
    return tape.gradient(w * x * x, x);  // 2 w x
  };
  const Tensor by_w = gradients(slope(), {w})[0];
  CHECK(by_w.item(0) == 2);
  CHECK(by_w.item(1) == 4);
}

TEST_CASE("a function can define its gradient") {
  const auto reverse = custom_gradient([](const Tensor& x) {
    return std::pair{x * 1, [](const Tensor& dy) { return dy * -1; }};
  });
  const Variable x = variable({1, 2});
  CHECK(reverse(x).item(1) == 2);
  CHECK(gradients(reverse(x) * 3, {x})[0].item(1) == -3);
}

TEST_CASE("a custom gradient of two arguments returns one gradient for each") {
  const auto product = custom_gradient([](const Tensor& x, const Tensor& y) {
    return std::pair{x * y, [x, y](const Tensor& dy) { return std::vector<Tensor>{dy * y * 10, Tensor()}; }};
  });
  const Variable x = variable({2}), y = variable({3});
  const auto g = gradients(product(x, y), {x, y});
  CHECK(g[0].item() == 30);
  CHECK(!g[1].defined());

  CHECK_THROWS_WITH_AS(product(Tensor(), x), doctest::Contains("[custom_gradient] arguments[0] must be"),
                       ValueError);
  const auto wrong = custom_gradient([](const Tensor& a, const Tensor&) {
    return std::pair{a * 1, [](const Tensor& dy) { return dy; }};
  });
  CHECK_THROWS_WITH_AS(
      gradients(wrong(x, y), {x, y}),
      "[custom_gradient] there must be one gradient per argument: received 1 for 2 arguments", ValueError);
}

TEST_CASE("a custom gradient may run the function again and differentiate it: checkpoints") {
  const auto block = [](Tensor x, const Tensor& w) {
    for (int i = 0; i < 20; ++i) x = K::tanh(x * w);
    return x;
  };
  const auto checkpoint = [](auto f) {
    return custom_gradient([f](const Tensor& x, const Tensor& w) {
      return std::pair{f(x, w), [f, x, w](const Tensor& dy) { return gradients(f(x, w), {x, w}, {dy}); }};
    });
  };
  const Variable x(Tensor::empty({1000}, "float64")), w = variable({1.5});
  std::fill_n(x.value().pointer<double>(), 1000, 0.5);
  const auto run = [&](const auto& f) {
    const Tensor y = f(f(f(x, w), w), w);
    const std::size_t bytes = tape().bytes();
    auto g = gradients(y, {x, w});
    const Tensor second = gradients(g[0] * g[1], {w})[0];
    return std::tuple(bytes, g[0].item<double>(7), g[1].item<double>(), second.item<double>());
  };
  const auto [plain_bytes, plain_x, plain_w, plain_second] = run(block);
  const auto [bytes, by_x, by_w, second] = run(checkpoint(block));
  CHECK(bytes * 10 < plain_bytes);
  CHECK(close(by_x, plain_x, rounding));
  CHECK(close(by_w, plain_w, {.rtol = 1e-9}));
  CHECK(close(second, plain_second, {.rtol = 1e-9}));
}

TEST_CASE("ops that a custom gradient records do not make plain gradients recorded") {
  const auto twice = custom_gradient([](const Tensor& x) {
    return std::pair{x * 2, [x](const Tensor& dy) { return gradients(x * 2, {x}, {dy})[0]; }};
  });
  const Variable x = variable({3});
  const Tensor y = twice(x);
  const std::size_t size = tape().size();
  NoGrad off;
  const Tensor g = gradients(y, {x})[0];
  CHECK(g.item() == 2);
  CHECK(g.node() == nullptr);
  CHECK(tape().size() == size);
}

TEST_CASE("threads may differentiate graphs that share variables") {
  const Variable x = variable({1, 2, 3}), w = variable({0.5, 0.25, 2});
  auto work = [&](int times, double& result) {
    result = 0;
    for (int i = 0; i < times; ++i) {
      const Tensor y = K::exp(x * w) + w;
      const auto first = gradients(y, {x, w});
      result += gradients(first[0] * first[1], {w})[0].item<double>(0);
    }
  };
  double here = 0, there = 0;
  std::thread other(work, 500, std::ref(there));
  work(500, here);
  other.join();
  CHECK(here == there);
  CHECK(here != 0);
}
