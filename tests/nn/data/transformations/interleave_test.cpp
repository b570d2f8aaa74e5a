#include <ktape/nn/data/formats/text.hpp>

#include "../datasets.hpp"

namespace K = ktape::backend;
namespace data = ktape::data;
using data::Dataset, data::Element, ktape::ValueError;
using doctest::Contains;

namespace {

/// Returns a function that repeats the element `times` times.
Dataset::ToDataset repeated(int times) {
  return [times](const Element& e) { return Dataset::from_tensors(e).repeat(times); };
}

}  // namespace

TEST_CASE("flat_map reads one dataset after another") {
  const Dataset triangle =
      Dataset::range(1, 4).flat_map([](const Element& e) { return Dataset::range(e[0].item<int>()); });
  CHECK(read(triangle) == Values{0, 0, 1, 0, 1, 2});
  CHECK(read(triangle) == Values{0, 0, 1, 0, 1, 2});
  CHECK_FALSE(triangle.cardinality());
  CHECK(read(Dataset::range(3).flat_map([](const Element&) { return Dataset::range(0); })).empty());
  CHECK_THROWS_WITH_AS(Dataset::range(3).flat_map(nullptr), Contains("[Dataset.flat_map]"), ValueError);
}

TEST_CASE("interleave takes blocks of several datasets in turn, with any number of threads") {
  for (const int threads : {1, 2, 4, data::AUTOTUNE}) {
    CAPTURE(threads);
    const Dataset five = Dataset::range(1, 6);
    CHECK(read(five.interleave(repeated(6),
                               {.cycle_length = 2, .block_length = 4, .num_parallel_calls = threads})) ==
          Values{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5});
    CHECK(read(five.interleave(repeated(2), {.num_parallel_calls = threads})) ==
          Values{1, 2, 3, 4, 5, 1, 2, 3, 4, 5});
    CHECK(read(five.repeat()
                   .interleave(repeated(2), {.cycle_length = 3, .num_parallel_calls = threads})
                   .take(8)) == Values{1, 2, 3, 1, 2, 3, 4, 5});
  }
  CHECK_THROWS_WITH_AS(rows(1).interleave(repeated(1), {.cycle_length = 0}),
                       "[Dataset.interleave] cycle_length must be at least 1: received cycle_length=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(rows(1).interleave(repeated(1), {.block_length = 0}), Contains("block_length"),
                       ValueError);
}

TEST_CASE("the shuffle of a dataset inside of another follows from the iteration") {
  K::set_random_seed(2);
  const auto shuffled = [](const Element&) { return Dataset::range(20).shuffle(20); };
  const Dataset twice = Dataset::range(2).flat_map(shuffled);
  const Values first = read(twice);
  CHECK(Values(first.begin(), first.begin() + 20) != Values(first.begin() + 20, first.end()));
  CHECK(read(twice) != first);
  K::set_random_seed(2);
  CHECK(read(Dataset::range(2).flat_map(shuffled)) == first);
}

TEST_CASE("an error in a dataset inside another reaches the reader") {
  const Dataset broken = Dataset::range(2).interleave(
      [](const Element& e) {
        return data::text_line_dataset("/nonexistent/" + std::to_string(e[0].item<int>()),
                                       [](const std::string&) { return std::optional<Element>(); });
      },
      {.num_parallel_calls = 2});
  CHECK_THROWS_WITH_AS(read(broken), Contains("/nonexistent/0"), ktape::IOError);
}
