#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

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
