#include <ktape/nn/losses/probabilistic.hpp>

#include <cmath>

#include "../../ops/check.hpp"

using namespace ktape;
namespace L = ktape::nn::losses;

TEST_CASE("crossentropies are mean negative logarithms of the true class's probability") {
  const Tensor p = doubles({{0.5, 0.25, 0.25}, {0.125, 0.75, 0.125}});
  const Values wanted{-std::log(0.25), -std::log(0.75)};
  CHECK(close(values(L::categorical_crossentropy(doubles({{0, 0, 1}, {0, 1, 0}}), p)), wanted));
  CHECK(close(values(L::sparse_categorical_crossentropy(ints({2, 1}), p)), wanted));
  const double binary = -(std::log(0.75) + std::log(0.5)) / 2;
  CHECK(close(values(L::binary_crossentropy(doubles({{1, 0}}), doubles({{0.75, 0.5}}))), Values{binary}));
}

TEST_CASE("label smoothing moves a share of each target to the mean") {
  const Tensor p = doubles({{0.5, 0.25, 0.25}}), y = doubles({{1, 0, 0}});
  const double smooth = -(0.8 * std::log(0.5) + 0.2 * std::log(0.25));
  CHECK(close(values(L::categorical_crossentropy(y, p, {.label_smoothing = 0.3})), Values{smooth}));
}

TEST_CASE("a focal loss counts certain predictions less") {
  const Tensor y = doubles({{1}}), p = doubles({{0.75}});
  const double plain = -std::log(0.75);
  CHECK(close(values(L::binary_focal_crossentropy(y, p, {.gamma = 2})), Values{0.0625 * plain}));
}

TEST_CASE("the divergence of a distribution from itself is 0") {
  const Tensor p = doubles({{0.5, 0.25, 0.25}});
  CHECK(values(L::kl_divergence(p, p)) == Values{0});
  const double moved = 0.5 * std::log(2.0) + 0.25 * std::log(0.5);
  CHECK(close(values(L::kl_divergence(p, doubles({{0.25, 0.5, 0.25}}))), Values{moved}));
}

TEST_CASE("poisson is p - y log(p)") {
  CHECK(close(values(L::poisson(doubles({{2, 0}}), doubles({{4, 1}}))),
              Values{(4 - 2 * std::log(4.0) + 1) / 2}, {.rtol = 1e-6}));
}
