#include <doctest/doctest.h>
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

TEST_CASE("random: parameters out of range") {
  CHECK_THROWS_WITH_AS(random_ops::gamma({2}, 0), "[gamma] alpha must be above 0: received alpha=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(random_ops::binomial({2}, 3, 1.5),
                       "[binomial] probabilities must be in [0, 1]: received probabilities=1.5", ValueError);
  CHECK_THROWS_WITH_AS(random_ops::dropout(doubles({1.}), 2),
                       "[dropout] rate must be in [0, 1]: received rate=2", ValueError);
  CHECK_THROWS_WITH_AS(random_ops::categorical(doubles({1.}), 2),
                       "[categorical] logits must be (rows, classes): received logits=(1,)", ValueError);
}
