#include <ktape/nn/data/formats/text.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/shape.hpp>

#include <set>

#include "../datasets.hpp"

namespace K = ktape::backend;
namespace data = ktape::data;
using data::Dataset, data::Element;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// Returns a function that repeats the element `times` times.
Dataset::ToDataset repeated(int times) {
  return [times](const Element& e) { return Dataset::from_tensors(e).repeat(times); };
}

bool below_three(const Element& e) { return e[0].item<int>() < 3; }

}  // namespace

TEST_CASE("enumerate puts a number before each element") {
  std::vector<int> indices;
  for (const Element& e : rows(3).enumerate(5)) {
    CHECK(e.size() == 2);
    CHECK(e[0].dtype() == "int64");
    indices.push_back(e[0].item<int>());
  }
  CHECK(indices == std::vector{5, 6, 7});
  CHECK(rows(3).enumerate().cardinality() == 3);
  CHECK(rows(3).repeat().enumerate(-4).infinite());
  CHECK(read(rows(5).batch(2).enumerate().batch(2)) == Values{0, 1, 2});
}

TEST_CASE("reduce passes a state from element to element") {
  const Dataset four = Dataset::range(4);
  const auto add = [](const Element& state, const Element& e) {
    return Element{state[0] + e[0], state[1] + 1};
  };
  const Element end = four.reduce({ints(10, "int64"), ints(0)}, add);
  CHECK(end[0].item<int>() == 16);
  CHECK(end[1].item<int>() == 4);
  CHECK(four.take(0).reduce({ints(10), ints(0)}, add)[0].item<int>() == 10);
  CHECK_THROWS_WITH_AS(four.reduce(ints(0), nullptr), Contains("[Dataset.reduce] the function"), ValueError);
}

TEST_CASE("scan begins each reading with the first state") {
  const Dataset sums = Dataset::range(1, 5).scan(ints(0), [](const Element& state, const Element& e) {
    const Tensor sum = K::cast(state[0], "int64") + e[0];
    return std::pair(Element{sum}, Element{sum, e[0]});
  });
  CHECK(read(sums) == Values{1, 3, 6, 10});
  CHECK(read(sums) == Values{1, 3, 6, 10});
  CHECK(sums.cardinality() == 4);
  CHECK_THROWS_WITH_AS(Dataset::range(2).scan(ints(0), nullptr), Contains("a callable"), ValueError);
}

TEST_CASE("take_while ends for good at the first element that is not taken") {
  const Dataset there_and_back = Dataset::range(5).concatenate(Dataset::range(2));
  CHECK(read(there_and_back.take_while(below_three)) == Values{0, 1, 2});
  CHECK(read(Dataset::range(5).repeat().take_while(below_three)) == Values{0, 1, 2});
  CHECK_FALSE(Dataset::range(5).repeat().take_while(below_three).infinite());
  CHECK(Dataset::range(0).take_while(below_three).cardinality() == 0);
  CHECK_THROWS_WITH_AS(Dataset::range(2).take_while(nullptr), Contains("[Dataset.take_while]"), ValueError);
}

TEST_CASE("unique leaves out repeated elements at any place") {
  CHECK(read(Dataset::from_tensor_slices(ints({1, 37, 2, 37, 2, 1})).unique()) == Values{1, 37, 2});
  const Dataset shapes = Dataset::range(4).map([](const Element& e) {
    return Element{K::zeros({e[0].item<int>() % 2, 2})};
  });
  CHECK(sizes(shapes.unique()) == std::vector<std::int64_t>{0, 1});
  CHECK_FALSE(shapes.unique().cardinality());
}

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

TEST_CASE(
    "random numbers have no end, and are equal in each iteration unless rerandomize_each_iteration is set") {
  const Dataset numbers = Dataset::random({.seed = 4});
  CHECK(numbers.infinite());
  const Values first = read(numbers.take(50));
  CHECK(read(numbers.take(50)) == first);
  CHECK(std::set(first.begin(), first.end()).size() == 50);
  for (const double number : first) {
    CHECK(number >= 0);
    CHECK(number < 4294967296.);
  }
  CHECK(read(Dataset::random({.seed = 5}).take(50)) != first);
  const Dataset other = Dataset::random({.seed = 4, .rerandomize_each_iteration = true}).take(9);
  CHECK(read(other) != read(other));
}

TEST_CASE("AUTOTUNE stands for a number of threads and of elements made ahead") {
  const Dataset dataset =
      rows(40).map(doubled, {.num_parallel_calls = data::AUTOTUNE}).batch(8).prefetch(data::AUTOTUNE);
  CHECK(read(dataset) == read(rows(40).map(doubled)));
  CHECK_THROWS_WITH_AS(rows(1).map(doubled, {.num_parallel_calls = -2}),
                       "[Dataset.map] num_parallel_calls must be at least 1: received num_parallel_calls=-2",
                       ValueError);
  CHECK_THROWS_WITH_AS(rows(1).prefetch(0), Contains("buffer_size must be at least 1"), ValueError);
}
