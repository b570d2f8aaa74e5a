#include <algorithm>
#include <cmath>

#include "../datasets.hpp"

namespace K = ktape::backend;
using ktape::ValueError, ktape::data::Dataset;

TEST_CASE("the random order follows from the seed and the iteration") {
  const Dataset shuffled = rows(100).shuffle(100, {.seed = 3});
  const Values first = read(shuffled), second = read(shuffled);
  CHECK(first != numbers(100));
  CHECK(sorted(first) == numbers(100));
  CHECK(first != second);
  CHECK(sorted(second) == numbers(100));

  const Dataset again = rows(100).shuffle(100, {.seed = 3});
  CHECK(read(again) == first);
  CHECK(read(again) == second);
  CHECK(read(rows(100).shuffle(100, {.seed = 4})) != first);

  const Dataset same = rows(100).shuffle(100, {.seed = 3, .reshuffle_each_iteration = false});
  CHECK(read(same) == read(same));

  // A resumed training begins with a later iteration.
  const Dataset resumed = rows(100).shuffle(100, {.seed = 3});
  CHECK(values((*resumed.begin(1))[0])[0] == second[0]);

  // The rounds of a repetition differ, too.
  const Values rounds = read(rows(100).shuffle(100, {.seed = 3}).repeat(2));
  CHECK(Values(rounds.begin(), rounds.begin() + 100) == first);
  CHECK(Values(rounds.begin() + 100, rounds.end()) != first);
}

TEST_CASE("without a seed the order is that of the global generator") {
  K::set_random_seed(5);
  const Values first = read(rows(50).shuffle(50));
  CHECK(read(rows(50).shuffle(50)) != first);
  K::set_random_seed(5);
  CHECK(read(rows(50).shuffle(50)) == first);
}

TEST_CASE("rows are shuffled as other elements are, also in batches") {
  for (int buffer : {1, 7, 40}) {
    CAPTURE(buffer);
    const Values of_rows = read(rows(40).shuffle(buffer, {.seed = 1}));
    CHECK(read(plain(rows(40)).shuffle(buffer, {.seed = 1})) == of_rows);
    CHECK(read(rows(40).shuffle(buffer, {.seed = 1}).batch(6)) == of_rows);
    CHECK(sorted(of_rows) == numbers(40));
  }
  CHECK(read(rows(40).shuffle(1)) == numbers(40));
  // A small buffer lets nothing come much too early.
  const Values near = read(rows(40).shuffle(3, {.seed = 1}));
  for (int i = 0; i < 40; ++i) CHECK(near[static_cast<std::size_t>(i)] <= i + 2);
}

TEST_CASE("all orders of a shuffle are equally likely") {
  std::vector<int> counts(24);
  const Dataset four = rows(4).shuffle(4, {.seed = 1});
  for (int i = 0; i < 2400; ++i) {
    const Values order = read(four);
    int number = 0;
    for (std::size_t j = 0; j < 4; ++j)
      number = number * static_cast<int>(4 - j) +
               static_cast<int>(std::count_if(order.begin() + static_cast<int>(j), order.end(),
                                              [&](double later) { return later < order[j]; }));
    ++counts[static_cast<std::size_t>(number)];
  }
  for (int count : counts) CHECK(std::abs(count - 100) < 50);
}

TEST_CASE("a shuffle's buffer holds elements") {
  CHECK_THROWS_WITH_AS(rows(1).shuffle(0),
                       "[Dataset.shuffle] buffer_size must be at least 1: received buffer_size=0",
                       ValueError);
}
