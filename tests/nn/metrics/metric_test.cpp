#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/nn/metrics/accuracy.hpp>
#include <ktape/nn/metrics/confusion.hpp>
#include <ktape/nn/metrics/overlap.hpp>
#include <ktape/nn/metrics/regression.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

double number(const nn::Metric& metric) { return metric.result().item<double>(); }

struct LargestImpl : nn::MetricImpl {
  LargestImpl() : nn::MetricImpl("Largest", "largest") {}
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor&) override {
    largest = std::max(largest, K::max(K::abs(y_true - y_pred)).item<double>());
  }
  Tensor result() const override { return K::full({}, largest); }
  void reset_state() override { largest = 0; }
  double largest = 0;
};
using Largest = nn::MetricOf<LargestImpl>;

}  // namespace

TEST_CASE("a metric is a name, an alias, an object, or any callable under a name") {
  const Tensor t = doubles({{0, 0}, {0, 0}}), p = doubles({{1, 1}, {2, 4}});
  CHECK(nn::Metric("mse")(t, p).item<double>() == 5.5);
  CHECK(nn::Metric("mse").name() == "mse");
  CHECK(nn::Metric("AUC").name() == "AUC");
  CHECK(nn::metrics::MeanSquaredError().name() == "mean_squared_error");
  CHECK(nn::metrics::MeanAbsoluteError()(t, p).item<double>() == 2);
  const nn::Metric largest("largest", [](const Tensor& t, const Tensor& p) { return K::max(K::abs(t - p)); });
  CHECK(largest.name() == "largest");
  CHECK(largest(t, p).item<double>() == 4);
  CHECK(largest(t, t).item<double>() == 2);
  const Largest own;
  own.update_state(t, p);
  CHECK(own->largest == 4);
  CHECK_THROWS_WITH_AS(nn::Metric("acuracy"),
                       "[metric] the name must be one of nn::registered_names(\"metric\"): received "
                       "'acuracy'; did you mean 'Accuracy'?",
                       ValueError);
}

TEST_CASE("every metric is made again from its config, under Keras's name") {
  for (const std::string& name : nn::registered_names("metric")) {
    if (name.find("At") != std::string::npos || name.find("IoU") != std::string::npos)
      continue;  // need arguments
    CAPTURE(name);
    const nn::Metric metric{nn::Value(nn::Config{{"class_name", name}})};
    CHECK(nn::Metric(nn::from_json(nn::to_json(metric.to_value()))).to_value() == metric.to_value());
  }
  CHECK(nn::RecallAtPrecision(0.5).get_config().at("precision").number() == 0.5);
  CHECK(nn::MeanIoU({.num_classes = 3}).name() == "mean_io_u");
  CHECK(nn::F1Score().name() == "f1_score");
  CHECK(nn::LogCoshError().name() == "logcosh");
  CHECK(nn::TopKCategoricalAccuracy().name() == "top_k_categorical_accuracy");
}

TEST_CASE("state adds up over batches of different sizes and starts anew after reset_state") {
  const nn::BinaryAccuracy accuracy;
  accuracy.update_state(doubles({1, 1, 1}), doubles({0.9, 0.9, 0.9}));
  accuracy.update_state(doubles({1}), doubles({0.1}));
  CHECK(number(accuracy) == 0.75);
  accuracy.reset_state();
  accuracy.update_state(doubles({1}), doubles({0.1}));
  CHECK(number(accuracy) == 0);
  const nn::Mean mean;
  CHECK(number(mean) == 0);
  mean.update_state(doubles({1, 2}), {.sample_weight = doubles({3, 1})});
  CHECK(number(mean) == 1.25);
  const nn::Sum sum;
  sum.update_state(doubles({{1, 2}, {3, 4}}));
  CHECK(number(sum) == 10);
}

TEST_CASE("a mask that the predictions carry leaves steps out") {
  const Tensor t = ints({{0, 1}, {1, 1}});
  const Tensor p = doubles({{{0.9, 0.1}, {0.9, 0.1}}, {{0.2, 0.8}, {0.9, 0.1}}});
  const nn::SparseCategoricalAccuracy accuracy;
  accuracy.update_state(t, nn::with_mask(p, K::constant({{true, false}, {true, true}})));
  CHECK(close(number(accuracy), 2 / 3.0, {.rtol = 1e-5}));
}

TEST_CASE("bad input of metrics") {
  CHECK_THROWS_WITH_AS(nn::Precision({.thresholds = {0.5, 1.5}}),
                       "[Precision] thresholds must be in [0, 1]: received 1.5", ValueError);
  CHECK_THROWS_WITH_AS(
      nn::Precision()(doubles({1, 0}), doubles({{1, 0, 1}})),
      "[Precision] y_true and y_pred must have one shape: received y_true=(2,), y_pred=(1, 3)", ValueError);
  CHECK_THROWS_WITH_AS(nn::Recall({.class_id = 3})(doubles({{1, 0}}), doubles({{1, 0}})),
                       "[Recall] class_id must be one of the classes: received class_id=3 for (1, 2)",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::MeanIoU({.num_classes = 2})(ints({0, 2}), ints({0, 1})),
                       "[MeanIoU] a class must be in [0, 2): received 2", ValueError);
  CHECK_THROWS_WITH_AS(
      nn::F1Score()(doubles({1, 0}), doubles({1, 0})),
      "[F1Score] y_true and y_pred must have shape (samples, classes): received y_true=(2,), "
      "y_pred=(2,)",
      ValueError);
  CHECK_THROWS_WITH_AS(nn::RecallAtPrecision(1.5),
                       "[RecallAtPrecision] precision must be in [0, 1]: received precision=1.5", ValueError);
  CHECK_THROWS_AS(nn::R2Score()(doubles({1, 0}), doubles({1, 0})), ValueError);
  const nn::F1Score kept;
  kept.update_state(doubles({{1, 0}}), doubles({{1, 0}}));
  CHECK_THROWS_AS(kept.update_state(doubles({{1, 0, 0}}), doubles({{1, 0, 0}})), ValueError);
  CHECK(close(values(kept.result())[0], 1, {.rtol = 1e-5}));
}

TEST_CASE("the memory that arguments make a metric allocate is bounded") {
  CHECK_THROWS_WITH_AS(nn::AUC({.num_thresholds = 1 << 21}),
                       "[AUC] num_thresholds must be in [2, 1048576]: received num_thresholds=2097152",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      nn::PrecisionAtRecall({.recall = 0.5, .num_thresholds = 0}),
      "[PrecisionAtRecall] num_thresholds must be in [1, 1048576]: received num_thresholds=0", ValueError);
  CHECK_THROWS_WITH_AS(nn::MeanIoU({.num_classes = std::int64_t{1} << 40}),
                       "[MeanIoU] num_classes must be in [1, 1048576]: received num_classes=1099511627776",
                       ValueError);
}
