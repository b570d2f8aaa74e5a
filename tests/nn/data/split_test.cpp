#include <ktape/nn/data/split.hpp>

#include <algorithm>
#include <cmath>

#include "../../ops/check.hpp"

namespace data = ktape::data;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("train_test_split divides the rows") {
  const Tensor x = counted({10, 2}), y = counted({10});
  const auto split = data::train_test_split({x, y}, {.test_size = 0.25, .seed = 1});
  CHECK(split.train[0].shape() == Shape{7, 2});
  CHECK(split.test[1].shape() == Shape{3});
  Values all = values(split.train[1]);
  for (double i : values(split.test[1])) all.push_back(i);
  CHECK(all != values(y));
  std::sort(all.begin(), all.end());
  CHECK(all == values(y));
  CHECK(split.train[0].item<double>(4, 0) == 2 * split.train[1].item<double>(4));
  CHECK(values(data::train_test_split({x, y}, {.test_size = 0.25, .seed = 1}).test[1]) ==
        values(split.test[1]));
  CHECK(values(data::train_test_split(y, {.test_size = 2, .shuffle = false}).test[0]) == Values{8, 9});
  for (double bad : {0.0, -0.1, 0.95, 1.5, 10.0, HUGE_VAL, double(NAN)})
    CHECK_THROWS_WITH_AS(data::train_test_split({x, y}, {.test_size = bad}), Contains("test_size"),
                         ValueError);
  CHECK_THROWS_WITH_AS(data::train_test_split({x, counted({9})}), Contains("the number of rows"), ValueError);
}

TEST_CASE("train_test_split keeps the order when asked") {
  const Tensor x = counted({4, 1});
  const auto split = data::train_test_split(x, {.test_size = 0.3, .shuffle = false});
  CHECK(values(split.train[0]) == Values{0, 1});
  CHECK(values(split.test[0]) == Values{2, 3});  // 1.2 rows, rounded up
  CHECK_THROWS_WITH_AS(data::train_test_split(x, {.test_size = 4}),
                       "[train_test_split] test_size must be a part of the 4 rows, or a number of them, and "
                       "leave some: received test_size=4",
                       ValueError);
}
