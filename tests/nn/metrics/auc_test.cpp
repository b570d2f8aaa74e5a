#include <ktape/nn/metrics/confusion.hpp>
#include <ktape/ops/operators.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;

TEST_CASE("the area under a perfect curve is 1, under a reversed curve 0") {
  const Tensor t = doubles({0, 0, 1, 1}), p = doubles({0.1, 0.2, 0.8, 0.9});
  CHECK(close(nn::AUC()(t, p).item<double>(), 1, {.rtol = 1e-5}));
  CHECK(close(nn::AUC()(t, 1 - p).item<double>(), 0, {.atol = 1e-6}));
  CHECK(close(nn::AUC({.curve = "PR"})(t, p).item<double>(), 1, {.rtol = 1e-5}));
  CHECK(close(nn::AUC({.thresholds = std::vector<double>{0.5}})(t, p).item<double>(), 1, {.rtol = 1e-5}));
}

TEST_CASE("the area is the share of pairs in the right order") {
  const Tensor y = doubles({0, 0, 1, 1}), p = doubles({0.1, 0.6, 0.4, 0.9});
  CHECK(close(nn::AUC()(y, p).item<double>(), 0.75, {.rtol = 1e-5}));
}

TEST_CASE("with several labels the area is the mean of the columns") {
  const Tensor y = doubles({{0, 1}, {1, 0}}), p = doubles({{0.2, 0.3}, {0.7, 0.8}});
  CHECK(close(nn::AUC({.multi_label = true})(y, p).item<double>(), 0.5, {.rtol = 1e-5}));
  CHECK(close(nn::AUC({.multi_label = true, .label_weights = std::vector<double>{3, 1}})(y, p).item<double>(),
              0.75, {.rtol = 1e-5}));
}
