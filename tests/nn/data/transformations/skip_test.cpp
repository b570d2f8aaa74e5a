#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset;

TEST_CASE("skip leaves out the first elements") {
  const Dataset five = Dataset::range(5);
  CHECK(read(five.skip(3)) == Values{3, 4});
  CHECK(read(five.skip(0)) == numbers(5));
  CHECK(read(five.skip(9)).empty());
  CHECK(read(five.skip(-1)).empty());
  CHECK(five.skip(3).cardinality() == 2);
  CHECK(five.skip(9).cardinality() == 0);
  CHECK(five.repeat().skip(9).infinite());
  CHECK_THROWS_WITH_AS(five.skip(-2), Contains("[Dataset.skip] count must be at least -1: received count=-2"),
                       ValueError);
}
