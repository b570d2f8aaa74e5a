#include <ktape/ktape.hpp>

#include <cmath>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

using List = std::vector<Tensor>;

/// Returns numbers without a simple pattern.
Tensor waves(const Shape& shape, double frequency = 1.7) {
  return K::reshape(K::sin(K::arange(0, shape.count(), 1, {.dtype = "float64"}) * frequency) * 2 + 0.3,
                    shape);
}

}  // namespace

TEST_CASE("batch_normalization puts the statistics of rank 4 on the axis") {
  const Tensor x = waves({2, 3, 2, 4});
  const Tensor mean = doubles({1, 2, 3}), var = doubles({4, 0.5, 1}), beta = doubles({0, 1, -1}),
               gamma = doubles({2, 1, 3});
  const Tensor y = K::batch_normalization(x, mean, var, beta, gamma, {.axis = 1});
  for (int c = 0; c < 3; ++c) {
    const double wanted = (x.item<double>(1, c, 0, 2) - mean.item<double>(c)) /
                              std::sqrt(var.item<double>(c) + 1e-3) * gamma.item<double>(c) +
                          beta.item<double>(c);
    CHECK(close(y.item<double>(1, c, 0, 2), wanted));
  }
  const Tensor plain =
      K::batch_normalization(waves({2, 4}), waves({4}), doubles({1, 1, 1, 1}), Tensor(), Tensor());
  CHECK(close(plain.item<double>(1, 2),
              (waves({8}).item<double>(6) - waves({4}).item<double>(2)) / std::sqrt(1.001)));
}

TEST_CASE("normalization has gradients of both orders") {
  check_gradients("batch_normalization",
                  [](const List& in) { return K::batch_normalization(in[0], in[1], in[2], in[3], in[4]); },
                  {waves({2, 3}), waves({3}), doubles({0.5, 1, 2}), doubles({0, 1, -1}), doubles({2, 1, 0})});
  check_gradients("normalize_batch_in_training",
                  [](const List& in) {
                    const auto [y, mean, variance] = K::normalize_batch_in_training(in[0], in[1], in[2], {0});
                    return List{y, mean, variance};
                  },
                  {waves({4, 2}), doubles({2, 0.5}), doubles({1, -1})});
  check_gradients("normalize_batch_in_training",
                  [](const List& in) {
                    return K::normalize_batch_in_training(in[0], in[1], Tensor(), {0, 1, 2}).normalized;
                  },
                  {waves({2, 2, 1, 2}), doubles({2, 0.5})});
  check_gradients(
      "layer_normalization",
      [](const List& in) { return K::layer_normalization(in[0], in[1], in[2], {.epsilon = 1e-2}); },
      {waves({2, 5}), waves({5}), doubles({1, -1, 0, 2, 3})});
  check_gradients("layer_normalization",
                  [](const List& in) {
                    return K::layer_normalization(in[0], in[1], Tensor(), {.axis = {0, 2}});
                  },
                  {waves({2, 3, 2}), waves({2, 2})});
}

namespace {

/// Every layout that batch normalization has a kernel for, and some that it moves: the channels' axes and the
/// others.
struct Layout {
  Shape shape;
  std::vector<int> reduced;
};
const Layout layouts[] = {{{300, 5}, {0}},
                          {{40, 83}, {0}},
                          {{4, 5, 3, 64}, {0, 1, 2}},
                          {{4, 5, 3, 6}, {0, 2, 3}},
                          {{3, 2, 1500}, {0, 2}},
                          {{6, 70}, {1}},
                          {{3, 4, 5}, {1}},
                          {{2, 3, 2, 2, 3}, {0, 2, 4}},
                          {{2, 3, 4}, {0, 1, 2}},
                          {{2, 3}, {}},
                          {{0, 3}, {0}},
                          {{3, 0}, {0}}};

Shape kept(const Layout& layout) {
  Shape shape = layout.shape;
  for (int axis : layout.reduced) shape[axis] = 1;
  return shape;
}

}  // namespace

TEST_CASE("the fused kernels agree with the formula, in values and gradients of both orders, for any axes") {
  for (const Layout& layout : layouts) {
    CAPTURE(layout.shape);
    const Variable x = waves(layout.shape), gamma = waves(kept(layout), 0.9), beta = waves(kept(layout), 0.4);
    const Tensor weights = waves(layout.shape, 0.3);
    const auto formula = [&] {
      const Tensor mean = K::mean(x, layout.reduced, true), var = K::var(x, layout.reduced, true);
      return (x - mean) / K::sqrt(var + 1e-3) * gamma + beta;
    };
    const auto fused = [&] {
      return K::normalize_batch_in_training(x, gamma, beta, layout.reduced).normalized;
    };
    CHECK(close(fused(), formula(), {.atol = 1e-10}));
    if (x.size() == 0) continue;
    const auto slopes = [&](const Tensor& y) {
      return K::gradients(K::sum(K::square(y) * weights), {x, gamma, beta});
    };
    const List wanted = slopes(formula()), got = slopes(fused());
    for (std::size_t i = 0; i < 3; ++i) CHECK(close(got[i], wanted[i], {.atol = 1e-9}));
    const auto second = [&](const List& first) {
      return K::gradients(K::sum(first[0] * weights) + K::sum(first[1]), {x, gamma});
    };
    const List wanted_second = second(wanted), got_second = second(got);
    for (std::size_t i = 0; i < 2; ++i) CHECK(close(got_second[i], wanted_second[i], {.atol = 1e-7}));
    for (const char* dtype : {"float32", "float16"}) {
      const auto of = [&](const Tensor& t) { return K::cast(t, dtype); };
      const double tolerance = DType(dtype) == DType::Float16 ? 3e-2 : 1e-4;
      CHECK(close(K::normalize_batch_in_training(of(x), of(gamma), of(beta), layout.reduced).normalized,
                  formula(), {.atol = tolerance}));
    }
  }
}

TEST_CASE("given statistics: fused where they lie on neighbouring axes, composed elsewhere") {
  const Tensor x = waves({2, 3, 4, 5, 2});
  for (const Shape& shape :
       {Shape{2}, Shape{5, 1}, Shape{1, 3, 4, 1, 1}, Shape{}, Shape{3, 1, 5, 1}, Shape{2, 3, 4, 5, 2}}) {
    CAPTURE(shape);
    const Variable v = x, mean = waves(shape, 0.7), var = K::square(waves(shape, 0.2)) + 1,
                   gamma = waves(shape, 2.9);
    const Tensor formula = (v - mean) / K::sqrt(var + 1e-3) * gamma;
    const Tensor fused = K::batch_normalization(v, mean, var, Tensor(), gamma);
    CHECK(close(fused, formula, {.atol = 1e-12}));
    const List wanted = K::gradients(K::square(formula), {v, mean, var, gamma}),
               got = K::gradients(K::square(fused), {v, mean, var, gamma});
    CHECK(close(got, wanted, {.atol = 1e-9}));
  }
  check_gradients("batch_normalization",
                  [](const List& in) {
                    return K::batch_normalization(in[0], in[1], K::square(in[2]) + 1, in[3], in[4],
                                                  {.axis = 1});
                  },
                  {waves({2, 3, 2, 2}), waves({3}), waves({3}, 0.2), waves({3}, 0.8), waves({3}, 0.5)});
}

TEST_CASE("normalized batches have mean 0 and variance 1, however far they are from 0") {
  const Tensor x = K::cast(K::constant({{8388600.f, 3.f}, {8388602.f, 5.f}, {8388604.f, 1.f}}), "float32");
  const auto [y, mean, variance] = K::normalize_batch_in_training(x, Tensor(), Tensor(), {0});
  CHECK(mean.shape() == Shape{2});
  CHECK(close(variance.item(0), 8.0 / 3));
  CHECK(close(y.item(0, 0), -2 / std::sqrt(8.0 / 3 + 1e-3), {.rtol = 1e-5}));
  CHECK(y.item(1, 0) == 0);
  const Tensor z = K::layer_normalization(x, Tensor(), Tensor(), {.axis = 0});
  CHECK(close(z.item(2, 0), 2 / std::sqrt(8.0 / 3 + 1e-3), {.rtol = 1e-5}));
}

TEST_CASE("the fused kernel's variance is that of a sample, and its statistics carry no gradient") {
  const Tensor x = waves({2, 2, 3, 2});
  GradientTape tape;
  tape.watch(x);
  const auto [y, mean, variance] = K::normalize_batch_in_training(x, Tensor(), Tensor(), {0, 1, 2});
  CHECK(close(variance.item<double>(1), K::var(x, {0, 1, 2}).item<double>(1) * 12 / 11));
  CHECK(!tape.gradient(K::sum(variance), x).defined());
  CHECK(!tape.gradient(K::sum(mean), x).defined());
  CHECK(tape.gradient(K::sum(y), x).defined());
  const auto other = K::normalize_batch_in_training(x, Tensor(), Tensor(), {0, 1, 3});
  CHECK(close(other.variance.item<double>(1), K::var(x, {0, 1, 3}).item<double>(1)));
}

TEST_CASE("a constant group is normalized to beta") {
  const Tensor x = K::full({3, 8}, 7.5);
  const Tensor y = K::layer_normalization(x, K::full({8}, 3), K::full({8}, -2));
  CHECK(K::max(K::abs(y + 2)).item() == 0);
}

TEST_CASE("normalization names the op and what is wrong") {
  const Tensor x = K::zeros({2, 3}), four = K::zeros({4});
  CHECK_THROWS_WITH_AS(K::batch_normalization(x, four, four, Tensor(), Tensor()),
                       Contains("[batch_normalization] "), ValueError);
  CHECK_THROWS_WITH_AS(K::batch_normalization(K::zeros({1, 1, 1, 3}), four, four, Tensor(), Tensor()),
                       Contains("mean must have 3 elements"), ValueError);
  CHECK_THROWS_WITH_AS(
      K::normalize_batch_in_training(x, four, Tensor(), {0}),
      "[normalize_batch_in_training] gamma must have 3 elements for x of shape (2, 3): received gamma=(4,)",
      ValueError);
  CHECK_THROWS_WITH_AS(K::batch_normalization(K::ones({4}), K::ones({2, 4}), four, Tensor(), Tensor()),
                       "[batch_normalization] mean must broadcast to x of shape (4,): received mean=(2, 4)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::layer_normalization(x, Tensor(), four), Contains("[layer_normalization] beta"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::layer_normalization(x, Tensor(), Tensor(), {.axis = 2}), Contains("axis"),
                       ValueError);
  CHECK_THROWS_AS(K::layer_normalization(K::zeros({2}, {.dtype = "int32"}), Tensor(), Tensor()), TypeError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"batch_normalization",
       [](In in) { return K::batch_normalization(in[0], in[1], K::square(in[2]), in[3], in[4]); },
       {normal({4, 2}), normal({2}, 2), normal({2}, 3), normal({2}, 4), normal({2}, 5)}},
      {"normalize_batch_in_training",
       [](In in) { return K::normalize_batch_in_training(in[0], in[1], in[2], {0}).normalized; },
       {normal({4, 2}), normal({2}, 2), normal({2}, 3)}},
      {"layer_normalization", [](In in) { return K::layer_normalization(in[0], in[1], in[2]); },
       {normal({2, 3}), normal({3}, 2), normal({3}, 3)}},
  };
});
// clang-format on

}  // namespace
