#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/control/phase.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../interrupts.hpp"
#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("stop_gradient makes constants") {
  const Variable x = K::variable({1.f, 2.f});
  CHECK(values(K::gradients(x * K::stop_gradient(x), {x})[0]) == Values{1, 2});
  CHECK_FALSE(K::gradients(K::stop_gradient(x), {x})[0].defined());
  const std::vector<Tensor> both = K::stop_gradient({Tensor(x), x * 2.f});
  CHECK(both.size() == 2);
  CHECK(values(both[1]) == Values{2, 4});
}

TEST_CASE("switch with a scalar condition runs one side") {
  const Variable w = K::variable(2.f);
  bool ran = false;
  const Tensor y = K::switch_(
      K::constant(true), [&] { return w * 3.f; }, [&] { return ran = true, w * 0.f; });
  CHECK_FALSE(ran);
  CHECK(K::gradients(y, {w})[0].item() == 3.f);
  CHECK(K::switch_(K::constant(0.5), K::constant(1), K::constant(2)).item() == 1.f);
  CHECK(K::switch_(K::constant(0), K::constant(1), w).item() == 2.f);
}

TEST_CASE("switch picks element by element") {
  const Tensor x = counted({2, 3}), y = -x;
  CHECK(values(K::switch_(K::constant({{1, 0, 1}, {0, 2, 0}}), x, y)) == Values{0, -1, 2, -3, 4, -5});
  CHECK(values(K::switch_(K::constant({{1}, {0}}), x, y)) == Values{0, 1, 2, -3, -4, -5});
  // A condition of rank 1 broadcasts along the last axis; one of rank 2 gets trailing axes.
  CHECK(values(K::switch_(K::constant({1, 0, 0}), x, y)) == Values{0, -1, -2, 3, -4, -5});
  const Tensor deep = K::switch_(K::constant({{1, 0}, {0, 1}}), K::ones({2, 2, 3}), K::zeros({2, 2, 3}));
  CHECK(values(deep) == Values{1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1});
  CHECK_THROWS_WITH_AS(K::switch_(K::ones({2, 3}), K::ones({3}), K::ones({3})),
                       "[switch] the rank of the condition must not be above that of the expressions: "
                       "received condition=(2, 3), "
                       "then_expression=(3,), else_expression=(3,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::switch_(K::ones({2}), K::constant(1), K::ones({2})),
      "[switch] the rank of the condition must not be above that of the expressions: received "
      "condition=(2,), then_expression=(), else_expression=(2,)",
      ValueError);
  CHECK_THROWS_AS(K::switch_(K::ones({2}), x, y), ValueError);
  CHECK_THROWS_AS(K::switch_(K::ones({3}), x, K::ones({2, 3})), TypeError);
  check_gradients(
      [](In in) {
        return K::switch_(K::constant({{1}, {0}}), in[0] * in[0], in[1] * in[0]);
      },
      {x, y});
}

TEST_CASE("a callable that returns no tensor is an error of its op") {
  const auto nothing = [] { return Tensor(); };
  const Tensor x = K::constant({1, 2, 3});
  CHECK_THROWS_WITH_AS(K::switch_(K::constant(1), nothing, x),
                       "[switch] then_expression must give a tensor: received an undefined tensor (None)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::switch_(x, x, nothing),
                       "[switch] else_expression must give a tensor: received an undefined tensor (None)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::in_train_phase(nothing, x, true),
                       "[in_train_phase] x must give a tensor: received an undefined tensor (None)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::foldl([](const Tensor&, const Tensor&) { return Tensor(); }, x),
                       "[foldl] fn must give a tensor: received an undefined tensor (None)", ValueError);
  CHECK_THROWS_WITH_AS(K::foldr([](const Tensor&, const Tensor&) { return Tensor(); }, x),
                       "[foldr] fn must give a tensor: received an undefined tensor (None)", ValueError);
  const std::function<Tensor(const Tensor&)> none = [](const Tensor&) { return Tensor(); };
  CHECK_THROWS_WITH_AS(K::map_fn(none, x),
                       "[map_fn] fn must give a tensor: received an undefined tensor (None)", ValueError);
}

TEST_CASE("map_fn stacks the results") {
  const Tensor x = counted({3, 2});
  CHECK(values(K::map_fn([](const Tensor& e) { return K::sum(e); }, x)) == Values{1, 5, 9});
  const Tensor positive = K::map_fn([](const Tensor& e) { return e > 2; }, x, {.dtype = "bool"});
  CHECK(values(positive) == Values{0, 0, 0, 1, 1, 1});
  CHECK_THROWS_WITH_AS(K::map_fn([](const Tensor& e) { return e; }, x, {.dtype = "bool"}),
                       "[map_fn] fn must return the dtype bool: received dtype=float64", TypeError);
  CHECK_THROWS_AS(K::map_fn([](const Tensor& e) { return e; }, K::constant(1)), ValueError);
  CHECK_THROWS_AS(K::map_fn([](const Tensor& e) { return e; }, K::zeros({0, 2})), ValueError);
  check_gradients([](In in) { return K::map_fn([](const Tensor& e) { return K::sum(e * e); }, in[0]); }, {x});
}

TEST_CASE("map_fn goes over several tensors at once") {
  const auto scaled = [](const std::vector<Tensor>& e) { return e[0] * e[1]; };
  const Tensor x = counted({3, 2}), y = counted({3});
  CHECK(values(K::map_fn(scaled, {x, y}, {.name = "scaled"})) == Values{0, 0, 2, 3, 8, 10});
  CHECK_THROWS_WITH_AS(K::map_fn(scaled, {x, counted({2})}),
                       "[map_fn] the tensors must agree along axis 0: received (3, 2) and (2,)", ValueError);
  CHECK_THROWS_AS(K::map_fn(scaled, std::vector<Tensor>{}), ValueError);
  check_gradients([&](In in) { return K::map_fn(scaled, {in[0], in[1]}); }, {x, y});
}

TEST_CASE("map and folds take any callable") {
  struct Scale {
    float factor;
    Tensor operator()(const Tensor& e) const { return e * factor; }
  };
  CHECK(values(K::map_fn(Scale{3}, K::constant({1, 2}))) == Values{3, 6});
  CHECK(values(K::map_fn(K::square, K::constant({1, 2}))) == Values{1, 4});
  CHECK(K::foldl(K::maximum, K::constant({1, 3, 2}), {.name = "largest"}).item() == 3.f);
  std::vector<float> seen;
  const auto keep = [&seen](auto acc, auto e) { return seen.push_back(e.item()), acc + e; };
  CHECK(K::foldr(keep, K::constant({1, 2, 3})).item() == 6.f);
  CHECK(seen == std::vector<float>{2, 1});
}

TEST_CASE("folds go from the first or from the last element") {
  const Tensor x = K::constant({1, 2, 3, 4});
  const auto minus = [](const Tensor& acc, const Tensor& e) { return acc - e; };
  CHECK(K::foldl(minus, x).item() == -8.f);
  CHECK(K::foldr(minus, x).item() == -2.f);
  CHECK(K::foldl(minus, x, {.initializer = K::constant(10)}).item() == 0.f);
  CHECK(K::foldr(minus, x, {.initializer = K::ones({2})}).shape() == Shape{2});
  CHECK(K::foldl(minus, K::zeros({0}), {.initializer = K::constant(10)}).item() == 10.f);
  CHECK(K::foldl(minus, K::constant({7})).item() == 7.f);
  CHECK_THROWS_WITH_AS(K::foldl(minus, K::zeros({0, 2})),
                       "[foldl] without an initializer there must be an element: received elems=(0, 2)",
                       ValueError);
  CHECK_THROWS_AS(K::foldr(minus, K::constant(1)), ValueError);
  const auto decay = [](const Tensor& acc, const Tensor& e) { return acc * e; };
  check_gradients([&](In in) { return K::foldl(decay, in[0], {.initializer = in[1]}); },
                  {counted({3, 2}) + 1, counted({2}) + 2});
  check_gradients([&](In in) { return K::foldr(decay, in[0]); }, {counted({3, 2}) + 1});
}

TEST_CASE("switch takes numbers as condition and as sides") {
  const Tensor x = doubles({1, -2});
  CHECK(values(K::switch_(true, x, x * 2.)) == Values{1, -2});
  CHECK(values(K::switch_(0, x, x * 2.)) == Values{2, -4});
  CHECK(values(K::switch_(x > 0, x, 0)) == Values{1, 0});
  CHECK(K::switch_(x > 0, 1, x).dtype() == "float64");
  CHECK(K::switch_(false, 1, [] { return K::ones({2}, {.dtype = "int32"}); }).dtype() == "int32");
  CHECK(values(K::in_train_phase(1.f, x)) == Values{1, -2});
}

TEST_CASE("map_fn takes generic lambdas") {
  const Tensor x = doubles({{1, 2}, {3, 4}});
  CHECK(values(K::map_fn([](auto row) { return K::sum(row); }, x)) == Values{3, 7});
  CHECK(values(K::map_fn([](const auto& row) { return row * 2.; }, Variable(x))) == Values{2, 4, 6, 8});
  const std::vector<Tensor> pair{x, x};
  CHECK(values(K::map_fn([](auto rows) { return rows[0] + rows[1]; }, pair)) == Values{2, 4, 6, 8});
  CHECK(values(K::map_fn([](const std::vector<Tensor>& rows) { return rows[0]; }, {x})) == values(x));
  CHECK(values(K::foldl([](auto a, auto b) { return a + b; }, x)) == Values{4, 6});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"switch", [](In in) { return K::switch_(in[0] > 0, in[0] * in[1], in[1]); }, {normal({2, 3}), normal({2, 3}, 2)}},
      {"map_fn", [](In in) { return K::map_fn([](const Tensor& e) { return e * e; }, in[0]); }, {normal({3})}},
      {"foldl", [](In in) { return K::foldl([](const Tensor& a, const Tensor& e) { return a * e; }, in[0]); }, {normal({3})}},
      {"foldr", [](In in) { return K::foldr([](const Tensor& a, const Tensor& e) { return a - e * e; }, in[0]); }, {normal({3})}},
      // Graphs, and gradients themselves.
      {"gradients", no_gradient}, {"stop_gradient", no_gradient},
  };
});
// clang-format on

}  // namespace

TEST_CASE("an interrupt while a callable is traced stays an interrupt, and the callable is not tried again") {
  const AcceptsInterrupts accepts;
  int calls = 0;
  const auto interrupted = [&](const Tensor& x) {
    ++calls;
    ktape::interrupt();
    return x + K::ones({});
  };
  CHECK_THROWS_AS(K::map_fn(interrupted, K::placeholder({3, 2})), ktape::Interrupted);
  CHECK(calls == 1);
  ktape::clear_interrupt();
}
