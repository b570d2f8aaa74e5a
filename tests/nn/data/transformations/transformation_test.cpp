#include <ktape/nn/data/transformations/transformation.hpp>

#include "../datasets.hpp"

namespace data = ktape::data;
using data::Dataset;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("AUTOTUNE stands for a number of threads and of prefetched elements") {
  const Dataset dataset =
      rows(40).map(doubled, {.num_parallel_calls = data::AUTOTUNE}).batch(8).prefetch(data::AUTOTUNE);
  CHECK(read(dataset) == read(rows(40).map(doubled)));
  CHECK_THROWS_WITH_AS(rows(1).map(doubled, {.num_parallel_calls = -2}),
                       "[Dataset.map] num_parallel_calls must be at least 1: received num_parallel_calls=-2",
                       ValueError);
  CHECK_THROWS_WITH_AS(rows(1).prefetch(0), Contains("buffer_size must be at least 1"), ValueError);
}

TEST_CASE("threads_of checks the number of threads, and asks the machine for AUTOTUNE") {
  CHECK(data::threads_of("map", 3) == 3);
  CHECK(data::threads_of("map", data::AUTOTUNE) >= 1);
  CHECK_THROWS_WITH_AS(data::threads_of("map", 0),
                       "[Dataset.map] num_parallel_calls must be at least 1: received num_parallel_calls=0",
                       ValueError);
}
