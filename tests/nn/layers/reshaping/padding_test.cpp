#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("padding and cropping undo each other") {
  const Tensor x = counted({2, 3, 4, 2});
  const Tensor padded = nn::ZeroPadding2D({{1, 2}, {3, 0}})(x);
  CHECK(padded.shape() == Shape{2, 6, 7, 2});
  CHECK(values(nn::Cropping2D({{1, 2}, {3, 0}})(padded)) == values(x));
  CHECK(values(nn::ZeroPadding1D(1)(doubles({{{7}}}))) == Values{0, 7, 0});
  CHECK(values(nn::Cropping1D({1, 0})(doubles({{{7}, {8}}}))) == Values{8});
}

TEST_CASE("upsampling repeats steps and pixels, or interpolates") {
  CHECK(values(nn::UpSampling1D(2)(doubles({{{1}, {2}}}))) == Values{1, 1, 2, 2});
  const Tensor x = doubles({{{{0}, {4}}}});
  CHECK(values(nn::UpSampling2D({1, 2})(x)) == Values{0, 0, 4, 4});
  CHECK(values(nn::UpSampling2D({1, 2}, {.interpolation = "bilinear"})(x)) == Values{0, 1, 3, 4});
}

TEST_CASE("a crop that leaves nothing is refused") {
  CHECK_THROWS_AS(nn::Cropping1D({2, 2})(K::ones({1, 3, 1})), ValueError);
}
