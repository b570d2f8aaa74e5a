#include <ktape/autograd/arguments.hpp>
#include <ktape/nn/losses/loss_of.hpp>
#include <ktape/nn/losses/reduction.hpp>
#include <ktape/nn/metrics/accuracy.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(BinaryAccuracyOptions& o, F&& field) {
  field("name", o.name);
  field("threshold", o.threshold);
}
template <class F>
void fields(TopKOptions& o, F&& field) {
  field("k", o.k);
  field("name", o.name);
}

namespace {

Tensor as_number(const Tensor& right) { return K::as_dtype(right, K::floatx()); }

Tensor equal_values(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions("accuracy", y_true, y_pred);
  return K::equal(t, p);
}

/// Returns the class numbers of the targets for predictions (..., classes), without a last axis of extent 1.
Tensor classes_of(const char* op, const Tensor& y_true, const Tensor& y_pred) {
  const bool column = y_true.ndim() == y_pred.ndim() && y_true.shape().back() == 1;
  const Tensor classes = column ? K::squeeze(y_true, -1) : y_true;
  const Shape samples(y_pred.shape().begin(), std::max(y_pred.ndim() - 1, 0));
  if (y_pred.ndim() == 0 || !compatible(classes.shape(), samples))
    fail("[", op, "] y_true must have a class for each of the samples ", samples,
         ": received y_true=", y_true.shape(), ", y_pred=", y_pred.shape());
  return K::class_numbers(op, "target", classes);
}

}  // namespace

namespace metrics {

Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold) {
  const auto [t, p] = like_predictions("binary_accuracy", y_true, y_pred);
  return as_number(K::equal(K::as_dtype(t, "float32"), K::as_dtype(p > threshold, "float32")));
}

Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return as_number(K::equal(classes_of("sparse_categorical_accuracy", y_true, y_pred), K::argmax(y_pred)));
}

Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions("categorical_accuracy", y_true, y_pred);
  return as_number(K::equal(K::argmax(t), K::argmax(p)));
}

Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, std::int64_t k) {
  const Tensor classes = classes_of("sparse_top_k_categorical_accuracy", y_true, y_pred);
  const Tensor found = K::in_top_k(K::reshape(y_pred, {-1, y_pred.shape().back()}), K::flatten(classes), k);
  return as_number(K::reshape(found, classes.shape()));
}

Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, std::int64_t k) {
  return sparse_top_k_categorical_accuracy(K::argmax(y_true), y_pred, k);
}

}  // namespace metrics

namespace {

struct AccuracyByShape final : MetricImpl {
  explicit AccuracyByShape(const std::string& name) : MetricImpl("accuracy", name) {}
  Value to_value() const override { return name(); }

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) override {
    if (!chosen_.defined()) chosen_ = choice(y_true.shape(), y_pred.shape());
    chosen_.impl().update_state(y_true, y_pred, sample_weight);
  }
  Tensor result() const override { return chosen_.defined() ? chosen_.result() : number_result(0); }
  void reset_state() override {
    if (chosen_.defined()) chosen_.reset_state();
  }
  void state(Archive& state) override {
    std::string name = chosen_.defined() ? chosen_.class_name() : "";
    state("chosen", name);
    if (name.empty()) return void(chosen_ = Metric());
    if (state.sets()) chosen_ = Metric(name);
    chosen_.impl().state(state);
  }

 private:
  static Metric choice(const Shape& y_true, const Shape& y_pred) {
    switch (classes_by_shape(y_true, y_pred)) {
      case Classes::Binary:
        return BinaryAccuracy();
      case Classes::Sparse:
        return SparseCategoricalAccuracy();
      default:
        return CategoricalAccuracy();
    }
  }
  Metric chosen_;
};

}  // namespace

std::shared_ptr<MetricImpl> accuracy_by_shape(const std::string& name) {
  return std::make_shared<AccuracyByShape>(name);
}

Accuracy::Accuracy(const MetricOptions& options) : Metric(mean_metric("Accuracy", options, equal_values)) {}

BinaryAccuracy::BinaryAccuracy(const BinaryAccuracyOptions& options)
    : Metric(mean_metric("BinaryAccuracy", options,
                         [](const Tensor& t, const Tensor& p, const BinaryAccuracyOptions& o) {
                           return metrics::binary_accuracy(t, p, o.threshold);
                         })) {}

CategoricalAccuracy::CategoricalAccuracy(const MetricOptions& options)
    : Metric(mean_metric("CategoricalAccuracy", options, metrics::categorical_accuracy)) {}

SparseCategoricalAccuracy::SparseCategoricalAccuracy(const MetricOptions& options)
    : Metric(mean_metric("SparseCategoricalAccuracy", options, metrics::sparse_categorical_accuracy)) {}

TopKCategoricalAccuracy::TopKCategoricalAccuracy(const TopKOptions& options)
    : Metric(mean_metric("TopKCategoricalAccuracy", options,
                         [](const Tensor& t, const Tensor& p, const TopKOptions& o) {
                           return metrics::top_k_categorical_accuracy(t, p, o.k);
                         })) {}

SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(const TopKOptions& options)
    : Metric(mean_metric("SparseTopKCategoricalAccuracy", options,
                         [](const Tensor& t, const Tensor& p, const TopKOptions& o) {
                           return metrics::sparse_top_k_categorical_accuracy(t, p, o.k);
                         })) {}

void add_accuracy_metrics(ClassRegistry& registry) {
  registry.add<Accuracy, MetricOptions>("Accuracy");
  registry.add<BinaryAccuracy, BinaryAccuracyOptions>("BinaryAccuracy");
  registry.add<CategoricalAccuracy, MetricOptions>("CategoricalAccuracy");
  registry.add<SparseCategoricalAccuracy, MetricOptions>("SparseCategoricalAccuracy");
  registry.add<TopKCategoricalAccuracy, TopKOptions>("TopKCategoricalAccuracy");
  registry.add<SparseTopKCategoricalAccuracy, TopKOptions>("SparseTopKCategoricalAccuracy");
}

}  // namespace ktape::nn
