#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "check.hpp"

#include <cmath>

using doctest::Contains;
namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

/// A linear model with a loss to bring down: w of shape (3, 1), samples in rows.
struct Problem {
  Tensor x = K::placeholder({None, 3}), y = K::placeholder({None, 1});
  Variable w = K::variable({{0.5f}, {-1.f}, {2.f}});
  Tensor loss = K::mean(K::square(K::dot(x, w) - y));

  std::vector<Tensor> batch = {K::constant({{1.f, 2.f, 3.f}, {0.f, 1.f, -1.f}}), K::constant({{1.f}, {2.f}})};
  Tensor gradient(const Variable& of) const {
    return K::gradients(K::mean(K::square(K::dot(batch[0], of) - batch[1])), {of})[0];
  }
};

/// Optimizers as Keras 2 wrote them.
std::vector<Tensor> sgd_updates(const Tensor& loss, const std::vector<Variable>& params,
                                const std::vector<Variable>& moments, const Variable& lr) {
  std::vector<Tensor> updates;
  const std::vector<Tensor> grads = K::gradients(loss, params);
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Tensor v = 0.9f * moments[i] - lr * grads[i];
    updates.push_back(K::update(moments[i], v));
    updates.push_back(K::update(params[i], params[i] + v));
  }
  return updates;
}

std::vector<Tensor> adam_updates(const Tensor& loss, const Variable& p, const Variable& m, const Variable& v,
                                 const Variable& iterations) {
  const Tensor g = K::gradients(loss, {p})[0];
  std::vector<Tensor> updates{K::update_add(iterations, 1)};
  const Tensor t = K::cast(iterations, "float32") + 1.f;
  const Tensor lr_t = 0.1f * K::sqrt(1.f - K::exp(t * std::log(0.999f))) / (1.f - K::exp(t * std::log(0.9f)));
  const Tensor m_t = 0.9f * m + 0.1f * g, v_t = 0.999f * v + 0.001f * K::square(g);
  updates.push_back(K::update(m, m_t));
  updates.push_back(K::update(v, v_t));
  updates.push_back(K::update(p, p - lr_t * m_t / (K::sqrt(v_t) + 1e-7f)));
  return updates;
}

}  // namespace

TEST_CASE("SGD with momentum as in Keras 2: the updates of a function, made when it runs") {
  Problem problem;
  Variable velocity = K::zeros({3, 1}), lr = K::variable(0.05f);
  const auto updates =
      K::symbolic(sgd_updates)(problem.loss, std::vector{problem.w}, std::vector{velocity}, lr);
  const auto step = K::function({problem.x, problem.y}, {problem.loss}, updates);
  CHECK(values(problem.w) == Values{0.5, -1, 2});
  Variable w = K::variable(problem.w), v = K::zeros({3, 1});
  for (int i = 0; i < 5; ++i) {
    if (i == 3) K::set_value(lr, 0.01f);
    const Tensor g = problem.gradient(w), next = 0.9f * v - lr * g;
    K::update(v, next);
    K::update(w, w + next);
    step(problem.batch);
    CHECK(close(problem.w, w, {.atol = 1e-6}));
    CHECK(close(velocity, v, {.atol = 1e-6}));
  }
}

TEST_CASE("Adam as in Keras 2, written as updates of a function, steps as adam_update does") {
  Problem problem;
  Variable m = K::zeros({3, 1}), v = K::zeros({3, 1}), iterations = K::variable(0, {.dtype = "int64"});
  const auto updates = K::symbolic(adam_updates)(problem.loss, problem.w, m, v, iterations);
  const auto step = K::function({problem.x, problem.y}, {problem.loss}, updates);
  Variable w = K::variable(problem.w), m1 = K::zeros({3, 1}), v1 = K::zeros({3, 1});
  for (int i = 1; i <= 5; ++i) {
    K::adam_update(w, problem.gradient(w), m1, v1, i, {.learning_rate = 0.1});
    step(problem.batch);
    CHECK(close(problem.w, w, {.atol = 1e-5}));
    CHECK(iterations.item<int>() == i);
  }
}

TEST_CASE("inside symbolic a variable is read when the function runs, however it is used") {
  const Tensor x = K::placeholder({None});
  Variable w = K::variable({1.f, 2.f});
  const auto [alone, kept, joined, item] = K::symbolic([&] {
    const Tensor old = w;
    return std::tuple{K::square(w), old + x, K::concatenate({w, x}, 0), w[1] * 1.f};
  })();
  CHECK(ktape::is_symbolic(alone));
  CHECK(K::int_shape(alone) == Shape{2});
  const auto f = K::function({x}, {alone, kept, joined, item, K::gradients(K::sum(alone), {w})[0]});
  K::set_value(w, {3.f, 4.f});
  const auto out = f({{10.f, 20.f}});
  CHECK(values(out[0]) == Values{9, 16});
  CHECK(values(out[1]) == Values{13, 24});
  CHECK(values(out[2]) == Values{3, 4, 10, 20});
  CHECK(out[3].item() == 4.f);
  CHECK(values(out[4]) == Values{6, 8});
}

TEST_CASE("inside symbolic a variable next to a number is read when the function runs") {
  Variable w = K::variable({-1.f, 2.f});
  const auto build = [&] {
    return std::vector<Tensor>{K::maximum(w, 0.f), K::pow(2.f, w), K::where(w > 0, w, 5.f),
                               K::switch_(w > 0.f, w, 0), K::gather(w, {1})};
  };
  const auto f = K::function({}, K::symbolic(build)());
  K::set_value(w, {3.f, -4.f});
  const std::vector<Tensor> got = f({}), wanted = build();
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(values(got[i]) == values(wanted[i]));
}

TEST_CASE("inside symbolic random numbers are drawn and variables changed when the function runs") {
  Variable total = K::variable(0.f), count = K::variable(0, {.dtype = "int32"});
  const auto [noise, dropped, add, one] = K::symbolic([&] {
    return std::tuple{K::random_normal({4}), K::dropout(K::ones({64}), 0.5), K::update_add(total, 2.f),
                      K::update_add(count, 1)};
  })();
  CHECK(K::int_shape(noise) == Shape{4});
  const auto f = K::function(std::vector<Tensor>{}, {noise, dropped}, {add, one});
  CHECK(total.item() == 0.f);
  const auto first = f({}), second = f({});
  CHECK(values(first[0]) != values(second[0]));
  CHECK(values(first[1]) != values(second[1]));
  CHECK(total.item() == 4.f);
  CHECK(count.item<int>() == 2);
}

TEST_CASE("inside symbolic the learning phase is asked for when the function runs") {
  Variable w = K::variable(1.f);
  const Tensor y = K::symbolic([&] { return K::in_train_phase(w * 2.f, w); })();
  const auto f = K::function({K::learning_phase()}, {y});
  CHECK(f({1})[0].item() == 2.f);
  CHECK(f({0})[0].item() == 1.f);
}

TEST_CASE("eager switches back, and a function that is called inside symbolic runs at once") {
  Variable w = K::variable(3.f);
  const Tensor x = K::placeholder({});
  const auto f = K::function({x}, {x * w});
  K::symbolic([&] {
    CHECK(ktape::is_symbolic(K::square(w)));
    CHECK(K::eager([&] { return K::square(w); })().item() == 9.f);
    CHECK(ktape::is_symbolic(K::square(w)));
    CHECK(f({2.f})[0].item() == 6.f);
    CHECK(f({w})[0].item() == 9.f);
    CHECK(K::get_value(w)() == 3.f);
    K::eager([&] { K::update(w, 4.f); })();
    CHECK(w.item() == 4.f);
  })();
  CHECK(K::square(w).item() == 16.f);
  CHECK_THROWS_AS(K::symbolic([]() -> Tensor { throw ValueError("no"); })(), ValueError);
  CHECK(!ktape::is_symbolic(K::square(w)));
}

TEST_CASE("symbolic and eager pass arguments and results through") {
  const auto doubled = [](const Tensor& x) { return x * 2.f; };
  CHECK(ktape::is_symbolic(K::symbolic(doubled)(K::placeholder({2}))));
  CHECK(values(K::symbolic(doubled)(K::ones({2}))) == Values{2, 2});
  CHECK(values(K::eager(doubled)(K::ones({2}))) == Values{2, 2});
}

TEST_CASE("a deferred op reads a variable when it runs; a tensor keeps its value") {
  const Tensor x = K::placeholder({2});
  Variable w = K::variable({1.f, 2.f});
  const Tensor old = w, squared = K::square(w);
  const auto before = K::function({x}, {x * w, x * old, x + squared, K::stack({x, w}), K::stack({x, old}),
                                        K::switch_(K::sum(x) > 0.f, w, x), K::clip(x, old, w)});
  K::update(w, {10.f, 20.f});
  const auto after = K::function({x}, {x * w, x * old});
  const auto out = before({{1.f, 1.f}});
  CHECK(values(out[0]) == Values{10, 20});
  CHECK(values(out[1]) == Values{1, 2});
  CHECK(values(out[2]) == Values{2, 5});
  CHECK(values(out[3]) == Values{1, 1, 10, 20});
  CHECK(values(out[4]) == Values{1, 1, 1, 2});
  CHECK(values(out[5]) == Values{10, 20});
  CHECK(values(out[6]) == Values{1, 2});
  CHECK(values(after({{1.f, 1.f}})[0]) == Values{10, 20});
  CHECK(values(after({{1.f, 1.f}})[1]) == Values{1, 2});
}

TEST_CASE("gradients of a graph reach a variable through its earlier values, too") {
  const Tensor x = K::placeholder({2});
  Variable w = K::variable({1.f, 2.f});
  const Tensor old = w;
  const auto f = K::function({x}, K::gradients(K::sum(x * old * w), {w}));
  K::update(w, {10.f, 20.f});
  CHECK(values(f({{1.f, 1.f}})[0]) == Values{11, 22});
}
