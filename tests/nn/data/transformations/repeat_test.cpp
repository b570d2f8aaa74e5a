#include "../datasets.hpp"

using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("repeat reads a dataset again and again") {
  const Dataset five = Dataset::range(5);
  CHECK(read(five.take(2).repeat(2)) == Values{0, 1, 0, 1});
  CHECK(read(five.repeat().skip(4).take(3)) == Values{4, 0, 1});
  CHECK(read(five.repeat(-1).take(6)) == Values{0, 1, 2, 3, 4, 0});
  CHECK(read(five.repeat(0)).empty());
  CHECK(read(five.take(0).repeat()).empty());
  CHECK(five.repeat(3).cardinality() == 15);
  CHECK_THROWS_WITH_AS(five.repeat(-2), "[Dataset.repeat] count must be at least 0, or -1: received count=-2",
                       ValueError);
}

TEST_CASE("a dataset without elements ends, however often it is repeated") {
  const Dataset empty = Dataset::range(0);
  for (const std::int64_t count : {std::int64_t{3}, INT64_MAX, std::int64_t{-1}}) {
    CHECK(read(empty.repeat(count)).empty());
    CHECK(empty.repeat(count).cardinality() == 0);
    CHECK(read(empty.map([](const Element& e) { return e; }).batch(2).repeat(count)).empty());
    CHECK(read(Dataset::range(2).take(0).repeat(count).repeat(count)).empty());
    CHECK(read(Dataset::range(9).filter([](const Element&) { return false; }).repeat(count)).empty());
  }
  CHECK(read(Dataset::range(2).repeat(INT64_MAX).take(3)) == Values{0, 1, 0});
  const Dataset many = Dataset::range(3).repeat(INT64_MAX / 3);
  CHECK(many.concatenate(many).infinite());
}
