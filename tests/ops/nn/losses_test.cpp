#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/losses.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>

#include <cmath>
#include <limits>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

using List = std::vector<Tensor>;
const double inf = std::numeric_limits<double>::infinity();

Tensor classes(const ArrayLike& value) { return K::constant(value, {.dtype = "int32"}); }

}  // namespace

TEST_CASE("crossentropies have gradients of both orders") {
  const Tensor logits = doubles({{1, -2, 0.5}, {30, 0, -30}, {0, 0, 0}, {-1, 2, 3}});
  const Tensor probabilities =
      doubles({{0.2, 0.3, 0.6}, {0.9, 0.05, 0.1}, {0.4, 0.4, 0.4}, {0.5, 0.25, 0.25}});
  const Tensor targets = doubles({{1, 0, 0}, {0.2, 0.3, 0.5}, {0.1, 0, 0.4}, {0, 1, 0}});
  for (int axis : {-1, 0}) {
    const auto with = [=](bool from_logits) {
      return [=](const List& in) { return K::categorical_crossentropy(in[0], in[1], {from_logits, axis}); };
    };
    check_gradients("categorical_crossentropy", with(true), {targets, logits});
    check_gradients("categorical_crossentropy", with(false), {targets, probabilities});
    const Tensor wanted = axis == 0 ? classes({3, 0, 1}) : classes({0, 2, 1, 1});
    const auto sparse = [=](bool from_logits) {
      return [=](const List& in) {
        return K::sparse_categorical_crossentropy(wanted, in[0], {from_logits, axis});
      };
    };
    check_gradients("sparse_categorical_crossentropy", sparse(true), {logits});
    check_gradients("sparse_categorical_crossentropy", sparse(false), {probabilities});
  }
  check_gradients("binary_crossentropy",
                  [](const List& in) { return K::binary_crossentropy(in[0], in[1], {true}); },
                  {targets, logits + 0.01});
  check_gradients("binary_crossentropy", [](const List& in) { return K::binary_crossentropy(in[0], in[1]); },
                  {targets, probabilities});
  check_gradients("binary_crossentropy", [](const List& in) { return K::binary_crossentropy(in[0], in[1]); },
                  {doubles({0.3, 0.5, 0}), probabilities});
}

TEST_CASE("probabilities are clipped by epsilon, binary ones once more inside the log") {
  const double eps = K::epsilon();
  const Tensor hard = doubles({{0, 1}}), target = doubles({{1, 0}});
  CHECK(close(K::categorical_crossentropy(target, hard).item<double>(0), -std::log(eps)));
  CHECK(close(K::binary_crossentropy(target, hard).item<double>(0, 0), -std::log(2 * eps)));
  CHECK(close(K::binary_crossentropy(target, hard).item<double>(0, 1), -std::log(2 * eps), {.rtol = 1e-6}));
  CHECK(close(K::sparse_categorical_crossentropy(classes({0}), hard).item<double>(0), -std::log(eps)));
  CHECK(close(K::categorical_crossentropy(target, doubles({{2, 6}})).item<double>(0), -std::log(0.25)));
  CHECK(close(K::sparse_categorical_crossentropy(classes({0}), doubles({{0.2, 0.6}})).item<double>(0),
              -std::log(0.25)));
  // Clipped probabilities have no gradient.
  CHECK(values(slope([&](const Tensor& p) { return K::binary_crossentropy(target, p); }, hard)) ==
        std::vector<double>{0, 0});
  CHECK(values(slope([&](const Tensor& p) { return K::sparse_categorical_crossentropy(classes({0}), p); },
                     hard)) == std::vector<double>{0, 0});
}

TEST_CASE("losses from logits are exact and finite for values of any size") {
  for (const char* dtype : {"float32", "float64"}) {
    const Tensor x = K::constant({{1e4, 0, -1e4}, {1e8, 1e8, -1e8}, {-inf, 0, 0}}, {.dtype = dtype});
    const Tensor t = K::constant({{0, 1, 0}, {0.5, 0.5, 0}, {0, 1, 0}}, {.dtype = dtype});
    for (const Tensor& loss :
         {K::categorical_crossentropy(t, x, {.from_logits = true}),
          K::sparse_categorical_crossentropy(classes({1, 0, 2}), x, {.from_logits = true})}) {
      CHECK(loss.item<double>(0) == 1e4);
      CHECK(close(loss.item<double>(1), std::log(2.0), {.rtol = 1e-6}));
      CHECK(close(loss.item<double>(2), std::log(2.0), {.rtol = 1e-6}));
    }
    const auto dx = values(
        slope([&](const Tensor& v) { return K::categorical_crossentropy(t, v, {.from_logits = true}); }, x));
    const std::vector<double> wanted{1, -1, 0, 0, 0, 0, 0, -0.5, 0.5};
    CHECK(close(dx, wanted));
    const auto sparse = values(slope(
        [&](const Tensor& v) {
          return K::sparse_categorical_crossentropy(classes({1, 0, 1}), v, {.from_logits = true});
        },
        x));
    CHECK(close(sparse[1], -1));
    CHECK(close(sparse[3], -0.5));
    const Tensor b = K::constant({1e4, -1e4, 1e4, -1e4}, {.dtype = dtype}),
                 one = K::constant({1, 1, 0, 0}, {.dtype = dtype});
    CHECK(values(K::binary_crossentropy(one, b, {.from_logits = true})) ==
          std::vector<double>{0, 1e4, 1e4, 0});
  }
}

TEST_CASE("many classes, many rows: the fused losses agree with the formula") {
  const Tensor x = K::reshape(K::sin(K::arange(0, 7 * 1003, 1, {.dtype = "float64"})) * 9, {7, 1003});
  const Tensor wanted = classes({0, 1002, 16, 500, 1, 999, 31});
  const auto loss = [&](const Tensor& v) {
    return K::sparse_categorical_crossentropy(wanted, v, {.from_logits = true});
  };
  const Tensor log_p = K::log_softmax(x), p = K::softmax(x), y = loss(x), dx = slope(loss, x);
  for (int r = 0; r < 7; ++r) {
    const int t = wanted.item<int>(r);
    CHECK(close(y.item<double>(r), -log_p.item<double>(r, t), {.rtol = 1e-12}));
    CHECK(close(dx.item<double>(r, t), p.item<double>(r, t) - 1, {.rtol = 1e-12}));
    CHECK(close(dx.item<double>(r, 77), p.item<double>(r, 77), {.rtol = 1e-12}));
  }
}

TEST_CASE("few classes: the fused losses and their gradients agree with the formulas") {
  for (const char* dtype : {"float64", "float32", "float16"})
    for (const int n : {1, 2, 3, 5, 8, 10, 16, 17, 63, 64, 65}) {
      const int rows = 150;
      const Tensor ramp = K::reshape(K::arange(0, rows * n, 1, {.dtype = "float64"}), {rows, n});
      const Tensor x = K::cast(K::sin(ramp * 3) * 9, dtype), t = K::cast(K::square(K::cos(ramp)), dtype);
      const Tensor at = K::zeros({rows}, {.dtype = "int64"});
      for (int r = 0; r < rows; ++r) at.pointer<std::int64_t>()[r] = r % n;
      const Tensor weights = K::cast(K::cos(K::arange(0, rows, 1, {.dtype = "float64"})), dtype);
      const Tensor taken = K::cast(K::one_hot(at, n), dtype);
      const auto check = [&](const auto& loss, const Tensor& target) {
        const auto formula = [&](const Tensor& v) { return -K::sum(target * K::log_softmax(v), -1); };
        const auto difference = [](const Tensor& a, const Tensor& b) {
          const Tensor u = K::cast(a, "float64"), v = K::cast(b, "float64");
          return K::max(K::abs(u - v) / (K::abs(v) + 8)).template item<double>();
        };
        const double near = dtype == std::string("float16")   ? 2e-2
                            : dtype == std::string("float32") ? 1e-5
                                                              : 1e-13;
        CHECK(difference(loss(x), formula(x)) < near);
        CHECK(difference(slope([&](const Tensor& v) { return loss(v) * weights; }, x),
                         slope([&](const Tensor& v) { return formula(v) * weights; }, x)) < near);
      };
      check([&](const Tensor& v) { return K::categorical_crossentropy(t, v, {.from_logits = true}); }, t);
      check([&](const Tensor& v) { return K::sparse_categorical_crossentropy(at, v, {.from_logits = true}); },
            taken);
    }
}

TEST_CASE("an output of softmax or sigmoid is computed from its logits") {
  const Tensor x = K::constant({{200.f, 0.f}});
  const Tensor t = K::constant({{0.f, 1.f}});
  CHECK(K::categorical_crossentropy(t, K::softmax(x)).item(0) == 200);
  CHECK(K::categorical_crossentropy(t, K::softmax(x), {.from_logits = true}).item(0) == 200);
  CHECK(K::sparse_categorical_crossentropy(classes({1}), K::softmax(x)).item(0) == 200);
  CHECK(K::binary_crossentropy(t, K::sigmoid(x)).item(0, 0) == 200);
  // Softmax along another axis is not the distribution that the loss is of.
  CHECK(close(K::categorical_crossentropy(t, K::softmax(x, 0)).item(0), std::log(2.0)));
  CHECK(close(K::categorical_crossentropy(t, K::softmax(x) * 1).item(0), -std::log(K::epsilon()),
              {.rtol = 1e-3}));
  const auto g = slope([&](const Tensor& v) { return K::categorical_crossentropy(t, K::softmax(v)); }, x);
  CHECK(values(g) == std::vector<double>{1, -1});
}

TEST_CASE("sparse_categorical_crossentropy takes targets flat, with an axis of 1, and of any dtype") {
  const Tensor x = K::zeros({2, 3, 4});
  const auto shape = [&](const Tensor& target, const Tensor& output, int axis = -1) {
    return K::sparse_categorical_crossentropy(target, output, {.from_logits = true, .axis = axis}).shape();
  };
  CHECK(shape(K::zeros({2, 3}), x) == Shape{2, 3});
  CHECK(shape(K::zeros({2, 3, 1}), x) == Shape{2, 3});
  CHECK(shape(K::zeros({6}), x) == Shape{2, 3});
  CHECK(shape(K::zeros({2, 4}), x, 1) == Shape{2, 4});
  CHECK(shape(K::zeros({3}), K::zeros({3, 4})) == Shape{3});
  CHECK(shape(K::zeros({}), K::zeros({4})) == Shape{});
  CHECK(shape(K::zeros({1}), K::zeros({4})) == Shape{1});
  CHECK(shape(K::zeros({1, 1}), K::zeros({4})) == Shape{1});
  CHECK(shape(K::zeros({2, 3}, {.dtype = "uint8"}), x) == Shape{2, 3});
  CHECK(shape(K::zeros({0}), K::zeros({0, 4})) == Shape{0});
}

TEST_CASE("losses name the op and what is wrong") {
  const Tensor x = K::zeros({2, 3});
  const auto sparse = [&](const Tensor& t) {
    return K::sparse_categorical_crossentropy(t, x, {.from_logits = true});
  };
  CHECK_THROWS_WITH_AS(sparse(classes({0, 3})), Contains("class in [0, 3): received target=3"), ValueError);
  CHECK_THROWS_WITH_AS(sparse(classes({-1, 0})), Contains("received target=-1"), ValueError);
  CHECK_THROWS_WITH_AS(sparse(classes({0, 1, 2})), Contains("received target=(3,), output=(2, 3)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::categorical_crossentropy(K::zeros({3, 2}), x),
                       Contains("[categorical_crossentropy] target and output must have one shape"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::categorical_crossentropy(x, x, {.axis = 2}), Contains("axis"), ValueError);
  CHECK_THROWS_WITH_AS(K::binary_crossentropy(K::zeros({2, 2}), x), Contains("[binary_crossentropy]"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::binary_crossentropy(K::zeros({3}), x, {.from_logits = true}),
                       Contains("must have one shape"), ValueError);
  CHECK_THROWS_AS(K::categorical_crossentropy(x, K::zeros({2, 3}, {.dtype = "int32"})), TypeError);
}

TEST_CASE("sparse_categorical_crossentropy takes class numbers only") {
  const Tensor p = K::constant({{0.5f, 0.5f}, {0.1f, 0.9f}});
  CHECK_THROWS_WITH_AS(
      K::sparse_categorical_crossentropy(K::constant({true, false}), p),
      "[sparse_categorical_crossentropy] the target must hold class numbers: received target=bool",
      TypeError);
  CHECK_THROWS_WITH_AS(
      K::sparse_categorical_crossentropy(K::constant({{1.}, {std::nan("")}}), p),
      "[sparse_categorical_crossentropy] a target must be a class in [0, 2): received target=nan",
      ValueError);
  CHECK_THROWS_WITH_AS(
      K::sparse_categorical_crossentropy(K::constant({7., 0.}), p),
      "[sparse_categorical_crossentropy] a target must be a class in [0, 2): received target=7", ValueError);
}

TEST_CASE("a batch that target or output alone knows is the batch of the losses") {
  const Tensor p = K::placeholder({ktape::None, 3}), t = K::placeholder({ktape::None});
  const auto batch = [](const Tensor& target, const Tensor& output) {
    return K::int_shape(K::sparse_categorical_crossentropy(target, output));
  };
  CHECK(batch(K::constant({0, 1}), p) == Shape{2});
  CHECK(batch(K::constant({{0}, {1}}), p) == Shape{2});
  CHECK(batch(t, K::ones({2, 3})) == Shape{2});
  CHECK(batch(t, p) == Shape{ktape::None});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor labels = ints({1, 0, 3});
  return {
      {"categorical_crossentropy", of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, o); }),
       {random_probabilities({2, 3}), K::sigmoid(normal({2, 3})).detach()}},
      {"sparse_categorical_crossentropy",
       [labels](In in) { return K::sparse_categorical_crossentropy(labels, in[0], {.from_logits = true}); },
       {normal({3, 4})}},
      {"binary_crossentropy",
       [](In in) { return K::binary_crossentropy(K::constant({{1., 0., 1.}, {0., 0., 1.}}, {.dtype = "float64"}), in[0]); },
       {random_probabilities({2, 3})}},
  };
});
// clang-format on

}  // namespace
