#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("merging layers combine their inputs element by element") {
  const Tensor a = doubles({{1, 2}}), b = doubles({{3, 5}}), c = doubles({{-1, 8}});
  CHECK(values(nn::Add()({a, b, c})) == Values{3, 15});
  CHECK(values(nn::Subtract()({a, b})) == Values{-2, -3});
  CHECK(values(nn::Multiply()({a, b, c})) == Values{-3, 80});
  CHECK(values(nn::Average()({a, b, c})) == Values{1, 5});
  CHECK(values(nn::Maximum()({a, b, c})) == Values{3, 8});
  CHECK(values(nn::Minimum()({a, b, c})) == Values{-1, 2});
}

TEST_CASE("Concatenate joins along an axis, Dot contracts one") {
  const Tensor a = doubles({{1, 2}, {3, 4}}), b = doubles({{5}, {6}});
  CHECK(values(nn::Concatenate()({a, b})) == Values{1, 2, 5, 3, 4, 6});
  CHECK(nn::Concatenate({.axis = 1})({counted({2, 3, 4}), counted({2, 1, 4})}).shape() == Shape{2, 4, 4});
  CHECK(values(nn::Dot(1)({a, a})) == Values{5, 25});
}

TEST_CASE("inputs of the merging functions broadcast from the right") {
  CHECK(nn::Add()({K::ones({2, 3, 4}), K::ones({2, 1, 4})}).shape() == Shape{2, 3, 4});
  CHECK_THROWS_AS(nn::Add()({K::ones({2, 3}), K::ones({2, 4})}), ValueError);
  CHECK_THROWS_AS(nn::Subtract()({K::ones({2}), K::ones({2}), K::ones({2})}), ValueError);
  CHECK_THROWS_AS(nn::Concatenate()({K::ones({2, 3, 4}), K::ones({2, 4, 4})}), ValueError);
}
