#include "../datasets.hpp"

using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("filter keeps the elements that the predicate accepts") {
  const auto odd = [](const Element& e) { return e[0].item<int>() % 2 == 1; };
  const Dataset filtered = Dataset::range(5).filter(odd);
  CHECK(read(filtered) == Values{1, 3});
  CHECK(read(filtered) == Values{1, 3});
  CHECK(read(filtered.batch(2)) == Values{1, 3});
  CHECK_FALSE(filtered.cardinality());
  CHECK(Dataset::range(0).filter(odd).cardinality() == 0);
  CHECK(Dataset::range(5).repeat().filter(odd).infinite());
  CHECK_THROWS_WITH_AS(Dataset::range(1).filter(nullptr),
                       "[Dataset.filter] the function must be a callable: received none", ValueError);
}
