#include <cmath>

#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset;

TEST_CASE("shards take the elements in turn, and know their cardinality") {
  for (const bool as_rows : {true, false}) {
    const Dataset ten = as_rows ? rows(10) : plain(rows(10));
    CHECK(read(ten.shard(3, 0)) == Values{0, 3, 6, 9});
    CHECK(read(ten.shard(3, 1)) == Values{1, 4, 7});
    CHECK(read(ten.shard(3, 2)) == Values{2, 5, 8});
    CHECK(read(ten.shard(1, 0)) == numbers(10));
    CHECK(read(ten.shard(20, 15)).empty());
    CHECK(read(ten.shard(2, 1).batch(2)) == Values{1, 3, 5, 7, 9});
  }
  CHECK(rows(10).shard(3, 0).cardinality() == 4);
  CHECK(rows(10).shard(3, 1).cardinality() == 3);
  CHECK(rows(2).shard(3, 2).cardinality() == 0);
  CHECK(Dataset::range(4).repeat().shard(2, 1).infinite());
}

TEST_CASE("shards of a shuffle share no element, and a shuffle after shard differs between shards") {
  const Dataset shuffled = rows(20).shuffle(20, {.seed = 1});
  Values all = read(shuffled.shard(2, 0));
  for (const double value : read(shuffled.shard(2, 1))) all.push_back(value);
  CHECK(sorted(all) == numbers(20));

  const auto order = [](std::int64_t index) {  // within the shard
    Values places = read(rows(40).shard(2, index).shuffle(20, {.seed = 1}));
    for (double& place : places) place = std::floor(place / 2);
    return places;
  };
  CHECK(order(0) == order(0));
  CHECK(order(0) != order(1));
  CHECK(order(0) == read(rows(20).shuffle(20, {.seed = 1})));  // the first shard has what it had without any
}

TEST_CASE("a shard's index is below the number of shards") {
  CHECK_THROWS_WITH_AS(rows(1).shard(0, 0),
                       "[Dataset.shard] num_shards must be at least 1: received num_shards=0", ValueError);
  for (const int index : {2, -1})
    CHECK_THROWS_WITH_AS(rows(1).shard(2, index),
                         Contains("[Dataset.shard] index must be in [0, num_shards): received num_shards=2"),
                         ValueError);
}
