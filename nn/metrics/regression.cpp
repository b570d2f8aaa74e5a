#include <ktape/nn/losses/hinge.hpp>
#include <ktape/nn/losses/regression.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/nn/metrics/regression.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>

namespace ktape::nn {
namespace K = backend;

namespace metrics {

template <class F>
void fields(CosineSimilarityOptions& o, F&& field) {
  field("name", o.name);
  field("axis", o.axis);
}
template <class F>
void fields(BinaryCrossentropyOptions& o, F&& field) {
  field("name", o.name);
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing);
}
template <class F>
void fields(CategoricalCrossentropyOptions& o, F&& field) {
  field("name", o.name);
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing);
  field("axis", o.axis);
}
template <class F>
void fields(SparseCategoricalCrossentropyOptions& o, F&& field) {
  field("name", o.name);
  field("from_logits", o.from_logits);
  field("axis", o.axis);
}

MeanSquaredError::MeanSquaredError(const MetricOptions& options)
    : Metric(mean_metric("MeanSquaredError", options, losses::mean_squared_error)) {}
MeanAbsoluteError::MeanAbsoluteError(const MetricOptions& options)
    : Metric(mean_metric("MeanAbsoluteError", options, losses::mean_absolute_error)) {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError(const MetricOptions& options)
    : Metric(mean_metric("MeanAbsolutePercentageError", options, losses::mean_absolute_percentage_error)) {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(const MetricOptions& options)
    : Metric(mean_metric("MeanSquaredLogarithmicError", options, losses::mean_squared_logarithmic_error)) {}
Hinge::Hinge(const MetricOptions& options) : Metric(mean_metric("Hinge", options, losses::hinge)) {}
SquaredHinge::SquaredHinge(const MetricOptions& options)
    : Metric(mean_metric("SquaredHinge", options, losses::squared_hinge)) {}
CategoricalHinge::CategoricalHinge(const MetricOptions& options)
    : Metric(mean_metric("CategoricalHinge", options, losses::categorical_hinge)) {}
KLDivergence::KLDivergence(const MetricOptions& options)
    : Metric(mean_metric("KLDivergence", options, losses::kl_divergence)) {}
Poisson::Poisson(const MetricOptions& options) : Metric(mean_metric("Poisson", options, losses::poisson)) {}

CosineSimilarity::CosineSimilarity(const CosineSimilarityOptions& options)
    : Metric(mean_metric("CosineSimilarity", options,
                         [](const Tensor& t, const Tensor& p, const CosineSimilarityOptions& o) {
                           return -losses::cosine_similarity(t, p, {.axis = o.axis});
                         })) {}

BinaryCrossentropy::BinaryCrossentropy(const BinaryCrossentropyOptions& options)
    : Metric(mean_metric("BinaryCrossentropy", options,
                         [](const Tensor& t, const Tensor& p, const BinaryCrossentropyOptions& o) {
                           return losses::binary_crossentropy(
                               t, p, {.from_logits = o.from_logits, .label_smoothing = o.label_smoothing});
                         })) {}

CategoricalCrossentropy::CategoricalCrossentropy(const CategoricalCrossentropyOptions& options)
    : Metric(mean_metric(
          "CategoricalCrossentropy", options,
          [](const Tensor& t, const Tensor& p, const CategoricalCrossentropyOptions& o) {
            return losses::categorical_crossentropy(t, p, {o.from_logits, o.label_smoothing, o.axis});
          })) {}

SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    const SparseCategoricalCrossentropyOptions& options)
    : Metric(mean_metric("SparseCategoricalCrossentropy", options,
                         [](const Tensor& t, const Tensor& p, const SparseCategoricalCrossentropyOptions& o) {
                           return losses::sparse_categorical_crossentropy(
                               t, p, {.from_logits = o.from_logits, .axis = o.axis});
                         })) {}

}  // namespace metrics

template <class F>
void fields(CorrelationOptions& o, F&& field) {
  field("name", o.name);
  field("axis", o.axis);
}
template <class F>
void fields(R2ScoreOptions& o, F&& field) {
  field("class_aggregation", o.class_aggregation);
  field("num_regressors", o.num_regressors);
  field("name", o.name);
}

namespace {

struct RootMean final : MeanMetric {
  using MeanMetric::MeanMetric;
  Tensor result() const override { return number_result(std::sqrt(mean())); }
};

/// Returns the differences from the mean along the axis.
Tensor centered(const Tensor& x, int axis) { return x - K::mean(x, axis, true); }

Tensor pearson(const Tensor& y_true, const Tensor& y_pred, const CorrelationOptions& o) {
  const auto [given, output] = like_predictions("pearson_correlation", y_true, y_pred);
  const Tensor t = centered(given, o.axis), p = centered(output, o.axis);
  const Tensor scale = (K::std(t, o.axis) + K::epsilon()) * (K::std(p, o.axis) + K::epsilon());
  return K::mean(t * p, o.axis) / scale;
}

Tensor concordance(const Tensor& y_true, const Tensor& y_pred, const CorrelationOptions& o) {
  const auto [t, p] = like_predictions("concordance_correlation", y_true, y_pred);
  const Tensor covariance = K::mean(centered(t, o.axis) * centered(p, o.axis), o.axis);
  const Tensor apart = K::square(K::mean(t, o.axis) - K::mean(p, o.axis));
  return 2 * covariance / (K::var(t, o.axis) + K::var(p, o.axis) + apart + K::epsilon());
}

struct R2Impl final : MetricWith<R2ScoreOptions> {
  explicit R2Impl(const R2ScoreOptions& o) : MetricWith("R2Score", o) {
    if (o.class_aggregation && *o.class_aggregation != "uniform_average" &&
        *o.class_aggregation != "variance_weighted_average")
      fail(
          "[R2Score] class_aggregation must be 'uniform_average', 'variance_weighted_average' or None: "
          "received class_aggregation='",
          *o.class_aggregation, "'");
    if (o.num_regressors < 0)
      fail("[R2Score] num_regressors must be at least 0: received num_regressors=", o.num_regressors);
  }

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    const auto [t, p] = to_same_rank(K::as_dtype(y_true, "float64"), K::as_dtype(y_pred, "float64"));
    if (p.ndim() != 2 || t.shape() != p.shape())
      fail("[R2Score] y_true and y_pred must have shape (samples, outputs): received y_true=", t.shape(),
           ", y_pred=", p.shape());
    const Tensor w =
        sample_weight.defined() ? weights_like("R2Score", t.shape(), sample_weight) : K::ones_like(t);
    add(sum_, t * w);
    add(squares_, t * t * w);
    add(errors_, K::square(t - p) * w);
    add(count_, w);
    samples_ += static_cast<double>(t.shape()[0]);
  }

  Tensor result() const override {
    std::vector<double> scores;
    double weighted = 0, spread = 0;
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      const double total = squares_[i] - sum_[i] * ratio(sum_[i], count_[i]);
      const double score = 1 - errors_[i] / total;
      scores.push_back(std::isinf(score) ? 0 : score);
      weighted += total * scores.back();
      spread += total;
    }
    if (!options.class_aggregation) {
      for (double& score : scores) score = adjusted(score);
      return numbers_result(scores);
    }
    double mean = 0;
    for (double score : scores) mean += score / static_cast<double>(scores.size());
    return number_result(
        adjusted(*options.class_aggregation == "uniform_average" ? mean : weighted / spread));
  }

  void reset_state() override {
    for (auto* state : {&sum_, &squares_, &errors_, &count_}) state->clear();
    samples_ = 0;
  }
  void state(Archive& state) override {
    std::vector<double> sum = sum_, squares = squares_, errors = errors_, count = count_;
    double samples = samples_;
    state("sum", sum);
    state("squares", squares, sum.size());
    state("errors", errors, sum.size());
    state("count", count, sum.size());
    state("samples", samples);
    sum_.swap(sum), squares_.swap(squares), errors_.swap(errors), count_.swap(count);  // after all checks
    samples_ = samples;
  }

 private:
  static void add(std::vector<double>& to, const Tensor& values) {
    const Tensor sums = K::sum(values, 0);
    to.resize(static_cast<std::size_t>(sums.size()));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += sums.pointer<double>()[i];
  }
  /// Returns the adjusted score, or the score itself for fewer samples than regressors + 2.
  double adjusted(double score) const {
    const double left = samples_ - options.num_regressors - 1;
    return options.num_regressors == 0 || left <= 0 ? score : 1 - (1 - score) * (samples_ - 1) / left;
  }
  std::vector<double> sum_, squares_, errors_, count_;
  double samples_ = 0;
};

std::shared_ptr<MetricImpl> root_mean_squared_error(MetricOptions options) {
  if (options.name.empty()) options.name = "root_mean_squared_error";
  return std::make_shared<RootMean>("RootMeanSquaredError", options.name, config_of(options),
                                    losses::mean_squared_error);
}

std::shared_ptr<MetricImpl> log_cosh_error(MetricOptions options) {
  if (options.name.empty()) options.name = "logcosh";
  return mean_metric("LogCoshError", options, losses::log_cosh);
}

}  // namespace

RootMeanSquaredError::RootMeanSquaredError(const MetricOptions& options)
    : Metric(root_mean_squared_error(options)) {}
LogCoshError::LogCoshError(const MetricOptions& options) : Metric(log_cosh_error(options)) {}
PearsonCorrelation::PearsonCorrelation(const CorrelationOptions& options)
    : Metric(mean_metric("PearsonCorrelation", options, pearson)) {}
ConcordanceCorrelation::ConcordanceCorrelation(const CorrelationOptions& options)
    : Metric(mean_metric("ConcordanceCorrelation", options, concordance)) {}
R2Score::R2Score(const R2ScoreOptions& options) : Metric(std::make_shared<R2Impl>(options)) {}

void add_regression_metrics(ClassRegistry& registry) {
  registry.add<metrics::MeanSquaredError, MetricOptions>("MeanSquaredError", {"mse"});
  registry.add<metrics::MeanAbsoluteError, MetricOptions>("MeanAbsoluteError", {"mae"});
  registry.add<metrics::MeanAbsolutePercentageError, MetricOptions>("MeanAbsolutePercentageError", {"mape"});
  registry.add<metrics::MeanSquaredLogarithmicError, MetricOptions>("MeanSquaredLogarithmicError", {"msle"});
  registry.add<metrics::Hinge, MetricOptions>("Hinge");
  registry.add<metrics::SquaredHinge, MetricOptions>("SquaredHinge");
  registry.add<metrics::CategoricalHinge, MetricOptions>("CategoricalHinge");
  registry.add<metrics::KLDivergence, MetricOptions>("KLDivergence", {"kld"});
  registry.add<metrics::Poisson, MetricOptions>("Poisson");
  registry.add<metrics::CosineSimilarity, metrics::CosineSimilarityOptions>("CosineSimilarity");
  registry.add<metrics::BinaryCrossentropy, metrics::BinaryCrossentropyOptions>("BinaryCrossentropy",
                                                                                {"bce"});
  registry.add<metrics::CategoricalCrossentropy, metrics::CategoricalCrossentropyOptions>(
      "CategoricalCrossentropy");
  registry.add<metrics::SparseCategoricalCrossentropy, metrics::SparseCategoricalCrossentropyOptions>(
      "SparseCategoricalCrossentropy");
  registry.add<RootMeanSquaredError, MetricOptions>("RootMeanSquaredError", {"rmse"});
  registry.add<LogCoshError, MetricOptions>("LogCoshError", {"logcosh"});
  registry.add<PearsonCorrelation, CorrelationOptions>("PearsonCorrelation");
  registry.add<ConcordanceCorrelation, CorrelationOptions>("ConcordanceCorrelation");
  registry.add<R2Score, R2ScoreOptions>("R2Score");
}

}  // namespace ktape::nn
