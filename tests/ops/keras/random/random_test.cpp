#include <doctest/doctest.h>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/random/random.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace random_ops = ktape::random;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

constexpr std::int64_t many = 20000;
double mean(const Tensor& x) { return K::mean(K::cast(x, "float64")).item<double>(); }
double variance(const Tensor& x) { return K::var(K::cast(x, "float64")).item<double>(); }

}  // namespace

TEST_CASE("random: seeds give equal numbers, generators new ones at each call") {
  CHECK(values(random_ops::normal({4}, 0, 1, {}, 3)) == values(random_ops::normal({4}, 0, 1, {}, 3)));
  const random_ops::SeedGenerator a(5), b(5);
  const auto first = values(random_ops::uniform({4}, 0, 1, {}, a));
  CHECK(values(random_ops::uniform({4}, 0, 1, {}, b)) == first);
  CHECK(values(random_ops::uniform({4}, 0, 1, {}, a)) != first);
}

TEST_CASE("random: moments of the distributions") {
  CHECK(mean(random_ops::gamma({many}, 2.5, {}, 1)) == doctest::Approx(2.5).epsilon(0.03));
  CHECK(variance(random_ops::gamma({many}, 0.5, {}, 1)) == doctest::Approx(0.5).epsilon(0.08));
  CHECK(mean(random_ops::beta({many}, 2, 3, {}, 1)) == doctest::Approx(0.4).epsilon(0.03));
  CHECK(variance(random_ops::beta({many}, 2, 3, {}, 1)) == doctest::Approx(0.04).epsilon(0.05));
  CHECK(mean(random_ops::binomial({many}, 10, 0.3, {}, 1)) == doctest::Approx(3).epsilon(0.03));
  CHECK(variance(random_ops::binomial({many}, 10, 0.3, {}, 1)) == doctest::Approx(2.1).epsilon(0.05));
  CHECK(mean(random_ops::randint({many}, -2, 3, "int32", 1)) == doctest::Approx(0).epsilon(0.05));
  CHECK(mean(random_ops::truncated_normal({many}, 5, 1, {}, 1)) == doctest::Approx(5).epsilon(0.02));
  const Tensor draws = random_ops::categorical(K::log(doubles({{0.25, 0.75}})), many, {}, 1);
  CHECK(draws.shape() == Shape{1, many});
  CHECK(mean(draws) == doctest::Approx(0.75).epsilon(0.02));
  const auto mixed = values(K::sort(random_ops::shuffle(counted({7}), 0, 2)));
  CHECK(mixed == values(counted({7})));
  CHECK(values(random_ops::dropout(doubles({1., 2.}), 1, {}, 1)) == Values{0, 0});
}

TEST_CASE("random: parameters that are arrays") {
  const Tensor alpha = doubles({{7., 0.5, 1.5}}), beta = K::cast(doubles({{15., 0.9, 4.5}}), "float32");
  const Tensor draws = random_ops::beta({many, 3}, alpha, beta, "float32", 1);
  CHECK(draws.dtype() == "float32");
  const auto means = values(K::mean(K::cast(draws, "float64"), 0));
  for (std::size_t i = 0; i < 3; ++i) {
    const double a = alpha.item<double>(0, static_cast<int>(i)), b = values(beta)[i];
    CHECK(means[i] == doctest::Approx(a / (a + b)).epsilon(0.02));
  }
  const auto shares = values(K::mean(K::cast(random_ops::gamma({many, 3}, alpha, {}, 1), "float64"), 0));
  for (std::size_t i = 0; i < 3; ++i) CHECK(shares[i] == doctest::Approx(values(alpha)[i]).epsilon(0.03));
  const Tensor trials = ints({{10}, {0}, {40}}),
               successes = random_ops::binomial({3, many}, trials, doubles(0.25), {}, 1);
  const auto counted = values(K::mean(K::cast(successes, "float64"), 1));
  CHECK(counted[0] == doctest::Approx(2.5).epsilon(0.03));
  CHECK(counted[1] == 0);
  CHECK(counted[2] == doctest::Approx(10).epsilon(0.02));
  // A number and an array that repeats the number are one call.
  CHECK(values(random_ops::binomial({2, 3}, 9, 0.5, {}, 4)) ==
        values(random_ops::binomial({2, 3}, ints({9, 9, 9}), {{0.5}, {0.5}}, {}, 4)));
  const Tensor open = K::placeholder({.shape = Shape{2, 1}});
  const Tensor waiting = random_ops::binomial({2, 3}, open, 1);
  CHECK(values(K::function({open}, {waiting})({K::constant({{4.}, {5.}})})[0]) == Values{4, 4, 4, 5, 5, 5});
}

TEST_CASE("random: parameters out of range") {
  CHECK_THROWS_WITH_AS(random_ops::beta({2, 3}, 1, ints({1, 2})),
                       "[beta] beta must broadcast to the shape (2, 3): received beta=(2,)", ValueError);
  CHECK_THROWS_WITH_AS(random_ops::binomial({2}, doubles({1., 1.5}), 0.5),
                       "[binomial] counts must be whole numbers in [0, 2^20]: received counts=1.5",
                       ValueError);
  CHECK_THROWS_WITH_AS(random_ops::gamma({2}, 0), "[gamma] alpha must be above 0: received alpha=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(random_ops::binomial({2}, 3, 1.5),
                       "[binomial] probabilities must be in [0, 1]: received probabilities=1.5", ValueError);
  CHECK_THROWS_WITH_AS(random_ops::dropout(doubles({1.}), 2),
                       "[dropout] rate must be in [0, 1]: received rate=2", ValueError);
  CHECK_THROWS_WITH_AS(random_ops::categorical(doubles({1.}), 2),
                       "[categorical] logits must be (rows, classes): received logits=(1,)", ValueError);
}
