#include <ktape/ops/elementwise.hpp>

#include "../datasets.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

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
