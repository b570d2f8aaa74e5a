#include <ktape/nn/layers/preprocessing/internal/quantiles.hpp>

#include <cmath>
#include <numeric>

#include "../../../../close.hpp"
#include "../../../../ops/check.hpp"

using ktape::nn::QuantileSummary;

namespace {

Values boundaries(const Values& numbers, std::int64_t bins, double epsilon = 0.01) {
  QuantileSummary summary(epsilon);
  summary.add(numbers);
  return summary.boundaries(bins);
}

Values counted_to(int n) {
  Values all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 1.);
  return all;
}

}  // namespace

TEST_CASE("few numbers are summarized exactly, in any order") {
  CHECK(boundaries({4, 1, 3, 2}, 4) == Values{1, 2, 3});
  CHECK(boundaries({1, 2, 3, 4}, 2) == Values{2});
  CHECK(boundaries({5}, 1) == Values{});
  // The quantile 1 / 3 lies a third of the way from 1, the quantile 1 / 4, to 2, the quantile 1 / 2.
  CHECK(close(boundaries({1, 2, 3, 4}, 3), Values{4. / 3, 8. / 3}, {.ulps = 8}));
}

TEST_CASE("fewer numbers than bins give all numbers but the largest") {
  CHECK(boundaries({7, 9, 8}, 10) == Values{7, 8});
  CHECK(boundaries({7, 7}, 10) == Values{7});
}

TEST_CASE("an empty summary has no boundaries") {
  QuantileSummary summary(0.1);
  CHECK(summary.empty());
  CHECK(summary.boundaries(4).empty());
  summary.add({});
  CHECK(summary.empty());
}

TEST_CASE("numbers that are added in parts are summarized as numbers that are added at once") {
  QuantileSummary summary(0.01);
  summary.add({1, 4});
  summary.add({});
  summary.add({3, 2});
  CHECK(summary.boundaries(4) == Values{1, 2, 3});
}

TEST_CASE("many numbers give quantiles within epsilon") {
  constexpr int n = 10000;
  constexpr double epsilon = 0.01;
  QuantileSummary summary(epsilon);
  Values all = counted_to(n);
  for (int part = 0; part < 10; ++part)
    summary.add({all.begin() + part * n / 10, all.begin() + (part + 1) * n / 10});
  const Values tenths = summary.boundaries(10);
  REQUIRE(tenths.size() == 9);
  for (std::size_t i = 0; i < tenths.size(); ++i)
    CHECK(close(tenths[i], static_cast<double>(i + 1) * n / 10, {.atol = 2 * epsilon * n}));
}

TEST_CASE("there is one boundary less than bins if 1 / epsilon is larger than bins") {
  // 1 / (1. / 49) is larger than 49, by rounding.
  for (const int bins : {1, 2, 3, 48, 49, 98}) {
    CAPTURE(bins);
    const Values found = boundaries(counted_to(300), bins);
    CHECK(found.size() == static_cast<std::size_t>(bins - 1));
    CHECK(std::is_sorted(found.begin(), found.end()));
  }
}

TEST_CASE("NaN counts as the largest number") {
  CHECK(boundaries({NAN, 3, 1, 2}, 4) == Values{1, 2, 3});
  CHECK(boundaries({INFINITY, 1, -INFINITY, NAN}, 4) == Values{-INFINITY, 1, INFINITY});
}
