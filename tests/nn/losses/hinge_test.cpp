#include <ktape/nn/losses/hinge.hpp>

#include "../../ops/check.hpp"

using namespace ktape;
namespace L = ktape::nn::losses;

TEST_CASE("hinge is the mean of max(1 - y p, 0), and targets of 0 count as -1") {
  const Tensor p = doubles({{0.5, -2}, {3, 0.25}});
  CHECK(values(L::hinge(doubles({{1, -1}, {1, -1}}), p)) == Values{0.25, 0.625});
  CHECK(values(L::hinge(doubles({{1, 0}, {1, 0}}), p)) == Values{0.25, 0.625});
  CHECK(values(L::squared_hinge(doubles({{1, -1}, {1, -1}}), p)) == Values{0.125, 0.78125});
}

TEST_CASE("categorical hinge compares the true class with the largest other") {
  const Tensor p = doubles({{0.5, 0.25, 2}, {4, 1, 0}});
  CHECK(values(L::categorical_hinge(doubles({{1, 0, 0}, {1, 0, 0}}), p)) == Values{2.5, 0});
}

TEST_CASE("the classes of hinges have the mean over samples") {
  const Tensor p = doubles({{0.5, -2}, {3, 0.25}}), y = doubles({{1, -1}, {1, -1}});
  CHECK(nn::Hinge()(y, p).item<double>() == 0.4375);
  CHECK(nn::SquaredHinge({.reduction = "sum"})(y, p).item<double>() == 0.90625);
}
