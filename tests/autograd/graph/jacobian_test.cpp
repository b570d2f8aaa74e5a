#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <cmath>
#include <functional>

#include "../../close.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

Tensor constant(const ArrayLike& value) { return value.tensor("float64", "float64"); }
Variable variable(const ArrayLike& value) { return Variable(constant(value)); }

/// Returns the jacobian of f at x by central differences, of shape f(x).shape() + x.shape().
Tensor by_differences(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const double h = 1e-5;
  std::vector<Tensor> columns;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto at = [&](double moved) {
      auto values = K::get_value<double>(x);
      values.flat(static_cast<std::size_t>(i)) += moved;
      return f(K::constant(values)).detach();
    };
    columns.push_back((at(h) - at(-h)) / (2 * h));
  }
  const Tensor y = f(x.detach());
  Shape shape = y.shape();
  for (const std::int64_t extent : x.shape()) shape.push_back(extent);
  return K::reshape(K::transpose(K::reshape(K::stack(columns), {x.size(), y.size()})), shape);
}

const Tolerance rough{.rtol = 1e-6, .atol = 1e-8};

}  // namespace

TEST_CASE("a jacobian holds the derivative of each element by each element") {
  const Variable x = variable({{0.3, -0.7}, {1.1, 0.4}, {-0.2, 0.9}});
  const auto f = [](const Tensor& x) { return K::tanh(K::dot(K::transpose(x), K::sin(x))) * K::sum(x, 0); };
  GradientTape tape;
  const Tensor j = tape.jacobian(f(x), x);
  CHECK(j.shape() == Shape{2, 2, 3, 2});
  CHECK(close(j, by_differences(f, x.value()), rough));
}

TEST_CASE("a jacobian of a scalar is the gradient, one by a scalar has the target's shape") {
  const Variable x = variable({1, 2, 3}), s = variable(2);
  GradientTape tape;
  CHECK(close(tape.jacobian(K::sum(x * x), x), constant({2, 4, 6})));
  CHECK(close(tape.jacobian(x * s, s), constant({1, 2, 3})));
  CHECK(tape.jacobian(s * s, s).item() == 4);
}

TEST_CASE("jacobians are differentiable: the Hessian is the jacobian of the gradient") {
  const Variable x = variable({0.3, -0.7, 1.1});
  const auto f = [](const Tensor& x) { return K::sum(K::exp(x) * K::sin(x)) * K::prod(x); };
  const auto slope = [&](const Tensor& at) {
    GradientTape inner;
    inner.watch(at);
    return inner.gradient(f(at), at);
  };
  GradientTape outer;
  const Tensor hessian = outer.jacobian(slope(x), x);
  CHECK(close(hessian, by_differences(slope, x.value()), rough));
  CHECK(close(hessian, K::transpose(hessian), {.rtol = 1e-12, .atol = 1e-12}));
  const Tensor third = outer.jacobian(hessian, x);
  CHECK(third.shape() == Shape{3, 3, 3});
  CHECK(close(third,
              by_differences(
                  [&](const Tensor& at) {
                    GradientTape tape;
                    tape.watch(at);
                    return tape.jacobian(slope(at), at);
                  },
                  x.value()),
              {.rtol = 1e-5, .atol = 1e-7}));
}

TEST_CASE("a penalty on a jacobian has the gradient of differences, beside gradients of other orders") {
  const Variable w = variable({{0.5, -0.3}, {0.8, 0.1}}), x = variable({0.4, -0.9});
  const auto loss = [](const Tensor& w, const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = K::tanh(K::dot(K::expand_dims(x, 0), w));
    return K::sum(K::square(tape.jacobian(y, x))) + K::sum(y * tape.gradient(y, x));
  };
  const std::vector<Tensor> found = gradients(loss(w, x), {w, x});
  CHECK(close(found[0],
              by_differences([&](const Tensor& at) { return loss(at, x.value().detach()); }, w.value()),
              rough));
  CHECK(close(found[1], by_differences([&](const Tensor& at) { return loss(w, at); }, x.value()), rough));
}

TEST_CASE("several sources, and a tape that is used twice, persistent or not") {
  const Variable a = variable({1, 2}), b = variable({3, 4});
  GradientTape tape({.persistent = true});
  const Tensor y = a * b;
  for (int times = 0; times < 2; ++times) {
    const auto both = tape.jacobian(y, std::vector<Variable>{a, b});
    CHECK(close(both[0], constant({{3, 0}, {0, 4}})));
    CHECK(close(both[1], constant({{1, 0}, {0, 2}})));
    CHECK(close(tape.jacobian(y, std::vector<Tensor>{b, a})[1], both[0]));
    CHECK(close(tape.gradient(y, a), constant({3, 4})));
  }
  CHECK(tape.jacobian(y, std::vector<Tensor>{}).empty());
}

TEST_CASE("intermediate and watched tensors are sources, too") {
  const Tensor x = constant({1, 2});
  GradientTape tape;
  tape.watch(x);
  const Tensor hidden = x * 3, y = hidden * hidden;
  CHECK(close(tape.jacobian(y, hidden), constant({{6, 0}, {0, 12}})));
  CHECK(close(tape.jacobian(y, x), constant({{18, 0}, {0, 36}})));
}

TEST_CASE("inside NoGrad a jacobian is a plain value") {
  const Variable x = variable({1, 2});
  const Tensor y = x * x;
  const NoGrad off;
  const Tensor j = GradientTape().jacobian(y, x);
  CHECK(close(j, constant({{2, 0}, {0, 4}})));
  CHECK(j.node() == nullptr);
}

TEST_CASE("a batch jacobian holds the jacobian of each sample") {
  const Variable x = variable({{0.3, -0.7, 0.2}, {1.1, 0.4, -0.6}});
  const auto one = [](const Tensor& row) {
    return K::concatenate({K::sin(row), K::prod(row, -1, true)}, -1);
  };
  GradientTape tape;
  const Tensor j = tape.batch_jacobian(one(x), x);
  CHECK(j.shape() == Shape{2, 4, 3});
  for (int sample = 0; sample < 2; ++sample)
    CHECK(close(j[sample], by_differences(one, x.value()[sample]), rough));
  // The whole jacobian has the same blocks, and zeros beside them.
  const Tensor all = tape.jacobian(one(x), x);
  CHECK(close(all[{0, All, 0}], j[0]));
  CHECK(close(all[{1, All, 1}], j[1]));
  CHECK(K::max(K::abs(all[{0, All, 1}])).item() == 0);
}

TEST_CASE("a batch jacobian of images, and its gradient") {
  const Variable x(K::random_normal({3, 2, 2}, {.dtype = "float64", .seed = 1})), w = variable({0.7, -0.4});
  const auto loss = [](const Tensor& x, const Tensor& w) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = K::tanh(x * w) * K::reverse(x, 1);
    return K::sum(K::square(tape.batch_jacobian(y, x)));
  };
  GradientTape tape;
  CHECK(tape.batch_jacobian(x * w, x).shape() == Shape{3, 2, 2, 2, 2});
  const std::vector<Tensor> found = gradients(loss(x, w), {x, w});
  CHECK(close(found[0], by_differences([&](const Tensor& at) { return loss(at, w); }, x.value()), rough));
  CHECK(close(found[1],
              by_differences([&](const Tensor& at) { return loss(x.value().detach(), at); }, w.value()),
              rough));
}

TEST_CASE("without a connection a derivative is undefined, or zeros on request") {
  const Variable x = variable({1, 2}), apart = variable({{3}, {4}, {5}});
  GradientTape tape;
  const Tensor y = x * x;
  CHECK(!tape.gradient(y, apart).defined());
  CHECK(!tape.jacobian(y, apart).defined());
  CHECK(close(tape.gradient(y, apart, {.unconnected_gradients = "zero"}), constant({{0}, {0}, {0}})));
  CHECK(close(tape.gradient(y, std::vector<Variable>{x, apart}, {.unconnected_gradients = "zero"}),
              {constant({2, 4}), constant({{0}, {0}, {0}})}));
  const Tensor zeros = tape.jacobian(y, apart, {.unconnected_gradients = "zero"});
  CHECK(zeros.shape() == Shape{2, 3, 1});
  CHECK(K::max(K::abs(zeros)).item() == 0);
  // A batch jacobian is always defined, as in TF2.
  const Tensor samples = tape.batch_jacobian(K::reshape(y, {2, 1}), variable({{1, 2, 3}, {4, 5, 6}}));
  CHECK(samples.shape() == Shape{2, 1, 3});
  CHECK(K::max(K::abs(samples)).item() == 0);
}

TEST_CASE("the gradient of a tape may be weighed") {
  const Variable x = variable({1, 2});
  GradientTape tape;
  CHECK(close(tape.gradient(x * x, x, {.output_gradients = constant({10, 100})}), constant({20, 400})));
}

TEST_CASE("targets and sources may be empty") {
  const Variable x = variable({1, 2}), none(Tensor::empty({0, 3}, "float64"));
  GradientTape tape;
  CHECK(tape.jacobian(none * 2, none).shape() == Shape{0, 3, 0, 3});
  CHECK(tape.batch_jacobian(none * 2, none).shape() == Shape{0, 3, 3});
  CHECK(tape.jacobian(K::slice(x, {0}, {0}) * 2, x).shape() == Shape{0, 2});
  CHECK(!tape.jacobian(none * 2, x).defined());
}

TEST_CASE("jacobians of placeholders are deferred, also with unknown extents") {
  const Tensor p = K::placeholder({.shape = {None, 2}, .dtype = "float64"});
  const Variable w = variable({0.5, -2}), apart = variable({1});
  GradientTape tape;
  const Tensor y = K::sin(p * w);
  const Tensor whole = tape.jacobian(y, p), samples = tape.batch_jacobian(y, p), by_w = tape.jacobian(y, w);
  CHECK(whole.shape() == Shape{None, 2, None, 2});
  CHECK(samples.shape() == Shape{None, 2, 2});
  CHECK(!tape.jacobian(y, apart).defined());
  const Tensor zeros = tape.jacobian(y, p * 0. + 1., {.unconnected_gradients = "zero"});
  const auto f = K::function({p}, {whole, samples, by_w, zeros});
  const Variable x = variable({{1, 2}, {3, 4}, {5, 6}});
  const std::vector<Tensor> found = f({x});
  const Tensor eager = K::sin(x * w);
  CHECK(close(found[0], tape.jacobian(eager, x)));
  CHECK(close(found[1], tape.batch_jacobian(eager, x)));
  CHECK(close(found[2], tape.jacobian(eager, w)));
  CHECK(found[3].shape() == Shape{3, 2, 3, 2});
}

TEST_CASE("arguments without a jacobian are refused by name") {
  const Variable x = variable({1, 2}), flat = variable({{1, 2}, {3, 4}}), three = variable({{1}, {2}, {3}});
  const Tensor y = x * x;
  GradientTape tape;
  CHECK_THROWS_WITH_AS(tape.jacobian(Tensor(), x),
                       "[jacobian] target must be a tensor: received an undefined tensor (None)", ValueError);
  CHECK_THROWS_WITH_AS(tape.jacobian(y, Tensor()),
                       "[jacobian] sources[0] must be a tensor: received an undefined tensor (None)",
                       ValueError);
  CHECK_THROWS_WITH_AS(tape.jacobian(K::cast(y, "int32"), x),
                       "[jacobian] the target must be floating: received dtype=int32", TypeError);
  CHECK_THROWS_WITH_AS(tape.jacobian(K::reshape(y, {1, 1, 1, 1, 2}), K::reshape(y, {1, 1, 1, 2})),
                       doctest::Contains("[jacobian]"), ValueError);
  CHECK_THROWS_WITH_AS(tape.jacobian(y, x, {.unconnected_gradients = "one"}),
                       "[jacobian] unconnected_gradients must be \"none\" or \"zero\": received "
                       "unconnected_gradients=\"one\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(tape.gradient(y, x, {.unconnected_gradients = "one"}), doctest::Contains("[gradient]"),
                       ValueError);
  CHECK_THROWS_WITH_AS(tape.batch_jacobian(flat * 1, three),
                       "[batch_jacobian] target and source must have rank 2 or more and the same number of "
                       "samples: received target=(2, 2), source=(3, 1)",
                       ValueError);
  CHECK_THROWS_WITH_AS(tape.batch_jacobian(y, x), doctest::Contains("must have rank 2 or more"), ValueError);
  // Samples that are found to differ when a function runs.
  const Tensor p = K::placeholder({.shape = {None, 1}, .dtype = "float64"}),
               q = K::placeholder({.shape = {None, 1}, .dtype = "float64"});
  const auto f = K::function({p, q}, {tape.batch_jacobian(K::sum(p) + q * p[0], p)});
  CHECK_THROWS_WITH_AS(f({three, K::ones({2, 1}, {.dtype = "float64"})}),
                       doctest::Contains("[batch_jacobian]"), ValueError);
}
