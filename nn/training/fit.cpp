#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/training/internal/distributed_training.hpp>
#include <ktape/nn/training/internal/interrupt.hpp>
#include <ktape/nn/training/internal/loop.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/random/random_scope.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <cmath>

/// The loop over epochs. `train_step` of the model makes a step.
namespace ktape::nn {
namespace K = backend;
namespace {

/// A training: its data, and its position in epochs and batches.
class Fit final : public TrainingRun {
 public:
  Fit(const Model& model, const NamedTensors& x, const NamedTensors& y, const FitOptions& options)
      : model_(model), options_(options) {
    const Arrangement arrangement("fit", model);
    auto train = std::make_unique<ArrayAdapter>("fit", arrangement.of_arrays(x, y, options.sample_weight),
                                                options.batch_size.value_or(default_batch_size));
    check_options();
    expect_samples("fit", *train);
    join();
    if (distributed_) distributed_->expect_same_rows(train->samples());
    split(*train);
    use_validation_data(train.get());
    train->weigh_classes(arrangement, options.class_weight);
    arrays_ = true;
    train_ = std::move(train);
    divide(*train_);
  }

  Fit(const Model& model, const data::Dataset& dataset, const FitOptions& options)
      : model_(model), options_(options) {
    check_options();
    expect_dataset_options("fit", options.batch_size, options.sample_weight);
    if (options.validation_split != 0)
      fail("[fit] validation_split must go with arrays: received validation_split=", options.validation_split,
           " and a dataset; see Dataset::take and Dataset::skip");
    auto train = std::make_unique<DatasetAdapter>("fit", model, dataset, options.class_weight,
                                                  options.steps_per_epoch ? 0 : options.initial_epoch);
    join();
    divide(*train);
    train->expect_end("steps_per_epoch", options.steps_per_epoch);
    train_ = std::move(train);
    use_validation_data(nullptr);
  }

  History run() {
    const History history;
    std::vector<Callback> callbacks = options_.callbacks;
    callbacks.insert(callbacks.begin(), history);
    const bool first = !distributed_ || distributed_->first();
    const RunParameters parameters{options_.epochs, steps(), options_.verbose, first};
    callbacks_.emplace(model_, std::move(callbacks), parameters);
    Trainer& trainer = model_.impl().trainer();
    const ActiveTraining active(trainer, *this);
    trainer.refresh();
    if (const std::string text = trainer.warning(); !text.empty()) warn(parameters, text);
    if (try_validation_) try_validation();
    begin_data();
    const InterruptScope interrupt;
    interrupt_ = &interrupt;
    try {
      train();
    } catch (const Interrupted&) {
      const std::string text = interrupted_text(std::min(epoch_ + 1, options_.epochs));
      if (distributed_) distributed_->fail(text);
      throw Interrupted(text);
    } catch (const std::exception& error) {
      if (distributed_) distributed_->fail(error.what());
      throw;
    }
    if (interrupted() && interrupt.outermost()) interrupt_caller(interrupted_text(epoch_));
    return history;
  }

  void build() override {
    if (model_.built()) return;
    const K::learning_phase_scope inference(0);
    const NoGrad off;
    model_.apply((distributed_ ? distributed_->any_batch(*train_) : train_->next()).x);
    begin_data();
  }

  void state(Archive& state) override {
    Trainer& trainer = model_.impl().trainer();
    int epoch = epoch_;
    std::int64_t step = step_;
    K::RandomState random = K::random_state();
    state("epoch", epoch);
    state("step", step);
    if (epoch < 0 || step < 0)
      fail("[fit] epoch and step must be at least 0: received epoch=", epoch, ", step=", step);
    state("stop", trainer.stop);
    logs_state(state, "logs", logs_);
    state.part("training_data", [&] { train_->state(state); });
    if (validation_) state.part("validation_data", [&] { validation_->state(state); });
    state.part("callbacks", [&] { callbacks_->state(state); });
    trainer.state(state);
    state("random/seed", random.seed);
    state("random/drawn", random.drawn);
    if (!state.sets()) return;
    K::set_random_state(random);
    epoch_ = epoch;
    step_ = step;
  }

  bool within_epoch() const override { return step_ > 0; }
  bool interrupted() const override {
    return distributed_ ? distributed_->interrupted() : interrupt_->requested();
  }
  BatchSource* validation() override { return validation_.get(); }
  std::optional<std::int64_t> validation_steps() const override { return options_.validation_steps; }

 private:
  std::string interrupted_text(int epoch) const {
    return "[fit] interrupted in epoch " + std::to_string(epoch) + " of " + std::to_string(options_.epochs);
  }

  void check_options() const {
    const FitOptions& o = options_;
    if (!(o.validation_split >= 0 && o.validation_split < 1))
      fail("[fit] validation_split must be in [0, 1): received validation_split=", o.validation_split);
    const auto at_least = [](const char* name, std::int64_t value, std::int64_t least) {
      if (value < least) fail("[fit] ", name, " must be at least ", least, ": received ", name, '=', value);
    };
    at_least("epochs", o.epochs, 0);
    at_least("initial_epoch", o.initial_epoch, 0);
    at_least("validation_freq", o.validation_freq, 1);
    at_least("steps_per_epoch", o.steps_per_epoch.value_or(1), 1);
    at_least("validation_batch_size", validation_batch(), 1);
  }

  std::int64_t validation_batch() const {
    return options_.validation_batch_size.value_or(options_.batch_size.value_or(default_batch_size));
  }
  std::optional<std::int64_t> steps() const {
    return options_.steps_per_epoch ? options_.steps_per_epoch : train_->batches();
  }

  /// Moves the last samples to the validation data, before the training data are shuffled.
  void split(ArrayAdapter& train) {
    const ValidationData& data = options_.validation_data;
    if (options_.validation_split == 0 || !data.x.empty() || data.dataset) return;
    const auto kept = static_cast<std::int64_t>(
        std::floor(static_cast<double>(train.samples()) * (1 - options_.validation_split)));
    if (kept == 0 || kept == train.samples())
      fail("[fit] validation_split must leave samples on both sides: received validation_split=",
           options_.validation_split, " for ", train.samples(), " samples");
    validation_ = std::make_unique<ArrayAdapter>(train.part(kept, train.samples()));
    train = train.part(0, kept);
  }

  /// Makes the source of the validation data. Arrays whose shapes or dtypes differ from the training data are
  /// tried on the model before the first epoch.
  void use_validation_data(const ArrayAdapter* train) {
    const ValidationData& data = options_.validation_data;
    if (data.dataset) {
      auto source = std::make_unique<DatasetAdapter>("fit", model_, *data.dataset);
      divide(*source);
      source->expect_end("validation_steps", options_.validation_steps);
      validation_ = std::move(source);
    } else if (!data.x.empty()) {
      Batch all = Arrangement("fit", model_).of_arrays(data.x, data.y, data.sample_weight);
      auto source = std::make_unique<ArrayAdapter>("fit", std::move(all), validation_batch());
      if (distributed_) distributed_->expect_same_rows(source->samples());
      try_validation_ = source->samples() > 0 && !(train && source->is_like(*train));
      validation_ = std::move(source);
    }
  }

  /// Runs the model on a batch of the validation data, so that data that do not fit throw before the training
  /// changes a weight.
  void try_validation() {
    const K::learning_phase_scope inference(0);
    const NoGrad off;
    validation_->restart(false);
    model_.impl().test_step(validation_->next());
  }

  /// Begins the data. The order of the samples is drawn here only when epochs do not draw an order
  /// themselves: with one seed, epochs 3 and 4 have equal orders after two other epochs and in a separate
  /// fit.
  void begin_data() { train_->restart(options_.shuffle && options_.steps_per_epoch.has_value()); }

  /// Makes this training the model's current training while the object lives. A training inside of a callback
  /// restores the outer training at its end, and does not stop the outer training.
  class ActiveTraining {
   public:
    ActiveTraining(Trainer& trainer, Fit& fit)
        : trainer_(trainer),
          outer_(std::exchange(trainer.training, &fit)),
          outer_stop_(std::exchange(trainer.stop, false)) {}
    ~ActiveTraining() {
      trainer_.training = outer_;
      if (outer_) trainer_.stop = outer_stop_;
    }
    ActiveTraining(const ActiveTraining&) = delete;
    ActiveTraining& operator=(const ActiveTraining&) = delete;

   private:
    Trainer& trainer_;
    TrainingRun* outer_;
    bool outer_stop_;
  };

  void train() {
    Trainer& trainer = model_.impl().trainer();
    callbacks_->tell(&CallbackImpl::on_train_begin, Logs());
    if (distributed_) distributed_->start(*this);
    while (epoch_ < options_.epochs && !trainer.stop) run_epoch();
    trainer.optimizer().finalize_variable_values();
    callbacks_->tell(&CallbackImpl::on_train_end, logs_);
  }

  void run_epoch() {
    const int epoch = epoch_;
    callbacks_->tell(&CallbackImpl::on_epoch_begin, epoch, Logs());
    if (distributed_ && within_epoch())
      distributed_->share_state(*this);  // the callbacks' on_epoch_begin may have changed the state
    train_epoch();
    if (validation_ && (epoch + 1) % options_.validation_freq == 0 && !interrupted())
      logs_.update(
          test_epoch(model_.impl(), *validation_, {"fit", "validation_steps", options_.validation_steps},
                     *callbacks_, distributed_ ? &*distributed_ : nullptr),
          "val_");
    callbacks_->report(logs_);
    epoch_ = epoch + 1;
    step_ = 0;
    callbacks_->tell(&CallbackImpl::on_epoch_end, epoch, logs_);
    if (distributed_) distributed_->agree(interrupt_->requested());
  }

  void train_epoch() {
    const K::learning_phase_scope training(1);
    ModelImpl& model = model_.impl();
    if (!within_epoch()) {
      logs_ = Logs();
      model.trainer().reset();
      if (!options_.steps_per_epoch) train_->restart(options_.shuffle);
    }
    // The data of one process may end before the data of another process.
    const std::optional<std::int64_t> steps = distributed_ ? options_.steps_per_epoch : this->steps();
    while ((!steps || step_ < *steps) && (distributed_ || !model.trainer().stop)) {
      std::optional<Batch> batch = next_batch();
      if (!batch && repeats()) {
        train_->restart(options_.shuffle);
        batch = next_batch();
      }
      if (!batch) break;
      const std::int64_t step = step_;
      callbacks_->tell(&CallbackImpl::on_train_batch_begin, step, Logs());
      logs_ = train_step(*batch);
      step_ = step + 1;
      callbacks_->tell(&CallbackImpl::on_train_batch_end, step, logs_);
      if (interrupt_->requested()) model.trainer().stop = true;
    }
    if (options_.steps_per_epoch && step_ < *options_.steps_per_epoch && !model.trainer().stop)
      warn_out_of_data();
    if (distributed_) logs_ = distributed_->end_epoch(logs_);
  }

  /// Returns whether the data are restarted at their end: arrays always, a dataset only between two epochs.
  bool repeats() const {
    return options_.steps_per_epoch && !model_.impl().trainer().stop && (arrays_ || !within_epoch());
  }

  void warn_out_of_data() {
    callbacks_->warn_of_end("fit", "steps_per_epoch", *options_.steps_per_epoch, step_);
    model_.impl().trainer().stop = true;
  }

  std::optional<Batch> next_batch() {
    if (distributed_) return distributed_->next_batch(*train_, interrupt_->requested());
    return train_->more() ? std::optional(train_->next()) : std::nullopt;
  }

  Logs train_step(const Batch& batch) {
    ModelImpl& model = model_.impl();
    return distributed_ ? distributed_->train_step(model, batch, epoch_, step_)
                        : model.trainer().train(batch);
  }

  /// Joins the processes whose gradients the optimizer averages; each process reads a part of the data.
  void join() {
    if (ProcessGroup* process_group = model_.optimizer().impl().process_group())
      distributed_.emplace(*process_group, model_.impl().trainer());
  }
  void divide(BatchSource& source) const {
    if (distributed_) distributed_->divide(source);
  }

  Model model_;
  const FitOptions& options_;
  std::unique_ptr<BatchSource> train_, validation_;
  bool arrays_ = false;  ///< whether the data are arrays, not a dataset
  bool try_validation_ = false;
  std::optional<CallbackList> callbacks_;
  const InterruptScope* interrupt_ = nullptr;
  int epoch_ = options_.initial_epoch;              ///< the current epoch, or the next epoch between epochs
  std::int64_t step_ = 0;                           ///< the number of the next step in the epoch
  Logs logs_;                                       ///< the logs of the last step or epoch
  std::optional<DistributedTraining> distributed_;  ///< none if this process trains alone
};

}  // namespace

History Model::fit(const NamedTensors& x, const NamedTensors& y, const FitOptions& options) const {
  impl().optimizer();
  const ModelUse::Run run(impl(), "fit", ModelUse::Kind::Training);
  return Fit(*this, x, y, options).run();
}

History Model::fit(const data::Dataset& dataset, const FitOptions& options) const {
  impl().optimizer();
  const ModelUse::Run run(impl(), "fit", ModelUse::Kind::Training);
  return Fit(*this, dataset, options).run();
}

}  // namespace ktape::nn
