#include "../datasets.hpp"

using ktape::ValueError, ktape::data::Dataset;

TEST_CASE("concatenate reads one dataset after the other") {
  const Dataset five = Dataset::range(5);
  CHECK(read(five.take(1).concatenate(five.skip(4))) == Values{0, 4});
  CHECK(read(five.take(0).concatenate(five)) == numbers(5));
  CHECK(five.concatenate(five).cardinality() == 10);
  CHECK(five.concatenate(five.repeat()).infinite());
  CHECK_FALSE(plain(five).concatenate(five).cardinality());
}

TEST_CASE("a batch may hold elements of both datasets, of equal shapes and dtypes") {
  const Dataset both = rows(3).concatenate(rows(2));
  CHECK(sizes(both.batch(2)) == std::vector<std::int64_t>{2, 2, 1});
  CHECK(read(both.batch(2)) == Values{0, 1, 2, 0, 1});
  const Dataset pair = Dataset::zip({rows(2), rows(2)});
  CHECK_THROWS_WITH_AS(read(rows(3).concatenate(pair).batch(4)),
                       "[Dataset.batch] elements must have 1 tensors, as the first: received 2", ValueError);
}
