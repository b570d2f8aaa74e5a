#include <ktape/autograd/tape.hpp>
#include <ktape/nn/callbacks/progress.hpp>
#include <ktape/nn/models/feed.hpp>
#include <ktape/nn/models/interrupt.hpp>
#include <ktape/nn/models/together.hpp>
#include <ktape/nn/models/trainer.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/support/random_scope.hpp>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

/// The loops over epochs and batches. What happens in a step is the model's.
namespace ktape::nn {
namespace K = backend;

namespace {

/// All callbacks of a run, in order.
class Listeners {
 public:
  Listeners(const Model& model, std::vector<Callback> callbacks, const RunParameters& parameters)
      : callbacks_(std::move(callbacks)) {
    if (!parameters.first)
      std::erase_if(callbacks_, [](const Callback& callback) { return callback.impl().writes_files(); });
    if (parameters.first && parameters.verbose > 0)
      callbacks_.emplace_back(std::make_shared<ProgressImpl>(std::cout, isatty(STDOUT_FILENO) == 1));
    std::stable_partition(callbacks_.begin(), callbacks_.end(),
                          [](const Callback& callback) { return !callback.impl().comes_last(); });
    for (const Callback& callback : callbacks_) {
      callback.impl().set_model(model);
      callback.impl().set_parameters(parameters);
    }
  }

  template <class... Parameters, class... Arguments>
  void tell(void (CallbackImpl::*event)(Parameters...), const Arguments&... arguments) const {
    for (const Callback& callback : callbacks_) (callback.impl().*event)(arguments...);
  }

  void report(Logs& logs) const {
    for (const Callback& callback : callbacks_) callback.impl().report(logs);
  }

  /// Names the state of each, by its class. One that nothing has been kept of begins anew.
  void state(State& state) const {
    std::map<std::string, int> seen;
    for (const Callback& callback : callbacks_) {
      const std::string name = callback.class_name();
      const std::string part = name + '_' + std::to_string(seen[name]++);
      if (!state.sets() || state.has_part(part)) state.part(part, [&] { callback.impl().state(state); });
    }
  }

 private:
  std::vector<Callback> callbacks_;
};

void expect_samples(const char* op, const ArrayFeed& feed) {
  if (feed.samples() == 0) fail("[", op, "] there must be samples: received arrays of none");
}

/// Checks what is given for a model's inputs and outputs before anything changes.
void check_arrays(const char* op, const Model& model, const TensorList& x) {
  const std::vector<std::string> names = model.impl().input_names();
  if (names.empty() || x.size() == names.size()) return;
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + '\'';
  fail("[", op, "] there must be one array for each of the inputs ", all, " of '", model.name(),
       "': received ", x.size());
}

/// While it lives, processes that train together read a part of the data each.
class Division {
 public:
  Division(Feed& feed, const Together* together) : feed_(feed) {
    if (together) together->divide(feed);
  }
  ~Division() { feed_.divide(0, 1); }
  Division(const Division&) = delete;

 private:
  Feed& feed_;
};

Logs test_epoch(ModelImpl& model, Feed& feed, std::optional<std::int64_t> steps, const Listeners& listeners,
                Together* together = nullptr) {
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  model.trainer().reset();
  listeners.tell(&CallbackImpl::on_test_begin, Logs());
  Logs logs;
  double samples = 0;
  const Division division(feed, together);
  feed.restart(false);
  for (std::int64_t step = 0; (!steps || step < *steps) && feed.more(); ++step) {
    listeners.tell(&CallbackImpl::on_test_batch_begin, step, Logs());
    const Batch batch = feed.next();
    samples += samples_of(batch);
    logs = model.test_step(batch);
    listeners.tell(&CallbackImpl::on_test_batch_end, step, logs);
  }
  if (together) logs = together->merged(logs, samples);
  listeners.tell(&CallbackImpl::on_test_end, logs);
  return logs;
}

/// A training: its data and where it is.
class Fit final : public Resumable {
 public:
  Fit(const Model& model, const TensorList& x, const TensorList& y, const FitOptions& options)
      : model_(model), options_(options) {
    auto train = std::make_unique<ArrayFeed>("fit", x, y, options.sample_weight, options.batch_size);
    check_arrays("fit", model, x);
    check_options();
    expect_samples("fit", *train);
    split(*train);
    use_validation_data(train.get());
    train->weigh_classes(options.class_weight);
    train_ = std::move(train);
    divide();
  }

  Fit(const Model& model, const data::Dataset& dataset, const FitOptions& options)
      : model_(model), options_(options) {
    check_options();
    if (options.validation_split != 0 || !options.sample_weight.empty())
      fail("[fit] validation_split and sample_weight must go with arrays: received a dataset");
    auto train = std::make_unique<DatasetFeed>("fit", model, dataset, options.class_weight,
                                               options.steps_per_epoch ? 0 : options.initial_epoch);
    train->expect_end("steps_per_epoch", options.steps_per_epoch);
    train_ = std::move(train);
    use_validation_data(nullptr);
    divide();
  }

  History run() {
    const History history;
    std::vector<Callback> callbacks = options_.callbacks;
    callbacks.insert(callbacks.begin(), history);
    const bool first = !together_ || together_->first();
    listeners_.emplace(model_, std::move(callbacks),
                       RunParameters{options_.epochs, steps(), options_.verbose, first});
    Trainer& trainer = model_.impl().trainer();
    trainer.stop = false;
    trainer.refresh();
    if (try_validation_) try_validation();
    begin_data();
    const InterruptScope interrupt;
    interrupt_ = &interrupt;
    const Going going(trainer, *this);
    try {
      train();
    } catch (const std::exception& error) {
      if (together_) together_->fail(error.what());
      throw;
    }
    return history;
  }

  void build() override {
    if (model_.built()) return;
    const K::learning_phase_scope inference(0);
    const NoGrad off;
    model_.apply(train_->next().x);
    begin_data();
  }

  void state(State& state) override {
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
    state.part("callbacks", [&] { listeners_->state(state); });
    trainer.state(state);
    state("random/seed", random.seed);
    state("random/drawn", random.drawn);
    if (!state.sets()) return;
    K::set_random_state(random);
    epoch_ = epoch;
    step_ = step;
  }

  bool within_epoch() const override { return step_ > 0; }
  bool interrupted() const override { return together_ ? together_->interrupted() : interrupt_->requested(); }
  Feed* validation() override { return validation_.get(); }
  std::optional<std::int64_t> validation_steps() const override { return options_.validation_steps; }

 private:
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
    return options_.validation_batch_size.value_or(options_.batch_size);
  }
  std::optional<std::int64_t> steps() const {
    return options_.steps_per_epoch ? options_.steps_per_epoch : train_->batches();
  }

  /// Takes the samples at the end away, before anything is shuffled.
  void split(ArrayFeed& train) {
    const ValidationData& data = options_.validation_data;
    if (options_.validation_split == 0 || !data.x.empty() || data.dataset) return;
    const auto kept = static_cast<std::int64_t>(
        std::floor(static_cast<double>(train.samples()) * (1 - options_.validation_split)));
    if (kept == 0 || kept == train.samples())
      fail("[fit] validation_split must leave samples on both sides: received validation_split=",
           options_.validation_split, " for ", train.samples(), " samples");
    validation_ = std::make_unique<ArrayFeed>(train.part(kept, train.samples()));
    train = train.part(0, kept);
  }

  /// Arrays that are not like those of the training, if there are any, are tried on the model when it runs.
  void use_validation_data(const ArrayFeed* train) {
    const ValidationData& data = options_.validation_data;
    if (data.dataset) {
      auto feed = std::make_unique<DatasetFeed>("fit", model_, *data.dataset);
      feed->expect_end("validation_steps", options_.validation_steps);
      validation_ = std::move(feed);
    } else if (!data.x.empty()) {
      check_arrays("fit", model_, data.x);
      auto feed = std::make_unique<ArrayFeed>("fit", data.x, data.y, data.sample_weight, validation_batch());
      try_validation_ = feed->samples() > 0 && !(train && feed->is_like(*train));
      validation_ = std::move(feed);
    }
  }

  /// A batch that does not fit the model is found before the training has changed a weight.
  void try_validation() {
    const K::learning_phase_scope inference(0);
    const NoGrad off;
    validation_->restart(false);
    model_.impl().test_step(validation_->next());
  }

  /// The order of the samples is drawn here only where epochs do not draw theirs: with the same seed, epochs
  /// 3 and 4 are the same after two others as in a fit of their own.
  void begin_data() { train_->restart(options_.shuffle && options_.steps_per_epoch.has_value()); }

  /// Says which training goes on, as long as it does.
  struct Going {
    Trainer& trainer;
    Going(Trainer& trainer, Fit& fit) : trainer(trainer) { trainer.training = &fit; }
    ~Going() { trainer.training = nullptr; }
  };

  void train() {
    Trainer& trainer = model_.impl().trainer();
    listeners_->tell(&CallbackImpl::on_train_begin, Logs());
    if (together_) together_->start(*this);
    while (epoch_ < options_.epochs && !trainer.stop) run_epoch();
    trainer.optimizer().finalize_variable_values();
    listeners_->tell(&CallbackImpl::on_train_end, logs_);
  }

  void run_epoch() {
    const int epoch = epoch_;
    listeners_->tell(&CallbackImpl::on_epoch_begin, epoch, Logs());
    if (together_ && within_epoch())
      together_->share_state(*this);  // its begin must not have changed anything
    train_epoch();
    if (validation_ && (epoch + 1) % options_.validation_freq == 0 && !interrupted())
      logs_.update(test_epoch(model_.impl(), *validation_, options_.validation_steps, *listeners_,
                              together_ ? &*together_ : nullptr),
                   "val_");
    listeners_->report(logs_);
    epoch_ = epoch + 1;
    step_ = 0;
    listeners_->tell(&CallbackImpl::on_epoch_end, epoch, logs_);
    if (together_) together_->agree(interrupt_->requested());
  }

  void train_epoch() {
    const K::learning_phase_scope training(1);
    ModelImpl& model = model_.impl();
    if (!within_epoch()) {
      logs_ = Logs();
      model.trainer().reset();
      if (!options_.steps_per_epoch) train_->restart(options_.shuffle);
    }
    // With others, the data of one may end before those of another.
    const std::optional<std::int64_t> steps = together_ ? options_.steps_per_epoch : this->steps();
    while ((!steps || step_ < *steps) && (together_ || !model.trainer().stop)) {
      std::optional<Batch> batch = next_batch();
      if (!batch && options_.steps_per_epoch && !model.trainer().stop) {
        train_->restart(options_.shuffle);
        batch = next_batch();
      }
      if (!batch) break;
      const std::int64_t step = step_;
      listeners_->tell(&CallbackImpl::on_train_batch_begin, step, Logs());
      logs_ = train_step(*batch);
      step_ = step + 1;
      listeners_->tell(&CallbackImpl::on_train_batch_end, step, logs_);
      if (interrupt_->requested()) model.trainer().stop = true;
    }
    if (together_) logs_ = together_->end_epoch(logs_);
  }

  std::optional<Batch> next_batch() {
    if (together_) return together_->next_batch(*train_, interrupt_->requested());
    return train_->more() ? std::optional(train_->next()) : std::nullopt;
  }

  Logs train_step(const Batch& batch) {
    ModelImpl& model = model_.impl();
    return together_ ? together_->train_step(model, batch, epoch_, step_) : model.train_step(batch);
  }

  /// Where the optimizer takes the mean of several processes, each reads a part of the data.
  void divide() {
    if (Replicas* replicas = model_.optimizer().impl().replicas())
      together_.emplace(*replicas, model_.impl().trainer()).divide(*train_);
  }

  Model model_;
  const FitOptions& options_;
  std::unique_ptr<Feed> train_, validation_;
  bool try_validation_ = false;
  std::optional<Listeners> listeners_;
  const InterruptScope* interrupt_ = nullptr;
  int epoch_ = options_.initial_epoch;  ///< that goes on or comes next
  std::int64_t step_ = 0;               ///< of the epoch, that comes next
  Logs logs_;                           ///< of the last step or epoch
  std::optional<Together> together_;    ///< none where this process trains alone
};

}  // namespace

History Model::fit(const TensorList& x, const TensorList& y, const FitOptions& options) const {
  impl().optimizer();
  return Fit(*this, x, y, options).run();
}

History Model::fit(const data::Dataset& dataset, const FitOptions& options) const {
  impl().optimizer();
  return Fit(*this, dataset, options).run();
}

namespace {

/// How many of the feed's batches are taken; none where that is not known.
std::optional<std::int64_t> taken(const Feed& feed, std::optional<std::int64_t> steps) {
  const std::optional<std::int64_t> batches = feed.batches();
  return steps && batches ? std::min(*steps, *batches) : steps ? steps : batches;
}

Logs evaluated(const Model& model, Feed& feed, const EvaluateOptions& options) {
  const std::optional<std::int64_t> steps = taken(feed, options.steps);
  const Listeners listeners(model, options.callbacks, {1, steps, options.verbose});
  model.impl().trainer().refresh();
  return test_epoch(model.impl(), feed, steps, listeners);
}

Prediction predicted(const Model& model, Feed& feed, const PredictOptions& options) {
  const std::optional<std::int64_t> steps = taken(feed, options.steps);
  const Listeners listeners(model, options.callbacks, {1, steps, options.verbose});
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  listeners.tell(&CallbackImpl::on_predict_begin, Logs());
  std::vector<std::vector<Tensor>> parts;  // by output, then by batch
  // No samples at all are a batch, too.
  for (std::int64_t step = 0; step == 0 || ((!steps || step < *steps) && feed.more()); ++step) {
    listeners.tell(&CallbackImpl::on_predict_batch_begin, step, Logs());
    const std::vector<Tensor> outputs = model.impl().predict_step(feed.next());
    parts.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) parts[i].push_back(outputs[i]);
    listeners.tell(&CallbackImpl::on_predict_batch_end, step, Logs());
  }
  listeners.tell(&CallbackImpl::on_predict_end, Logs());
  std::vector<Tensor> outputs;
  for (const std::vector<Tensor>& part : parts)
    outputs.push_back(part.size() == 1 ? part[0].detach() : K::concatenate(part, 0));
  return Prediction(std::move(outputs));
}

}  // namespace

Logs Model::evaluate(const TensorList& x, const TensorList& y, const EvaluateOptions& options) const {
  check_arrays("evaluate", *this, x);
  ArrayFeed feed("evaluate", x, y, options.sample_weight, options.batch_size);
  expect_samples("evaluate", feed);
  return evaluated(*this, feed, options);
}

Logs Model::evaluate(const data::Dataset& dataset, const EvaluateOptions& options) const {
  if (!options.sample_weight.empty())
    fail("[evaluate] sample_weight must go with arrays: received a dataset");
  DatasetFeed feed("evaluate", *this, dataset);
  feed.expect_end("steps", options.steps);
  return evaluated(*this, feed, options);
}

Prediction Model::predict(const TensorList& x, const PredictOptions& options) const {
  check_arrays("predict", *this, x);
  ArrayFeed feed("predict", x, {}, {}, options.batch_size);
  return predicted(*this, feed, options);
}

Prediction Model::predict(const data::Dataset& dataset, const PredictOptions& options) const {
  DatasetFeed feed("predict", *this, dataset);
  feed.take_inputs_only();
  feed.expect_end("steps", options.steps);
  return predicted(*this, feed, options);
}

namespace {

Batch one_batch(const char* op, const Model& model, const TensorList& x, const TensorList& y,
                const OnBatchOptions& options) {
  check_arrays(op, model, x);
  ArrayFeed feed(op, x, y, options.sample_weight, std::max<std::int64_t>(1, x.empty() ? 1 : x[0].shape()[0]));
  feed.weigh_classes(options.class_weight);
  return std::move(feed).whole();
}

}  // namespace

Logs Model::train_on_batch(const TensorList& x, const TensorList& y, const OnBatchOptions& options) const {
  impl().optimizer();
  const Batch batch = one_batch("train_on_batch", *this, x, y, options);
  const K::learning_phase_scope training(1);
  impl().trainer().refresh();
  impl().trainer().reset();
  if (Replicas* replicas = optimizer().impl().replicas())
    return Together(*replicas, impl().trainer()).train_on_batch(impl(), batch);
  return impl().train_step(batch);
}

Logs Model::test_on_batch(const TensorList& x, const TensorList& y, const OnBatchOptions& options) const {
  const Batch batch = one_batch("test_on_batch", *this, x, y, options);
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  impl().trainer().refresh();
  impl().trainer().reset();
  return impl().test_step(batch);
}

std::vector<Tensor> Model::predict_on_batch(const TensorList& x) const {
  const Batch batch = one_batch("predict_on_batch", *this, x, {}, {});
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  return impl().predict_step(batch);
}

void Model::stop_training() const { impl().trainer().stop = true; }

}  // namespace ktape::nn
