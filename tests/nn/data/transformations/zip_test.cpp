#include "../datasets.hpp"

using ktape::Shape, ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("zip makes elements of one element of each dataset, as long as all have one") {
  const Dataset pairs =
      Dataset::zip({Dataset::range(5), Dataset::from_tensor_slices({counted({3, 2}), counted({3})})});
  CHECK(pairs.cardinality() == 3);
  CHECK(read(pairs) == numbers(3));
  for (const Element& e : pairs) CHECK(e.size() == 3);
  for (const Element& e : pairs.batch(2)) CHECK(e[1].shape() == Shape{e[0].shape()[0], 2});
  CHECK(sizes(pairs.batch(2)) == std::vector<std::int64_t>{2, 1});
  CHECK(read(pairs.skip(2)) == Values{2});
}

TEST_CASE("a zip is as long as its shortest dataset") {
  CHECK(Dataset::zip({rows(4).repeat(), rows(4)}).cardinality() == 4);
  CHECK(Dataset::zip({rows(4).repeat(), rows(2).repeat()}).infinite());
  CHECK_FALSE(Dataset::zip({rows(4), plain(rows(2))}).cardinality());
  CHECK(read(Dataset::zip({rows(4), plain(rows(2))})) == Values{0, 1});
  CHECK_THROWS_WITH_AS(Dataset::zip({}), "[Dataset.zip] there must be datasets: received none", ValueError);
}
