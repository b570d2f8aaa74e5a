// Equivalent weights and masks, in all shapes that Keras accepts, give equal results.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

/// Returns a metric's result, for weights given as `sample_weight`, or as `mask`.
double weighed(const nn::Metric& metric, const Tensor& y_true, const Tensor& y_pred, const Tensor& weights,
               bool as_mask) {
  metric.reset_state();
  const nn::MetricCallOptions options{.sample_weight = as_mask ? Tensor() : weights,
                                      .mask = as_mask ? weights : Tensor()};
  return K::sum(metric(y_true, y_pred, options)).item<double>();
}

struct Row {
  const char* name;
  nn::Metric metric;
  Tensor y_true, y_pred;
  bool by_sample = false;  ///< whether a sample has one value, of all its numbers
};

/// Checks that weights of 0 for samples leave these out, whatever the shape of the weights.
void check(const Row& row, const Tensor& kept, const ktape::ArrayLike& places) {
  const Tensor rows = ints(places);
  const Tensor want_true = K::gather(row.y_true, rows), want_pred = K::gather(row.y_pred, rows);
  row.metric.reset_state();
  const double wanted = K::sum(row.metric(want_true, want_pred)).item<double>();
  std::vector<Tensor> shapes{kept, K::expand_dims(kept)};
  if (row.y_pred.ndim() > 1 && !row.by_sample)
    shapes.push_back(K::expand_dims(kept) * K::ones({1, row.y_pred.shape()[1]}, {.dtype = "float64"}));
  for (const Tensor& weights : shapes)
    for (const bool as_mask : {false, true}) {
      CAPTURE(row.name);
      CAPTURE(weights.shape());
      CAPTURE(as_mask);
      CHECK(weighed(row.metric, row.y_true, row.y_pred, weights, as_mask) == doctest::Approx(wanted));
    }
}

}  // namespace

TEST_CASE("metrics take weights and masks of (n,) and (n, 1), and one for each value") {
  const Tensor kept = doubles({1, 0, 1, 1});
  const Tensor y = doubles({1, 1, 0, 1}), p = doubles({.9, .2, .6, .4}), classes = doubles({2, 1, 0, 1});
  const Tensor hot = doubles({{1, 0}, {0, 1}, {0, 1}, {1, 0}}),
               scores = doubles({{.9, .2}, {.7, .1}, {.3, .4}, {.2, .5}});
  const auto column = [](const Tensor& x) { return K::expand_dims(x); };
  for (const Row& row :
       std::vector<Row>{{"MeanIoU", nn::MeanIoU({.num_classes = 3}), classes, doubles({2, 0, 1, 1})},
                        {"MeanIoU of columns", nn::MeanIoU({.num_classes = 3}), column(classes),
                         column(doubles({2, 0, 1, 1}))},
                        {"BinaryIoU", nn::BinaryIoU(), y, p},
                        {"OneHotMeanIoU", nn::OneHotMeanIoU({.num_classes = 2}), hot, scores, true},
                        {"F1Score", nn::F1Score(), hot, scores},
                        {"FBetaScore", nn::FBetaScore({.average = "micro", .threshold = 0.3}), hot, scores},
                        {"R2Score", nn::R2Score(), hot, scores},
                        {"Precision", nn::Precision(), y, p},
                        {"Recall of columns", nn::Recall(), column(y), column(p)},
                        {"Precision of a class", nn::Precision({.class_id = 1}), hot, scores, true},
                        {"TruePositives", nn::TruePositives(), hot, scores},
                        {"AUC", nn::AUC(), y, p},
                        {"AUC of labels", nn::AUC({.multi_label = true}), hot, scores},
                        {"BinaryAccuracy", nn::BinaryAccuracy(), column(y), column(p)},
                        {"SparseCategoricalAccuracy", nn::SparseCategoricalAccuracy(), doubles({1, 1, 0, 1}),
                         scores, true},
                        {"mean_absolute_error", nn::Metric("mae"), hot, scores, true}}) {
    check(row, kept, {0, 2, 3});
  }
}

TEST_CASE("metrics of sequences take weights for samples, for steps, and for columns of steps") {
  const Tensor y = doubles({{1, 0, 1}, {1, 1, 0}}), p = doubles({{.9, .4, .2}, {.1, .8, .7}});
  const Tensor steps = doubles({{1, 1, 0}, {0, 1, 1}}), samples = doubles({0, 1});
  for (const nn::Metric& metric : {nn::Metric(nn::BinaryIoU()), nn::Metric(nn::Precision()),
                                   nn::Metric(nn::AUC()), nn::Metric(nn::FalsePositives())}) {
    CAPTURE(metric.name());
    const auto result = [&](const Tensor& t, const Tensor& q, const Tensor& w, bool as_mask = false) {
      return weighed(metric, t, q, w, as_mask);
    };
    const double by_step = result(doubles({1, 0, 1, 0}), doubles({.9, .4, .8, .7}), Tensor());
    CHECK(result(y, p, steps) == by_step);
    CHECK(result(y, p, steps, true) == by_step);
    CHECK(result(K::expand_dims(y), K::expand_dims(p), steps) == by_step);
    CHECK(result(y, p, K::expand_dims(steps)) == by_step);
    const double by_sample = result(doubles({1, 1, 0}), doubles({.1, .8, .7}), Tensor());
    CHECK(result(y, p, samples) == by_sample);
    CHECK(result(y, p, K::expand_dims(samples), true) == by_sample);
  }
  const auto iou = nn::MeanIoU({.num_classes = 2});
  CHECK_THROWS_WITH_AS(iou(y, y, {.sample_weight = doubles({1, 0, 1})}),
                       "[MeanIoU] sample_weight and mask must have the shape of the values, or their first "
                       "axes: received (3,) for values=(2, 3)",
                       ValueError);
}

TEST_CASE("weights of classes and of samples are multiplied sample by sample") {
  nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  model.compile({.optimizer = nn::SGD(0.0), .loss = "mse"});
  const Tensor x = doubles({{1, 0}, {0, 1}, {1, 1}}), y = doubles({0, 1, 1});
  const auto loss = [&](const Tensor& sample_weight, const nn::ClassWeight& class_weight) {
    return model.train_on_batch(x, y, {.sample_weight = sample_weight, .class_weight = class_weight})["loss"];
  };
  const double wanted = loss(doubles({2, 12, 20}), {});
  CHECK(loss(doubles({2, 3, 5}), {{0, 1.}, {1, 4.}}) == doctest::Approx(wanted));
  CHECK(loss(doubles({{2}, {3}, {5}}), {{0, 1.}, {1, 4.}}) == doctest::Approx(wanted));
}

TEST_CASE("accuracies and correlations check the shapes of targets and predictions") {
  const Tensor column = doubles({{1}, {0}}), pair = doubles({{1, 0}, {0, 1}});
  for (const char* name :
       {"binary_accuracy", "categorical_accuracy", "pearson_correlation", "concordance_correlation"}) {
    CAPTURE(name);
    const nn::Metric metric(name);
    CHECK_THROWS_WITH_AS(metric(column, pair),
                         (std::string("[") + name +
                          "] y_true and y_pred must have one shape: received y_true=(2, 1), y_pred=(2, 2)")
                             .c_str(),
                         ValueError);
    CHECK_THROWS_AS(metric(doubles({{1, 0}}), pair), ValueError);
    CHECK_NOTHROW(metric(pair, pair));
  }
  CHECK_THROWS_WITH_AS(nn::Accuracy()(doubles({1, 0, 1}), doubles({1, 0})),
                       "[accuracy] y_true and y_pred must have one shape: received y_true=(3,), y_pred=(2,)",
                       ValueError);
  for (const char* name : {"sparse_categorical_accuracy", "sparse_top_k_categorical_accuracy"})
    CHECK_THROWS_WITH_AS(nn::Metric{name}(doubles({1, 0, 1}), pair),
                         (std::string("[") + name +
                          "] y_true must have a class for each of the samples (2,): "
                          "received y_true=(3,), y_pred=(2, 2)")
                             .c_str(),
                         ValueError);
}
