#pragma once
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {

/// A weighted mean that grows batch by batch.
class RunningMean {
 public:
  void add(double value, double weight) {
    sum_ += value * weight;
    weight_ += weight;
  }
  double value() const { return weight_ > 0 ? sum_ / weight_ : 0; }
  void reset() { sum_ = weight_ = 0; }

 private:
  double sum_ = 0, weight_ = 0;
};

/// What `compile` said, worked out for the outputs of one model, and what has been measured since the last
/// reset.
class Trainer {
 public:
  explicit Trainer(ModelImpl& model) : model_(model) {}

  void compile(const CompileOptions& options);
  bool compiled() const { return optimizer_.defined(); }
  const Optimizer& optimizer() const { return optimizer_; }

  /// The model may have changed: its layers and weights are looked for again.
  void refresh() { layers_known_ = false; }

  Tensor loss(const Batch& batch, const std::vector<Tensor>& y_pred);
  void minimize(const Tensor& loss);
  /// Adds a batch to the means, and lets go of what the layers reported.
  void measure(const Batch& batch, const std::vector<Tensor>& y_pred, const Tensor& loss);
  Logs results() const;
  void reset();
  bool stop = false;  ///< whether the training should end

 private:
  struct Output {
    std::string name;
    Loss loss;
    double weight = 1;
    MetricList metrics, weighted_metrics;
    RunningMean mean_loss;
    Tensor last_loss;
  };

  void make_outputs(std::size_t count);
  void check_names(const std::vector<std::string>& names) const;
  void find_layers();
  /// The model itself, and the layers in it.
  template <class F>
  void each_layer(F&& f) const;
  const Tensor* targets_of(const Batch& batch, std::size_t at) const;
  static Tensor weight_of(const Batch& batch, std::size_t at);
  void add_reported(const std::string& name, const Tensor& value, double samples);

  ModelImpl& model_;
  Optimizer optimizer_;
  CompileOptions options_;
  std::vector<Output> outputs_;
  RunningMean mean_loss_;
  std::vector<std::pair<std::string, RunningMean>> reported_;  ///< by add_metric
  bool layers_known_ = false;
  std::vector<Variable> trainable_;
  std::vector<Layer> layers_;  ///< in the model, at any depth
  std::vector<std::pair<Variable, Regularizer>> regularized_;
};

}  // namespace ktape::nn
