#include <ktape/nn/metrics/confusion.hpp>
#include <ktape/nn/metrics/internal/confusion_counts.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/ops/nn/activations.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(AUCOptions& o, F&& field) {
  field("num_thresholds", o.num_thresholds);
  field("curve", o.curve);
  field("summation_method", o.summation_method);
  field("name", o.name);
  field("thresholds", o.thresholds);
  field("multi_label", o.multi_label);
  field("num_labels", o.num_labels);
  field("label_weights", o.label_weights);
  field("from_logits", o.from_logits);
}

namespace {

using Counts = ConfusionCounts::Counts;

const AUCOptions& checked(const AUCOptions& o) {
  if (o.curve != "ROC" && o.curve != "PR")
    fail("[AUC] curve must be 'ROC' or 'PR': received curve='", o.curve, "'");
  if (o.summation_method != "interpolation" && o.summation_method != "minoring" &&
      o.summation_method != "majoring")
    fail(
        "[AUC] summation_method must be 'interpolation', 'minoring' or 'majoring': received "
        "summation_method='",
        o.summation_method, "'");
  if (!o.thresholds && (o.num_thresholds < 2 || o.num_thresholds > most_thresholds))
    fail("[AUC] num_thresholds must be in [2, ", most_thresholds,
         "]: received num_thresholds=", o.num_thresholds);
  for (double threshold : o.thresholds.value_or(std::vector<double>()))
    if (!(threshold >= 0 && threshold <= 1)) fail("[AUC] thresholds must be in [0, 1]: received ", threshold);
  return o;
}

/// Returns a threshold below all predictions, the given thresholds or even steps between 0 and 1, and a
/// threshold above all predictions.
std::vector<double> thresholds_of(const AUCOptions& o) {
  constexpr double beyond = 1e-7;
  std::vector<double> inner = o.thresholds.value_or(std::vector<double>());
  if (!o.thresholds)
    for (int i = 1; i < o.num_thresholds - 1; ++i)
      inner.push_back(static_cast<double>(i) / (o.num_thresholds - 1));
  std::sort(inner.begin(), inner.end());
  inner.insert(inner.begin(), -beyond);
  inner.push_back(1 + beyond);
  return inner;
}

/// Returns the area under the curve of precision and recall. Between two thresholds, true positives are
/// interpolated linearly over predicted positives, so that precision follows a hyperbola.
double interpolated_pr(const Counts& c) {
  double area = 0;
  for (std::size_t k = 0; k + 1 < c.tp.size(); ++k) {
    const double p = c.tp[k] + c.fp[k], next = c.tp[k + 1] + c.fp[k + 1], hits = c.tp[k] - c.tp[k + 1];
    const double slope = ratio(hits, std::max(p - next, 0.0)), intercept = c.tp[k + 1] - slope * next;
    const double growth = p > 0 && next > 0 ? p / next : 1;
    area += ratio(slope * (hits + intercept * std::log(growth)), std::max(c.tp[k + 1] + c.fn[k + 1], 0.0));
  }
  return area;
}

double area_under(const Counts& c, const AUCOptions& o) {
  const bool pr = o.curve == "PR";
  if (pr && o.summation_method == "interpolation") return interpolated_pr(c);
  const auto x = [&](std::size_t k) {
    return pr ? ratio(c.tp[k], c.tp[k] + c.fn[k]) : ratio(c.fp[k], c.fp[k] + c.tn[k]);
  };
  const auto y = [&](std::size_t k) {
    return pr ? ratio(c.tp[k], c.tp[k] + c.fp[k]) : ratio(c.tp[k], c.tp[k] + c.fn[k]);
  };
  double area = 0;
  for (std::size_t k = 0; k + 1 < c.tp.size(); ++k) {
    const double a = y(k), b = y(k + 1);
    const double height = o.summation_method == "minoring"   ? std::min(a, b)
                          : o.summation_method == "majoring" ? std::max(a, b)
                                                             : (a + b) / 2;
    area += (x(k) - x(k + 1)) * height;
  }
  return area;
}

struct AUCImpl final : MetricWith<AUCOptions> {
  explicit AUCImpl(const AUCOptions& o) : MetricWith("AUC", checked(o)), counts_(thresholds_of(o)) {}

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    for (const std::optional<int>& labels :
         {options.num_labels, options.label_weights
                                  ? std::optional(static_cast<int>(options.label_weights->size()))
                                  : std::nullopt})
      if (options.multi_label && labels && y_pred.ndim() == 2 && y_pred.shape()[1] != *labels)
        fail("[AUC] y_pred must have ", *labels, " labels: received y_pred=", y_pred.shape());
    counts_.add("AUC", y_true, options.from_logits ? K::sigmoid(y_pred) : y_pred, sample_weight,
                {.by_label = options.multi_label});
  }

  Tensor result() const override {
    double total = 0, weights = 0;
    for (std::size_t label = 0; label < counts_.labels(); ++label) {
      const double weight =
          options.multi_label && options.label_weights ? options.label_weights->at(label) : 1;
      total += weight * area_under(counts_.of(label), options);
      weights += weight;
    }
    return number_result(ratio(total, weights));
  }

  void reset_state() override { counts_.reset(); }
  void state(Archive& state) override { counts_.state(state); }

 private:
  ConfusionCounts counts_;
};

}  // namespace

AUC::AUC(const AUCOptions& options) : Metric(std::make_shared<AUCImpl>(options)) {}

void add_auc_metric(ClassRegistry& registry) { registry.add<AUC, AUCOptions>("AUC"); }

}  // namespace ktape::nn
