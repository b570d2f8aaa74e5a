#include <ktape/nn/metrics/confusion.hpp>
#include <ktape/nn/metrics/internal/confusion_counts.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/ops/nn/activations.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(CountOptions& o, F&& field) {
  field("thresholds", o.thresholds);
  field("name", o.name);
}
template <class F>
void fields(PrecisionOptions& o, F&& field) {
  field("thresholds", o.thresholds);
  field("top_k", o.top_k);
  field("class_id", o.class_id);
  field("name", o.name);
}
template <class F>
void fields(SensitivityAtSpecificityOptions& o, F&& field) {
  field("specificity", o.specificity);
  field("num_thresholds", o.num_thresholds);
  field("class_id", o.class_id);
  field("name", o.name);
}
template <class F>
void fields(SpecificityAtSensitivityOptions& o, F&& field) {
  field("sensitivity", o.sensitivity);
  field("num_thresholds", o.num_thresholds);
  field("class_id", o.class_id);
  field("name", o.name);
}
template <class F>
void fields(PrecisionAtRecallOptions& o, F&& field) {
  field("recall", o.recall);
  field("num_thresholds", o.num_thresholds);
  field("class_id", o.class_id);
  field("name", o.name);
}
template <class F>
void fields(RecallAtPrecisionOptions& o, F&& field) {
  field("precision", o.precision);
  field("num_thresholds", o.num_thresholds);
  field("class_id", o.class_id);
  field("name", o.name);
}

namespace {

using Counts = ConfusionCounts::Counts;

std::vector<double> checked(const char* metric, const Thresholds& thresholds) {
  for (double threshold : thresholds.list())
    if (!(threshold >= 0 && threshold <= 1))
      fail("[", metric, "] thresholds must be in [0, 1]: received ", threshold);
  return thresholds.list();
}

/// A metric that computes a number for each threshold from the counts.
template <class Options>
class AtThresholds final : public MetricWith<Options> {
 public:
  using Rate = double (*)(const Counts&, std::size_t);

  AtThresholds(const char* class_name, const Options& o, double otherwise, Rate rate)
      : MetricWith<Options>(class_name, o),
        given_(checked(class_name, o.thresholds)),
        counts_(sorted(given_, otherwise)),
        rate_(rate) {}

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    ConfusionCounts::Selection selection;
    if constexpr (requires { this->options.top_k; })
      selection = {.top_k = this->options.top_k, .class_id = this->options.class_id};
    counts_.add(this->class_name().c_str(), y_true, y_pred, sample_weight, selection);
  }

  Tensor result() const override {
    const Counts counts = counts_.of(0);
    if (given_.size() <= 1) return number_result(rate_(counts, 0));
    std::vector<double> rates;
    for (double threshold : given_) {
      const auto& all = counts_.thresholds();
      rates.push_back(rate_(counts, static_cast<std::size_t>(
                                        std::lower_bound(all.begin(), all.end(), threshold) - all.begin())));
    }
    return numbers_result(rates);
  }

  void reset_state() override { counts_.reset(); }
  void state(Archive& state) override { counts_.state(state); }

 private:
  static std::vector<double> sorted(std::vector<double> thresholds, double otherwise) {
    if (thresholds.empty()) thresholds.push_back(otherwise);
    std::sort(thresholds.begin(), thresholds.end());
    return thresholds;
  }
  std::vector<double> given_;
  ConfusionCounts counts_;
  Rate rate_;
};

double precision(const Counts& c, std::size_t k) { return ratio(c.tp[k], c.tp[k] + c.fp[k]); }
double recall(const Counts& c, std::size_t k) { return ratio(c.tp[k], c.tp[k] + c.fn[k]); }
double specificity(const Counts& c, std::size_t k) { return ratio(c.tn[k], c.tn[k] + c.fp[k]); }

/// Returns the default threshold. With top_k, the k largest predictions are positive at any value.
double otherwise(const PrecisionOptions& o) { return o.top_k ? -1e30 : 0.5; }

/// Returns `count` thresholds from 0 to 1 in even steps; 0.5 for a single threshold.
std::vector<double> even(const char* metric, int count) {
  if (count < 1 || count > most_thresholds)
    fail("[", metric, "] num_thresholds must be in [1, ", most_thresholds,
         "]: received num_thresholds=", count);
  if (count == 1) return {0.5};
  std::vector<double> thresholds;
  for (int i = 0; i < count; ++i) thresholds.push_back(static_cast<double>(i) / (count - 1));
  return thresholds;
}

/// A metric that finds the best value of a rate over the thresholds at which another rate reaches a given
/// value.
template <class Options>
class BestRate final : public MetricWith<Options> {
 public:
  using Rate = double (*)(const Counts&, std::size_t);

  BestRate(const char* class_name, const Options& o, const char* wanted_name, double wanted, Rate best,
           Rate other)
      : MetricWith<Options>(class_name, o),
        wanted_(wanted),
        best_(best),
        other_(other),
        counts_(even(class_name, o.num_thresholds)) {
    if (!(wanted >= 0 && wanted <= 1))
      fail("[", class_name, "] ", wanted_name, " must be in [0, 1]: received ", wanted_name, '=', wanted);
  }

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    counts_.add(this->class_name().c_str(), y_true, y_pred, sample_weight,
                {.class_id = this->options.class_id});
  }
  Tensor result() const override {
    const Counts counts = counts_.of(0);
    double best = 0;
    for (std::size_t k = 0; k < counts.tp.size(); ++k)
      if (other_(counts, k) >= wanted_) best = std::max(best, best_(counts, k));
    return number_result(best);
  }
  void reset_state() override { counts_.reset(); }
  void state(Archive& state) override { counts_.state(state); }

 private:
  double wanted_;
  Rate best_, other_;
  ConfusionCounts counts_;
};

template <class Options>
std::shared_ptr<MetricImpl> at_thresholds(const char* name, const Options& o, double otherwise,
                                          typename AtThresholds<Options>::Rate rate) {
  return std::make_shared<AtThresholds<Options>>(name, o, otherwise, rate);
}

}  // namespace

Thresholds::Thresholds(const Value& value) {
  if (value.is_number()) list_ = {value.number()};
  else if (!value.is_null()) list_ = value.as<std::vector<double>>("[Metric] thresholds");
}

Value Thresholds::to_value() const {
  if (list_.empty()) return {};
  return list_.size() == 1 ? Value(list_[0]) : Value(list_);
}

TruePositives::TruePositives(const CountOptions& options)
    : Metric(at_thresholds("TruePositives", options, 0.5,
                           [](const Counts& c, std::size_t k) { return c.tp[k]; })) {}
FalsePositives::FalsePositives(const CountOptions& options)
    : Metric(at_thresholds("FalsePositives", options, 0.5,
                           [](const Counts& c, std::size_t k) { return c.fp[k]; })) {}
TrueNegatives::TrueNegatives(const CountOptions& options)
    : Metric(at_thresholds("TrueNegatives", options, 0.5,
                           [](const Counts& c, std::size_t k) { return c.tn[k]; })) {}
FalseNegatives::FalseNegatives(const CountOptions& options)
    : Metric(at_thresholds("FalseNegatives", options, 0.5,
                           [](const Counts& c, std::size_t k) { return c.fn[k]; })) {}

Precision::Precision(const PrecisionOptions& options)
    : Metric(at_thresholds("Precision", options, otherwise(options), precision)) {}
Recall::Recall(const PrecisionOptions& options)
    : Metric(at_thresholds("Recall", options, otherwise(options), recall)) {}

SensitivityAtSpecificity::SensitivityAtSpecificity(const SensitivityAtSpecificityOptions& options)
    : Metric(std::make_shared<BestRate<SensitivityAtSpecificityOptions>>(
          "SensitivityAtSpecificity", options, "specificity", options.specificity, recall, specificity)) {}
SpecificityAtSensitivity::SpecificityAtSensitivity(const SpecificityAtSensitivityOptions& options)
    : Metric(std::make_shared<BestRate<SpecificityAtSensitivityOptions>>(
          "SpecificityAtSensitivity", options, "sensitivity", options.sensitivity, specificity, recall)) {}
PrecisionAtRecall::PrecisionAtRecall(const PrecisionAtRecallOptions& options)
    : Metric(std::make_shared<BestRate<PrecisionAtRecallOptions>>("PrecisionAtRecall", options, "recall",
                                                                  options.recall, precision, recall)) {}
RecallAtPrecision::RecallAtPrecision(const RecallAtPrecisionOptions& options)
    : Metric(std::make_shared<BestRate<RecallAtPrecisionOptions>>("RecallAtPrecision", options, "precision",
                                                                  options.precision, recall, precision)) {}

void add_confusion_metrics(ClassRegistry& registry) {
  registry.add<TruePositives, CountOptions>("TruePositives");
  registry.add<FalsePositives, CountOptions>("FalsePositives");
  registry.add<TrueNegatives, CountOptions>("TrueNegatives");
  registry.add<FalseNegatives, CountOptions>("FalseNegatives");
  registry.add<Precision, PrecisionOptions>("Precision");
  registry.add<Recall, PrecisionOptions>("Recall");
  registry.add<SensitivityAtSpecificity, SensitivityAtSpecificityOptions>("SensitivityAtSpecificity");
  registry.add<SpecificityAtSensitivity, SpecificityAtSensitivityOptions>("SpecificityAtSensitivity");
  registry.add<PrecisionAtRecall, PrecisionAtRecallOptions>("PrecisionAtRecall");
  registry.add<RecallAtPrecision, RecallAtPrecisionOptions>("RecallAtPrecision");
}

}  // namespace ktape::nn
