#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

namespace {

bool below_three(const Element& e) { return e[0].item<int>() < 3; }

}  // namespace

TEST_CASE("take_while ends for good at the first element that is not taken") {
  const Dataset there_and_back = Dataset::range(5).concatenate(Dataset::range(2));
  CHECK(read(there_and_back.take_while(below_three)) == Values{0, 1, 2});
  CHECK(read(Dataset::range(5).repeat().take_while(below_three)) == Values{0, 1, 2});
  CHECK_FALSE(Dataset::range(5).repeat().take_while(below_three).infinite());
  CHECK(Dataset::range(0).take_while(below_three).cardinality() == 0);
  CHECK_THROWS_WITH_AS(Dataset::range(2).take_while(nullptr), Contains("[Dataset.take_while]"), ValueError);
}
