#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("reshaping layers keep the batch and the order of the elements") {
  const Tensor x = counted({2, 3, 4});
  CHECK(nn::Flatten()(x).shape() == Shape{2, 12});
  CHECK(nn::Reshape({-1, 2})(x).shape() == Shape{2, 6, 2});
  CHECK(values(nn::Reshape({4, 3})(x)) == values(x));
  CHECK(values(nn::Permute({2, 1})(x)) == values(K::permute_dimensions(x, {0, 2, 1})));
  CHECK(values(nn::RepeatVector(2)(doubles({{1, 2}}))) == Values{1, 2, 1, 2});
}

TEST_CASE("the shape is known before the values are") {
  CHECK(nn::Reshape({-1, 4}).compute_output_shape({None, 8}) == Shape{None, 2, 4});
  CHECK(nn::Flatten().compute_output_shape({None, 3, None}) == Shape{None, None});
  CHECK(nn::Permute({3, 1, 2}).compute_output_shape({None, 4, 5, 6}) == Shape{None, 6, 4, 5});
}

TEST_CASE("shapes that do not fit are refused") {
  CHECK_THROWS_AS(nn::Reshape({5})(K::ones({2, 3, 4})), ValueError);
  CHECK_THROWS_AS(nn::Permute({1, 3})(K::ones({2, 3, 4})), ValueError);
  CHECK_THROWS_AS(nn::RepeatVector(2)(K::ones({2, 3, 4})), ValueError);
}
