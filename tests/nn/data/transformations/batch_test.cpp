#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset;

TEST_CASE("batches of rows and of single elements are equal") {
  const Dataset slices = Dataset::from_tensor_slices({counted({7, 2}), counted({7})});
  for (const Dataset& dataset : {slices, plain(slices)}) {
    CHECK(sizes(dataset.batch(3)) == std::vector<std::int64_t>{3, 3, 1});
    CHECK(sizes(dataset.batch(3, {.drop_remainder = true})) == std::vector<std::int64_t>{3, 3});
    CHECK(sizes(dataset.batch(7)) == std::vector<std::int64_t>{7});
    CHECK(sizes(dataset.batch(std::int64_t{1} << 60)) == std::vector<std::int64_t>{7});
    CHECK(sizes(dataset.skip(5).batch(3)) == std::vector<std::int64_t>{2});
    CHECK(sizes(dataset.take(4).batch(3)) == std::vector<std::int64_t>{3, 1});
    CHECK(sizes(dataset.repeat(2).batch(4)) == std::vector<std::int64_t>{4, 4, 4, 2});
    CHECK(read(dataset.batch(3)) == numbers(14));
    CHECK(read(dataset.repeat(2).take(7).batch(4)) == numbers(14));
    CHECK(read(dataset.batch(3).unbatch()) == numbers(14));
  }
}

TEST_CASE("the elements of a batch have equal shapes and dtypes") {
  const Dataset single = rows(1), pair = Dataset::zip({rows(1), rows(1)});
  CHECK_THROWS_WITH_AS(read(plain(single.concatenate(pair)).batch(2)),
                       "[Dataset.batch] elements must have 1 tensors, as the first: received 2", ValueError);
  CHECK_THROWS_WITH_AS(single.batch(0),
                       "[Dataset.batch] batch_size must be at least 1: received batch_size=0", ValueError);
}
