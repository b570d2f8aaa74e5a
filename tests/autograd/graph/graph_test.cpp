#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

using doctest::Contains;
namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {
Tensor of(const Shape& shape, ktape::DType dtype = "float32") {
  return K::placeholder({.shape = shape, .dtype = dtype});
}
}  // namespace

TEST_CASE("a callable is traced without values: shapes, tensors from outside, and what it refuses") {
  const Tensor x = of({None, 2}), offset = of({2});
  CHECK(K::int_shape(K::map_fn([&](const Tensor& row) { return row + offset; }, x)) == Shape{None, 2});
  CHECK(K::int_shape(K::map_fn([](const Tensor& row) { return K::sum(row); }, of({5, None}))) == Shape{5});
  const auto join = [](const Tensor& a, const Tensor& b) { return K::concatenate({a, b}, 0); };
  CHECK(K::int_shape(K::foldl(join, of({4, 2}))) == Shape{8});
  CHECK(K::int_shape(K::foldl(join, x)) == Shape{None});
  CHECK(K::int_shape(K::foldl([](const Tensor& a, const Tensor& b) { return a + b; }, x)) == Shape{2});
  const auto by_value = [](const Tensor& row) { return row * row.item(0); };
  CHECK(K::int_shape(K::map_fn(by_value, of({None, None}))) == Shape{None, None});
  CHECK(K::int_shape(K::map_fn(by_value, of({None, 6}))) == Shape{None, 6});
  CHECK_THROWS_WITH_AS(K::map_fn([](const Tensor& row) { return row + K::ones({3}); }, x),
                       Contains("received x=(2,), y=(3,)"), ValueError);
}

TEST_CASE("gradients reach both sides of a choice, whichever is taken when the graph is built") {
  const Tensor s = of(Shape()), x = of({None});
  const auto scaled = [&] { return s * x; };
  const auto plain = [&] { return x * 1.f; };
  const Tensor by_phase = K::gradients(K::sum(K::in_train_phase(s * x, x * 1.f)), {s})[0];
  const Tensor by_value = K::gradients(K::sum(K::switch_(K::sum(x) > 100.f, s * x, x * 1.f)), {s})[0];
  const Tensor by_call = K::gradients(K::sum(K::switch_(K::sum(x) > 100.f, scaled, plain)), {s})[0];
  const auto f = K::function({s, x, K::learning_phase()}, {by_phase, by_value, by_call});
  const auto results = [&](float first, int phase) {
    Values all;
    for (const Tensor& gradient : f({2.f, {first, 3.f}, phase})) all.push_back(gradient.item<double>());
    return all;
  };
  CHECK(results(1.f, 0) == Values{0, 0, 0});
  CHECK(results(1.f, 1) == Values{4, 0, 0});
  CHECK(results(200.f, 0) == Values{0, 203, 203});
}

TEST_CASE("gradients end at ops without a gradient") {
  const Tensor x = of({None}), y = of({None});
  const auto none = [&](const Tensor& loss) { return !K::gradients(loss, {x})[0].defined(); };
  CHECK(none(K::stop_gradient(x) * y));
  CHECK(none(K::zeros_like(x) + y));
  CHECK(none(K::round(x) + y));
  CHECK(none(K::where(x > 0.f, y, y * 2.f)));
  CHECK(none(K::cast(K::argmax(x, 0), "float32") + y));
  CHECK(none(K::switch_(
      K::sum(y) > 0.f, [&] { return K::stop_gradient(x); }, [&] { return y; })));
  CHECK(none(y));
  CHECK(!none(K::map_fn([&](const Tensor& e) { return e * K::sum(x); }, y)));
}

TEST_CASE("the gradient with respect to a watched constant outlives its tape in a function") {
  const Tensor y = K::placeholder({.shape = Shape{2}}), at = K::constant({0.f, 1.f});
  const auto slope = [&] {
    ktape::GradientTape tape;
    tape.watch(at);
    return tape.gradient(K::sum(K::square(at) * y), at);
  };
  const Tensor first = slope(), second = slope();
  const Tensor values = K::constant({2.f, 3.f});
  for (const Tensor& result :
       K::function({y}, {first, second, K::gradients(K::sum(first), {y})[0]})({values}))
    CHECK(result.item<float>(0) == 0);
  CHECK(K::function({y}, {first})({values})[0].item<float>(1) == 6);
  CHECK(K::function({y}, {K::gradients(K::sum(second), {y})[0]})({values})[0].item<float>(1) == 2);
  CHECK(!K::gradients(K::sum(at), {at})[0].defined());
}

TEST_CASE("gradients reach the variables of a callable that decides by values") {
  const Variable w(K::constant(3.f));
  const Tensor x = of({4}), above = of({}), below = of({});
  const Tensor y =
      K::map_fn([&](const Tensor& e) { return e.item<float>() > 0.5f ? e * w * above : e + below; }, x);
  const std::vector<Tensor> slopes = K::gradients(K::sum(y), {w, above, below, x});
  for (const Tensor& slope : slopes) REQUIRE(slope.defined());
  const auto found = K::function(
      {x, above, below}, slopes)({K::constant({1.f, -2.f, 3.f, 4.f}), K::constant(5.f), K::constant(7.f)});
  CHECK(found[0].item() == 40);
  CHECK(found[1].item() == 24);
  CHECK(found[2].item() == 1);
  CHECK(found[3].item(1) == 1);
}

TEST_CASE("a custom gradient of symbolic tensors is kept") {
  const Tensor x = of({None});
  Variable w = K::variable({1.f, 2.f});
  const auto straight_through = ktape::custom_gradient([](const Tensor& x) {
    return std::pair{K::round(x), [](const Tensor& dy) { return dy; }};
  });
  const Tensor y = K::sum(straight_through(w * x) + w * x);
  CHECK(K::int_shape(straight_through(w * x)) == Shape{2});
  CHECK(values(K::function({x}, K::gradients(y, {w}))({{3.f, 4.f}})[0]) == Values{6, 8});
}
