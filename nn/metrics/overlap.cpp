#include <ktape/nn/losses/reduction.hpp>
#include <ktape/nn/metrics/overlap.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(FBetaScoreOptions& o, F&& field) {
  field("average", o.average);
  field("beta", o.beta);
  field("threshold", o.threshold);
  field("name", o.name);
}
template <class F>
void fields(F1ScoreOptions& o, F&& field) {
  field("average", o.average);
  field("threshold", o.threshold);
  field("name", o.name);
}
template <class F>
void fields(IoUOptions& o, F&& field) {
  field("num_classes", o.num_classes);
  field("target_class_ids", o.target_class_ids);
  field("name", o.name);
  field("ignore_class", o.ignore_class);
  field("sparse_y_true", o.sparse_y_true);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
}
template <class F>
void fields(MeanIoUOptions& o, F&& field) {
  field("num_classes", o.num_classes);
  field("name", o.name);
  field("ignore_class", o.ignore_class);
  field("sparse_y_true", o.sparse_y_true);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
}
template <class F>
void fields(BinaryIoUOptions& o, F&& field) {
  field("target_class_ids", o.target_class_ids);
  field("threshold", o.threshold);
  field("name", o.name);
}
template <class F>
void fields(OneHotIoUOptions& o, F&& field) {
  field("num_classes", o.num_classes);
  field("target_class_ids", o.target_class_ids);
  field("name", o.name);
  field("ignore_class", o.ignore_class);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
}
template <class F>
void fields(OneHotMeanIoUOptions& o, F&& field) {
  field("num_classes", o.num_classes);
  field("name", o.name);
  field("ignore_class", o.ignore_class);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
}

namespace {

/// The implementation of FBetaScore and F1Score.
template <class Options>
struct ScoreImpl final : MetricWith<Options> {
  ScoreImpl(const char* class_name, const char* name, const Options& o, double beta)
      : MetricWith<Options>(class_name, o, name), beta_(beta) {
    if (o.average && *o.average != "micro" && *o.average != "macro" && *o.average != "weighted")
      fail("[", class_name, "] average must be 'micro', 'macro', 'weighted' or None: received average='",
           *o.average, "'");
    if (!(beta > 0)) fail("[", class_name, "] beta must be above 0: received beta=", beta);
    if (o.threshold && !(*o.threshold > 0 && *o.threshold <= 1))
      fail("[", class_name, "] threshold must be in (0, 1]: received threshold=", *o.threshold);
  }

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    if (y_pred.ndim() != 2 || y_true.shape() != y_pred.shape())
      fail("[", this->class_name(),
           "] y_true and y_pred must have shape (samples, classes): received y_true=", y_true.shape(),
           ", y_pred=", y_pred.shape());
    if (!tp_.empty() && static_cast<std::int64_t>(tp_.size()) != y_pred.shape()[1])
      fail("[", this->class_name(), "] all batches must have ", tp_.size(),
           " classes: received y_pred=", y_pred.shape());
    const Tensor positive = decided(y_pred), t = K::as_dtype(y_true, "float64");
    const Tensor w = sample_weight.defined() ? weights_like(this->class_name(), y_pred.shape(), sample_weight)
                                             : K::ones_like(t);
    add(tp_, positive * t * w);
    add(fp_, positive * (1 - t) * w);
    add(fn_, (1 - positive) * t * w);
  }

  Tensor result() const override {
    const std::size_t n = tp_.size();
    if (this->options.average == "micro")
      return number_result(score(std::accumulate(tp_.begin(), tp_.end(), 0.0),
                                 std::accumulate(fp_.begin(), fp_.end(), 0.0),
                                 std::accumulate(fn_.begin(), fn_.end(), 0.0)));
    std::vector<double> scores;
    double mean = 0, weighted = 0, support = 0;
    for (std::size_t i = 0; i < n; ++i) {
      scores.push_back(score(tp_[i], fp_[i], fn_[i]));
      mean += scores[i] / static_cast<double>(n);
      weighted += scores[i] * (tp_[i] + fn_[i]);
      support += tp_[i] + fn_[i];
    }
    if (!this->options.average) return numbers_result(scores);
    return number_result(this->options.average == "macro" ? mean : weighted / (support + K::epsilon()));
  }

  void reset_state() override {
    for (auto* state : {&tp_, &fp_, &fn_}) state->clear();
  }
  void state(Archive& state) override {
    std::vector<double> tp = tp_, fp = fp_, fn = fn_;  // swapped at the end: a failure changes nothing
    state("true_positives", tp);
    state("false_positives", fp, tp.size());
    state("false_negatives", fn, tp.size());
    tp_.swap(tp), fp_.swap(fp), fn_.swap(fn);
  }

 private:
  /// Returns 1 where the prediction is positive, else 0.
  Tensor decided(const Tensor& p) const {
    if (this->options.threshold) return K::as_dtype(p > *this->options.threshold, "float64");
    // No class is positive in a row of zeros.
    return K::as_dtype(K::greater_equal(p, K::max(p, -1, true)), "float64") *
           K::as_dtype(K::abs(p) > 1e-9, "float64");
  }
  static void add(std::vector<double>& to, const Tensor& values) {
    const Tensor sums = K::sum(values, 0);
    to.resize(static_cast<std::size_t>(sums.size()));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += sums.pointer<double>()[i];
  }
  double score(double tp, double fp, double fn) const {
    const double epsilon = K::epsilon(), square = beta_ * beta_;
    const double precision = tp / (tp + fp + epsilon), recall = tp / (tp + fn + epsilon);
    return (1 + square) * precision * recall / (square * precision + recall + epsilon);
  }
  double beta_;
  std::vector<double> tp_, fp_, fn_;
};

/// The options for reading targets and predictions.
struct Overlap {
  std::int64_t classes;
  std::vector<std::int64_t> targets;
  std::optional<std::int64_t> ignored = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  int axis = -1;
  std::optional<double> threshold = {};
};

constexpr std::int64_t most_classes = 1 << 20;

template <class Options>
struct IoUImpl final : MetricWith<Options> {
  IoUImpl(const char* class_name, const Options& o, Overlap how)
      : MetricWith<Options>(class_name, o), how_(std::move(how)) {
    if (how_.classes < 1 || how_.classes > most_classes)
      fail("[", class_name, "] num_classes must be in [1, ", most_classes,
           "]: received num_classes=", how_.classes);
    for (std::int64_t target : how_.targets)
      if (target < 0 || target >= how_.classes)
        fail("[", class_name, "] a target class must be in [0, ", how_.classes, "): received ", target);
    reset_state();
  }

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    const Tensor t = classes("target", y_true, how_.sparse_y_true, {}),
                 p = classes("prediction", y_pred, how_.sparse_y_pred, how_.threshold);
    if (t.size() != p.size())
      fail("[", this->class_name(),
           "] y_true and y_pred must have the same number of samples: received y_true=", y_true.shape(),
           ", y_pred=", y_pred.shape());
    const auto *from_t = t.template pointer<std::int64_t>(), *from_p = p.template pointer<std::int64_t>();
    const auto counts = [&](std::int64_t i) { return from_t[i] != how_.ignored; };
    for (std::int64_t i = 0; i < t.size(); ++i)
      if (counts(i)) check(from_t[i]), check(from_p[i]);
    const Tensor w = weights_like(this->class_name(), p.shape(), sample_weight);
    for (std::int64_t i = 0; i < t.size(); ++i)
      if (counts(i)) add(from_t[i], from_p[i], w.defined() ? w.template pointer<double>()[i] : 1);
  }

  Tensor result() const override {
    double total = 0, present = 0;
    for (std::int64_t target : how_.targets) {
      const auto at = static_cast<std::size_t>(target);
      const double all = true_[at] + predicted_[at] - both_[at];
      present += all > 1e-9;
      total += both_[at] / (all + K::epsilon());
    }
    return number_result(ratio(total, present));
  }

  void reset_state() override {
    for (auto* sums : {&true_, &predicted_, &both_}) sums->assign(static_cast<std::size_t>(how_.classes), 0);
  }
  void state(Archive& state) override {
    state("true", true_, true_.size());
    state("predicted", predicted_, predicted_.size());
    state("both", both_, both_.size());
  }

 private:
  Tensor classes(const char* name, const Tensor& y, bool sparse, std::optional<double> threshold) const {
    Tensor out = y;
    if (!sparse) out = K::argmax(y, how_.axis);
    else if (threshold) out = y >= *threshold;
    return K::class_numbers(this->class_name(), name, out);
  }
  void check(std::int64_t at) const {
    if (at < 0 || at >= how_.classes)
      fail("[", this->class_name(), "] a class must be in [0, ", how_.classes, "): received ", at);
  }
  void add(std::int64_t wanted, std::int64_t predicted, double weight) {
    true_[static_cast<std::size_t>(wanted)] += weight;
    predicted_[static_cast<std::size_t>(predicted)] += weight;
    if (wanted == predicted) both_[static_cast<std::size_t>(wanted)] += weight;
  }
  Overlap how_;
  std::vector<double> true_, predicted_,
      both_;  ///< sums of the weights of the samples whose target, whose prediction, or both are the class
};

std::vector<std::int64_t> all_classes(std::int64_t count) {
  std::vector<std::int64_t> classes(
      static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most_classes)));
  std::iota(classes.begin(), classes.end(), 0);
  return classes;
}

template <class Options>
std::shared_ptr<MetricImpl> overlap(const char* class_name, const Options& o, Overlap how) {
  return std::make_shared<IoUImpl<Options>>(class_name, o, std::move(how));
}

}  // namespace

FBetaScore::FBetaScore(const FBetaScoreOptions& options)
    : Metric(std::make_shared<ScoreImpl<FBetaScoreOptions>>("FBetaScore", "fbeta_score", options,
                                                            options.beta)) {}
F1Score::F1Score(const F1ScoreOptions& options)
    : Metric(std::make_shared<ScoreImpl<F1ScoreOptions>>("F1Score", "f1_score", options, 1)) {}

IoU::IoU(const IoUOptions& o)
    : Metric(overlap(
          "IoU", o,
          {o.num_classes, o.target_class_ids, o.ignore_class, o.sparse_y_true, o.sparse_y_pred, o.axis})) {}
MeanIoU::MeanIoU(const MeanIoUOptions& o)
    : Metric(overlap("MeanIoU", o,
                     {o.num_classes, all_classes(o.num_classes), o.ignore_class, o.sparse_y_true,
                      o.sparse_y_pred, o.axis})) {}
BinaryIoU::BinaryIoU(const BinaryIoUOptions& o)
    : Metric(
          overlap("BinaryIoU", o, {.classes = 2, .targets = o.target_class_ids, .threshold = o.threshold})) {}
OneHotIoU::OneHotIoU(const OneHotIoUOptions& o)
    : Metric(overlap("OneHotIoU", o,
                     {o.num_classes, o.target_class_ids, o.ignore_class, false, o.sparse_y_pred, o.axis})) {}
OneHotMeanIoU::OneHotMeanIoU(const OneHotMeanIoUOptions& o)
    : Metric(overlap(
          "OneHotMeanIoU", o,
          {o.num_classes, all_classes(o.num_classes), o.ignore_class, false, o.sparse_y_pred, o.axis})) {}

void add_overlap_metrics(ClassRegistry& registry) {
  registry.add<FBetaScore, FBetaScoreOptions>("FBetaScore");
  registry.add<F1Score, F1ScoreOptions>("F1Score");
  registry.add<IoU, IoUOptions>("IoU");
  registry.add<MeanIoU, MeanIoUOptions>("MeanIoU");
  registry.add<BinaryIoU, BinaryIoUOptions>("BinaryIoU");
  registry.add<OneHotIoU, OneHotIoUOptions>("OneHotIoU");
  registry.add<OneHotMeanIoU, OneHotMeanIoUOptions>("OneHotMeanIoU");
}

}  // namespace ktape::nn
