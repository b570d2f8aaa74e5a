#include <ktape/ops/creation.hpp>

#include "../datasets.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("elements of other shapes do not become a batch, but a padded one") {
  const Dataset ragged =
      Dataset::range(1, 4).map([](const Element& e) { return Element{K::ones({e[0].item<int>()})}; });
  CHECK_THROWS_WITH_AS(read(ragged.batch(2)),
                       Contains("elements must have one dtype and shape, float32 of shape (1,)"), ValueError);
  const Tensor padded = (*ragged.padded_batch(3).begin())[0];
  CHECK(padded.shape() == Shape{3, 3});
  CHECK(values(padded) == Values{1, 0, 0, 1, 1, 0, 1, 1, 1});
  const Tensor wide = (*ragged.padded_batch(2, {.padded_shapes = {{4}}, .padding_values = {-1}}).begin())[0];
  CHECK(values(wide) == Values{1, -1, -1, -1, 1, 1, -1, -1});
  CHECK(sizes(ragged.padded_batch(2)) == std::vector<std::int64_t>{2, 1});
  CHECK(sizes(ragged.padded_batch(2, {.drop_remainder = true})) == std::vector<std::int64_t>{2});
  CHECK_THROWS_WITH_AS(read(ragged.padded_batch(3, {.padded_shapes = {{2}}})),
                       Contains("must hold every element"), ValueError);
}

TEST_CASE("each tensor of an element is padded to its own shape, with its own value") {
  const Dataset ragged = Dataset::range(1, 3).map([](const Element& e) {
    const auto size = e[0].item<std::int64_t>();
    return Element{K::ones({size}), K::ones({size, size})};
  });
  const Element batch =
      *ragged.padded_batch(2, {.padded_shapes = {{ktape::None}, {3, ktape::None}}, .padding_values = {7, 8}})
           .begin();
  CHECK(values(batch[0]) == Values{1, 7, 1, 1});
  CHECK(batch[1].shape() == Shape{2, 3, 2});
  CHECK(values(batch[1]) == Values{1, 8, 8, 8, 8, 8, 1, 1, 1, 1, 8, 8});
  CHECK_THROWS_WITH_AS(read(ragged.padded_batch(2, {.padded_shapes = {{2}}})),
                       Contains("[Dataset.padded_batch] padded_shapes must have one shape for each tensor, "
                                "with its rank: received 1 shapes for tensor 1 of rank 2"),
                       ValueError);
  CHECK_THROWS_WITH_AS(read(ragged.padded_batch(2, {.padding_values = {1, 2, 3}})),
                       Contains("one for each of the 2 tensors: received 3"), ValueError);
  CHECK_THROWS_WITH_AS(ragged.padded_batch(0), Contains("batch_size must be at least 1"), ValueError);
}
