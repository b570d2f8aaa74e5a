#include <ktape/ops/creation.hpp>

#include "../datasets.hpp"

namespace K = ktape::backend;
using ktape::Shape, ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("unbatch gives the rows of each element") {
  const Dataset slices = Dataset::from_tensor_slices({counted({7, 2}), counted({7})});
  CHECK(read(slices.batch(3).unbatch()) == numbers(14));
  for (const Element& e : slices.batch(3).unbatch()) {
    CHECK(e[0].shape() == Shape{2});
    CHECK(e[1].shape() == Shape());
  }
  CHECK_FALSE(slices.batch(2).unbatch().cardinality());
}

TEST_CASE("elements without rows give none, and scalars have no rows") {
  const Dataset ragged =
      Dataset::range(3).map([](const Element& e) { return Element{K::ones({e[0].item<std::int64_t>()})}; });
  CHECK(read(ragged.unbatch()) == Values{1, 1, 1});
  CHECK_THROWS_WITH_AS(read(rows(1).unbatch()),
                       "[Dataset.unbatch] tensors must have an axis of rows: received a scalar", ValueError);
}
