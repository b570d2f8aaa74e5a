#include "../datasets.hpp"

using ktape::data::Dataset, ktape::data::Element;

TEST_CASE("a cache runs earlier transformations once") {
  int calls = 0;
  const Dataset cached = Dataset::range(3).map([&calls](const Element& e) { return ++calls, e; }).cache();
  CHECK(read(cached.take(2)).size() == 2);  // not whole: nothing is kept
  calls = 0;
  CHECK(read(cached) == numbers(3));
  CHECK(read(cached) == numbers(3));
  CHECK(calls == 3);
}

TEST_CASE("what is shuffled before a cache keeps its order, what is shuffled after does not") {
  const Dataset kept = rows(50).shuffle(50, {.seed = 1}).cache();
  CHECK(read(kept) == read(kept));
  const Dataset mixed = rows(50).cache().shuffle(50, {.seed = 1});
  CHECK(read(mixed) != read(mixed));
  CHECK(rows(50).cache().cardinality() == 50);
}
