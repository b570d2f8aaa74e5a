#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/metrics/internal/confusion_counts.hpp>
#include <ktape/ops/creation.hpp>

#include "../../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;
using nn::ConfusionCounts;

namespace {

ConfusionCounts counts_of(const Values& thresholds, const Tensor& t, const Tensor& p, const Tensor& w = {},
                          const ConfusionCounts::Selection& selection = {}) {
  ConfusionCounts counts(thresholds);
  counts.add("metric", t, p, w, selection);
  return counts;
}

}  // namespace

TEST_CASE("a prediction above a threshold is positive") {
  const auto counts = counts_of({0.3, 0.6}, doubles({0, 1, 1, 0}), doubles({0.1, 0.4, 0.9, 0.7})).of(0);
  CHECK(counts.tp == Values{2, 1});
  CHECK(counts.fp == Values{1, 1});
  CHECK(counts.tn == Values{1, 1});
  CHECK(counts.fn == Values{0, 1});
}

TEST_CASE("a prediction at a threshold is not above it, in the predictions' dtype") {
  CHECK(counts_of({0.2}, doubles({1}), doubles({0.2})).of(0).fn == Values{1});
  CHECK(counts_of({0.2}, K::constant({1.f}), K::constant({0.2f})).of(0).fn == Values{1});
  CHECK(counts_of({-1e-7, 0.5, 1 + 1e-7}, doubles({1, 1}), doubles({0, 1})).of(0).tp == Values{2, 1, 0});
}

TEST_CASE("NaN and minus infinity are above no threshold, infinity is above all") {
  const auto counts = counts_of({0.5}, doubles({1, 1, 1}), doubles({NAN, -INFINITY, INFINITY})).of(0);
  CHECK(counts.tp == Values{1});
  CHECK(counts.fn == Values{2});
}

TEST_CASE("weights are summed over batches, and reset by reset_state") {
  ConfusionCounts counts({0.5});
  counts.add("metric", doubles({1, 0}), doubles({0.9, 0.8}), doubles({2, 0.5}), {});
  counts.add("metric", doubles({1}), doubles({0.9}), {}, {});
  CHECK(counts.of(0).tp == Values{3});
  CHECK(counts.of(0).fp == Values{0.5});
  counts.reset();
  CHECK(counts.labels() == 0);
  CHECK(counts.of(0).tp == Values{0});
}

TEST_CASE("columns are labels, counted alone or together") {
  const Tensor t = doubles({{1, 0}, {1, 1}}), p = doubles({{0.9, 0.9}, {0.1, 0.9}});
  const ConfusionCounts alone = counts_of({0.5}, t, p, {}, {.by_label = true});
  CHECK(alone.labels() == 2);
  CHECK(alone.of(0).fn == Values{1});
  CHECK(alone.of(1).fp == Values{1});
  CHECK(alone.of(2).tp == Values{0});
  CHECK(counts_of({0.5}, t, p).of(0).tp == Values{2});
}

TEST_CASE("top_k keeps the k largest predictions of a row, the first of equal predictions") {
  const Tensor t = doubles({{1, 1, 1}}), p = doubles({{0.6, 0.7, 0.6}});
  CHECK(counts_of({0.5}, t, p, {}, {.top_k = 2}).of(0).tp == Values{2});
  CHECK(counts_of({0.5}, t, p, {}, {.top_k = 2, .class_id = 0}).of(0).tp == Values{1});
  CHECK(counts_of({0.5}, t, p, {}, {.top_k = 2, .class_id = 2}).of(0).fn == Values{1});
  CHECK(counts_of({0.5}, t, p, {}, {.top_k = 9}).of(0).tp == Values{3});
}

TEST_CASE("counts are kept and restored, without their labels before the first batch") {
  ConfusionCounts counts =
      counts_of({0.3, 0.6}, doubles({{1, 0}}), doubles({{0.5, 0.9}}), {}, {.by_label = true});
  nn::Archive archive;
  counts.state(archive);
  ConfusionCounts again({0.3, 0.6});
  nn::Archive kept(archive.entries());
  again.state(kept);
  CHECK(again.labels() == 2);
  CHECK(again.of(0).tp == Values{1, 0});
  CHECK(again.of(1).fp == Values{1, 1});
  ConfusionCounts others({0.5});
  nn::Archive wrong(archive.entries());
  CHECK_THROWS_WITH_AS(others.state(wrong), "[Archive] '0/positive' must have 2 numbers: received 3",
                       ValueError);
  CHECK(others.labels() == 0);
  others.add("metric", doubles({1}), doubles({0.9}), {}, {});
  CHECK(others.of(0).tp == Values{1});
}

TEST_CASE("errors name the metric, and change no counts") {
  ConfusionCounts counts({0.5});
  const auto check = [&](const Tensor& t, const Tensor& p, const ConfusionCounts::Selection& selection,
                         const char* text) {
    CHECK_THROWS_WITH_AS(counts.add("auc", t, p, {}, selection), Contains(text), ValueError);
    CHECK(counts.labels() == 0);
  };
  check(doubles({1, 0, 1}), doubles({0.5, 0.5}), {},
        "[auc] y_true and y_pred must have one shape: received y_true=(3,), y_pred=(2,)");
  check(doubles({1, 0}), doubles({0.5, 0.5}), {.by_label = true},
        "[auc] with multi_label y_pred must have shape (samples, labels): received y_pred=(2,)");
  check(doubles({{1, 0}}), doubles({{0.5, 0.5}}), {.class_id = 2},
        "[auc] class_id must be one of the classes: received class_id=2 for (1, 2)");
  check(doubles({{1, 0}}), doubles({{0.5, 0.5}}), {.class_id = -1}, "received class_id=-1");
  counts.add("auc", doubles({{1, 0}}), doubles({{0.5, 0.5}}), {}, {.by_label = true});
  CHECK_THROWS_WITH_AS(
      counts.add("auc", doubles({{1, 0, 1}}), doubles({{0.5, 0.5, 0.5}}), {}, {.by_label = true}),
      "[auc] all batches must have 2 labels: received y_pred=(1, 3)", ValueError);
  CHECK_THROWS_AS(
      counts.add("auc", doubles({{1, 0}}), doubles({{0.5, 0.5}}), doubles({1, 2, 3}), {.by_label = true}),
      ValueError);
}
