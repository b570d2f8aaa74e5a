#include <doctest/doctest.h>
#include <ktape/autograd/gradcheck.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

using namespace ktape;
namespace K = ktape::backend;
using doctest::Approx, doctest::Contains;

namespace {

using List = std::vector<Tensor>;

Tensor doubles(const ArrayLike& value) { return K::constant(value, {.dtype = "float64"}); }

/// Numbers without a pattern.
Tensor waves(const Shape& shape, double frequency = 1.7) {
  return K::reshape(K::sin(K::arange(0, shape.count(), 1, {.dtype = "float64"}) * frequency) * 2 + 0.3,
                    shape);
}

void check_gradients(const char* op, const CheckedFunction& f, const TensorList& inputs) {
  const auto report = gradcheck(f, inputs, {.second_order = true, .op = op});
  CHECK_MESSAGE(report.ok, report.message);
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
    CHECK(y.item<double>(1, c, 0, 2) == Approx(wanted));
  }
  const Tensor plain =
      K::batch_normalization(waves({2, 4}), waves({4}), doubles({1, 1, 1, 1}), Tensor(), Tensor());
  CHECK(plain.item<double>(1, 2) ==
        Approx((waves({8}).item<double>(6) - waves({4}).item<double>(2)) / std::sqrt(1.001)));
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

TEST_CASE("normalized batches have mean 0 and variance 1, however far they are from 0") {
  const Tensor x = K::cast(K::constant({{8388600.f, 3.f}, {8388602.f, 5.f}, {8388604.f, 1.f}}), "float32");
  const auto [y, mean, variance] = K::normalize_batch_in_training(x, Tensor(), Tensor(), {0});
  CHECK(mean.shape() == Shape{2});
  CHECK(variance.item(0) == Approx(8.0 / 3));
  CHECK(y.item(0, 0) == Approx(-2 / std::sqrt(8.0 / 3 + 1e-3)).epsilon(1e-5));
  CHECK(y.item(1, 0) == 0);
  const Tensor z = K::layer_normalization(x, Tensor(), Tensor(), {.axis = 0});
  CHECK(z.item(2, 0) == Approx(2 / std::sqrt(8.0 / 3 + 1e-3)).epsilon(1e-5));
}

TEST_CASE("the fused kernel's variance is that of a sample, and its statistics carry no gradient") {
  const Tensor x = waves({2, 2, 3, 2});
  GradientTape tape;
  tape.watch(x);
  const auto [y, mean, variance] = K::normalize_batch_in_training(x, Tensor(), Tensor(), {0, 1, 2});
  CHECK(variance.item<double>(1) == Approx(K::var(x, {0, 1, 2}).item<double>(1) * 12 / 11));
  CHECK(!tape.gradient(K::sum(variance), x).defined());
  CHECK(!tape.gradient(K::sum(mean), x).defined());
  CHECK(tape.gradient(K::sum(y), x).defined());
  const auto other = K::normalize_batch_in_training(x, Tensor(), Tensor(), {0, 1, 3});
  CHECK(other.variance.item<double>(1) == Approx(K::var(x, {0, 1, 3}).item<double>(1)));
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
  CHECK_THROWS_WITH_AS(K::layer_normalization(x, Tensor(), four), Contains("[layer_normalization] beta"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::layer_normalization(x, Tensor(), Tensor(), {.axis = 2}), Contains("axis"),
                       ValueError);
  CHECK_THROWS_AS(K::layer_normalization(K::zeros({2}, {.dtype = "int32"}), Tensor(), Tensor()), TypeError);
}
