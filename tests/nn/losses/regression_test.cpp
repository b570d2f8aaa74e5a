#include <ktape/nn/losses/regression.hpp>

#include <cmath>

#include "../../ops/check.hpp"

using namespace ktape;
namespace L = ktape::nn::losses;

TEST_CASE("errors are means over the last axis") {
  const Tensor y = doubles({{1, 2}, {4, 8}}), p = doubles({{2, 4}, {4, 6}});
  CHECK(values(L::mean_squared_error(y, p)) == Values{2.5, 2});
  CHECK(values(L::mean_absolute_error(y, p)) == Values{1.5, 1});
  CHECK(close(values(L::mean_absolute_percentage_error(y, p)), Values{100, 12.5}));
  const double first = std::log(3 / 2.0), second = std::log(5 / 3.0);
  CHECK(close(values(L::mean_squared_logarithmic_error(y, p))[0], (first * first + second * second) / 2,
              {.rtol = 1e-12}));
}

TEST_CASE("huber is quadratic up to delta and linear beyond") {
  const Tensor y = doubles({{0, 0}}), p = doubles({{0.5, 3}});
  CHECK(values(L::huber(y, p)) == Values{(0.125 + 2.5) / 2});
  CHECK(values(L::huber(y, p, {.delta = 2})) == Values{(0.125 + 4) / 2});
}

TEST_CASE("log_cosh does not overflow for large errors") {
  const Tensor y = doubles({{0}, {0}}), p = doubles({{1}, {1e4}});
  const Values loss = values(L::log_cosh(y, p));
  CHECK(close(loss[0], std::log(std::cosh(1.0)), {.rtol = 1e-12}));
  CHECK(close(loss[1], 1e4 - std::log(2.0)));
}

TEST_CASE("cosine similarity is -1 for vectors of one direction, 0 for the zero vector") {
  const Tensor y = doubles({{1, 2}, {1, 0}, {1, 1}}), p = doubles({{2, 4}, {0, 5}, {0, 0}});
  CHECK(close(values(L::cosine_similarity(y, p)), Values{-1, 0, 0}, {.rtol = 1e-12}));
}
