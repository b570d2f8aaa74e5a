#include <ktape/nn/metrics/confusion.hpp>
#include <ktape/ops/operators.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

double number(const nn::Metric& metric) { return metric.result().item<double>(); }

}  // namespace

TEST_CASE("confusion metrics at several thresholds, in any order") {
  const Tensor t = doubles({0, 1, 1, 0}), p = doubles({0.2, 0.4, 0.8, 0.6});
  const nn::TruePositives tp({.thresholds = {0.7, 0.1, 0.5}});
  tp.update_state(t, p);
  CHECK(values(tp.result()) == Values{1, 2, 1});
  const nn::Precision precision;
  precision.update_state(t, p);
  CHECK(number(precision) == 0.5);
  const nn::Recall top({.top_k = 1});
  top.update_state(doubles({{0, 1, 1}}), doubles({{-3, -1, -2}}));
  CHECK(number(top) == 0.5);
  const nn::TrueNegatives on_edge({.thresholds = 0.2});
  on_edge.update_state(K::constant({0.f}), K::constant({0.2f}));  // not above, in its own dtype
  CHECK(number(on_edge) == 1);
}

TEST_CASE("precision at a recall is the best precision of the thresholds that reach the recall") {
  const Tensor y = doubles({0, 0, 1, 1, 1}), p = doubles({0.1, 0.55, 0.3, 0.7, 0.9});
  CHECK(close(nn::PrecisionAtRecall(0.6)(y, p).item<double>(), 1, {.rtol = 1e-6}));
  CHECK(close(nn::PrecisionAtRecall(0.9)(y, p).item<double>(), 0.75, {.rtol = 1e-6}));
  CHECK(close(nn::SensitivityAtSpecificity(0.9)(y, p).item<double>(), 2 / 3.0, {.rtol = 1e-6}));
}

TEST_CASE("precision and recall are 0 without positive predictions") {
  const Tensor y = doubles({1, 0}), p = doubles({0.2, 0.1});
  CHECK(nn::Precision()(y, p).item<double>() == 0);
  CHECK(nn::Recall()(y, p).item<double>() == 0);
}
