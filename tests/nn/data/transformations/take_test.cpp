#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset;

TEST_CASE("take ends a dataset early") {
  const Dataset five = Dataset::range(5);
  CHECK(read(five.take(2)) == Values{0, 1});
  CHECK(read(five.take(0)).empty());
  CHECK(read(five.take(9)) == numbers(5));
  CHECK(read(five.take(-1)) == numbers(5));
  CHECK(read(five.take(4).skip(1)) == Values{1, 2, 3});
  CHECK(five.take(9).cardinality() == 5);
  CHECK(five.repeat().take(9).cardinality() == 9);
  CHECK_THROWS_WITH_AS(five.take(-2), Contains("[Dataset.take] count must be at least -1: received count=-2"),
                       ValueError);
}
