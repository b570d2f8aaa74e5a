#include <ktape/ops/creation.hpp>

#include "../datasets.hpp"

namespace K = ktape::backend;
using ktape::data::Dataset, ktape::data::Element, ktape::ValueError;

TEST_CASE("unique leaves out repeated elements at any place") {
  CHECK(read(Dataset::from_tensor_slices(ints({1, 37, 2, 37, 2, 1})).unique()) == Values{1, 37, 2});
  const Dataset shapes = Dataset::range(4).map([](const Element& e) {
    return Element{K::zeros({e[0].item<int>() % 2, 2})};
  });
  CHECK(sizes(shapes.unique()) == std::vector<std::int64_t>{0, 1});
  CHECK_FALSE(shapes.unique().cardinality());
}

TEST_CASE("elements are equal if the dtypes, shapes and bytes of all their tensors are") {
  const ktape::Tensor x = ints({1, 1, 1}), y = ints({5, 6, 5});
  CHECK(read(Dataset::from_tensor_slices({x, y}).unique()) == Values{1, 1});
  const Dataset both = Dataset::from_tensors(ints({1})).concatenate(Dataset::from_tensors(doubles({1.0})));
  CHECK(read(both.unique()) == Values{1, 1});
  CHECK_THROWS_WITH_AS(read(rows(1).map([](const Element&) { return Element{ktape::Tensor()}; }).unique()),
                       "[Dataset.unique] tensor 0 must be a tensor: received None", ValueError);
}
