#include <ktape/nn/losses/structured.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;
namespace L = ktape::nn::losses;

TEST_CASE("dice is 1 minus twice the overlap over both areas") {
  const Tensor y = doubles({{1, 1, 0, 0}}), p = doubles({{1, 0, 1, 0}});
  CHECK(close(L::dice(y, p).item<double>(), 0.5, {.rtol = 1e-6}));
  CHECK(close(L::dice(y, y).item<double>(), 0, {.atol = 1e-6}));
}

TEST_CASE("tversky weighs false positives by alpha and false negatives by beta") {
  const Tensor y = doubles({{1, 1, 0, 0}}), p = doubles({{1, 0, 1, 1}});
  CHECK(close(L::tversky(y, p, {.alpha = 0.25, .beta = 0.5}).item<double>(), 0.5, {.rtol = 1e-6}));
  CHECK(close(L::tversky(y, p).item<double>(), 1 - 1 / 2.5, {.rtol = 1e-6}));
}

TEST_CASE("circle is smaller for classes that lie together") {
  const Tensor apart = doubles({{1, 0}, {1, 0}, {0, 1}, {0, 1}});
  const double sorted = K::mean(L::circle(ints({0, 0, 1, 1}), apart)).item<double>();
  const double mixed = K::mean(L::circle(ints({0, 1, 0, 1}), apart)).item<double>();
  CHECK(sorted < mixed);
}
