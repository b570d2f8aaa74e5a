#pragma once
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/models/model_use.hpp>

namespace ktape::nn {

class BatchSource;
class ProcessGroup;

/// A weighted mean to which batches are added.
class RunningMean {
 public:
  void add(double value, double weight) {
    sum_ += value * weight;
    weight_ += weight;
  }
  double value() const { return weight_ > 0 ? sum_ / weight_ : 0; }
  void reset() { sum_ = weight_ = 0; }
  void state(Archive& state) {
    state("sum", sum_);
    state("weight", weight_);
  }

 private:
  double sum_ = 0, weight_ = 0;
};

/// The interface of a running training for callbacks that show, save or restore the state of the training.
class TrainingRun {
 public:
  virtual ~TrainingRun() = default;
  /// Builds the model from the first batch, unless the model is built.
  virtual void build() = 0;
  /// Saves or restores the whole state of a training (see Archive): weights, optimizer, random numbers, the
  /// position in the data, measurements, and the states of layers and callbacks. The model must be built.
  virtual void state(Archive& state) = 0;
  /// Returns whether the training is inside an epoch: true between two batches, false between two epochs.
  virtual bool within_epoch() const = 0;
  /// Returns whether Ctrl-C has been pressed to end the training.
  virtual bool interrupted() const = 0;
  /// Returns the validation data; null for a training without validation.
  virtual BatchSource* validation() = 0;
  /// Returns the number of validation batches; nothing means all batches of the validation data.
  virtual std::optional<std::int64_t> validation_steps() const = 0;
};

/// The options of `compile`, resolved for the outputs of one model, and the measurements since the last
/// reset.
class Trainer {
 public:
  explicit Trainer(ModelImpl& model) : model_(model) {}

  void compile(const CompileOptions& options);
  bool compiled() const { return optimizer_.defined(); }
  const Optimizer& optimizer() const { return optimizer_; }
  /// Returns the options of `compile` as the program gave them.
  const CompileOptions& options() const { return options_; }

  /// Makes the trainer collect the layers and weights of the model again, because they may have changed.
  void refresh() { layers_known_ = false; }
  /// Returns a warning for the user: that `trainable` of layers has changed since `compile` was called (once
  /// for each change), or that the model has no weights to train. Returns an empty text if there is nothing
  /// to warn of.
  std::string warning();

  /// Runs the model's train_step, compiled if `compile` says so.
  Logs train(const Batch& batch);
  Tensor loss(const Batch& batch, const std::vector<Tensor>& y_pred);
  void minimize(const Tensor& loss);
  /// Adds the losses and metrics of a batch to the means, and discards the losses and metrics that layers
  /// added.
  void measure(const Batch& batch, const std::vector<Tensor>& y_pred, const Tensor& loss);
  Logs results() const;
  void reset();
  /// Returns the loss of an output; undefined for an output without a loss, and for an output that a model class
  /// of the user shows only in the first batch.
  Loss loss_of(std::size_t output) const { return output < outputs_.size() ? outputs_[output].loss : Loss(); }
  /// Returns whether compile gave an output a loss.
  bool has_loss(std::size_t output) const;
  /// Returns the number of outputs, known from `compile` or from the last batch; 0 if the number is unknown.
  std::size_t output_count() const;
  /// Return the metrics of `compile`; those of the model class alone; both.
  std::vector<Metric> compiled_metrics() const;
  std::vector<Metric> own_metrics() const;
  std::vector<Metric> metrics() const;
  /// Returns the names of the numbers that `results` returns.
  std::vector<std::string> metrics_names() const;
  /// Returns the targets of an output; null for an output without targets.
  const Tensor* targets_of(const Batch& batch, std::size_t output) const;
  /// Throws ValueError in all processes of a group unless the models of all processes have equal layers and
  /// weights, in the same order.
  void expect_same(ProcessGroup& process_group) const;
  /// Sums the accumulators of losses and metrics over all processes, in each process.
  void merge_measured(ProcessGroup& process_group, int from);
  /// Replaces weights that are learned without gradients, such as moving means, by their mean over all
  /// processes.
  void average_statistics(ProcessGroup& process_group);
  /// Calls f and then restores the losses and metrics measured before the call.
  template <class F>
  auto unmeasured(F&& f) {
    Archive before;
    measured(before);
    auto result = f();
    Archive after(before.entries());
    measured(after);
    return result;
  }
  /// Saves or restores (see Archive) the weights, the state of layers, the losses and metrics measured since
  /// the last reset, and the state of the optimizer.
  void state(Archive& state);
  bool stop = false;                ///< whether the training should end
  TrainingRun* training = nullptr;  ///< the active training; null outside of `fit`
  ModelUse use;                     ///< which threads train, evaluate and predict

 private:
  struct Output {
    std::string name;
    Loss loss;
    double weight = 1;
    MetricList metrics, weighted_metrics;
    RunningMean mean_loss;
    Tensor last_loss;
  };

  bool computes_mixed_float16() const;
  void make_outputs(std::size_t count);
  void check_names(const std::vector<std::string>& names) const;
  void find_layers();
  std::vector<Variable> weights_to_train();
  /// Calls f on the model itself and on all layers in the model.
  template <class F>
  void each_layer(F&& f) const {
    f(static_cast<LayerImpl&>(model_));
    for (const Layer& layer : layers_) f(layer.impl());
  }
  static Tensor weight_of(const Batch& batch, std::size_t at);
  void measured(Archive& state);
  void optimizer_state(Archive& state);
  [[noreturn]] void rethrow_of(const std::string& what, const std::string& output, const Tensor& y_true,
                               const Tensor& y_pred) const;
  void add_reported(const std::string& name, const Tensor& value, double samples);

  ModelImpl& model_;
  Optimizer optimizer_;
  CompileOptions options_;
  std::vector<Output> outputs_;
  RunningMean mean_loss_;
  std::vector<std::pair<std::string, RunningMean>> reported_;  ///< the values of add_metric, by name
  bool fuses_ops_ = false;  ///< whether element-wise ops of a step run as chains
  bool layers_known_ = false;
  /// The version of the structure to which `layers_`, `regularized_` and `trainable_` belong.
  std::optional<std::uint64_t> version_;
  bool trainable_at_compile_ = true;
  std::vector<std::pair<Layer, bool>>
      compiled_trainable_;                          ///< the layers at `compile`; whether each was trainable
  std::string warned_of_;                           ///< the names of the layers in the last warning
  std::optional<std::vector<Variable>> trainable_;  ///< the weights to train, computed by the first step
  std::vector<Layer> layers_;                       ///< the layers in the model, at any depth
  std::vector<std::pair<Variable, Regularizer>> regularized_;
};

}  // namespace ktape::nn
