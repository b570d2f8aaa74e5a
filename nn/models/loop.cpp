#include <ktape/autograd/tape.hpp>
#include <ktape/nn/callbacks/progress.hpp>
#include <ktape/nn/models/feed.hpp>
#include <ktape/nn/models/interrupt.hpp>
#include <ktape/nn/models/trainer.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/shape.hpp>

#include <unistd.h>
#include <cmath>
#include <iostream>

/// The loops over epochs and batches. What happens in a step is the model's.
namespace ktape::nn {
namespace K = backend;

namespace {

/// All callbacks of a run, in order.
class Listeners {
 public:
  Listeners(const Model& model, std::vector<Callback> callbacks, const RunParameters& parameters)
      : callbacks_(std::move(callbacks)) {
    if (parameters.verbose > 0)
      callbacks_.emplace_back(std::make_shared<ProgressImpl>(std::cout, isatty(STDOUT_FILENO) == 1));
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

 private:
  std::vector<Callback> callbacks_;
};

/// Checks what is given for a model's inputs and outputs before anything changes.
void check_arrays(const char* op, const Model& model, const TensorList& x) {
  const std::vector<std::string> names = model.impl().input_names();
  if (names.empty() || x.size() == names.size()) return;
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + '\'';
  fail("[", op, "] there must be one array for each of the inputs ", all, " of '", model.name(),
       "': received ", x.size());
}

Logs test_epoch(ModelImpl& model, Feed& feed, std::optional<std::int64_t> steps, const Listeners& listeners) {
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  model.trainer().reset();
  listeners.tell(&CallbackImpl::on_test_begin, Logs());
  Logs logs;
  feed.restart(false);
  for (std::int64_t step = 0; feed.more() && step < steps.value_or(feed.batches()); ++step) {
    listeners.tell(&CallbackImpl::on_test_batch_begin, step, Logs());
    logs = model.test_step(feed.next());
    listeners.tell(&CallbackImpl::on_test_batch_end, step, logs);
  }
  listeners.tell(&CallbackImpl::on_test_end, logs);
  return logs;
}

/// A training: its data and where it is.
class Fit {
 public:
  Fit(const Model& model, const TensorList& x, const TensorList& y, const FitOptions& options)
      : model_(model), options_(options), train_("fit", x, y, options.sample_weight, options.batch_size) {
    check_arrays("fit", model, x);
    check_options();
    split();
    train_.weigh_classes(options.class_weight);
    if (!options.validation_data.x.empty()) {
      const ValidationData& data = options.validation_data;
      check_arrays("fit", model, data.x);
      validation_.emplace("fit", data.x, data.y, data.sample_weight, validation_batch());
    }
  }

  History run() {
    const History history;
    std::vector<Callback> callbacks = options_.callbacks;
    callbacks.insert(callbacks.begin(), history);
    const Listeners listeners(model_, std::move(callbacks), {options_.epochs, steps(), options_.verbose});
    Trainer& trainer = model_.impl().trainer();
    trainer.stop = false;
    trainer.refresh();
    train_.restart(options_.shuffle);
    const InterruptScope interrupt;
    listeners.tell(&CallbackImpl::on_train_begin, Logs());
    for (int epoch = options_.initial_epoch; epoch < options_.epochs && !trainer.stop; ++epoch) {
      listeners.tell(&CallbackImpl::on_epoch_begin, epoch, Logs());
      Logs logs = train_epoch(listeners, interrupt);
      if (validation_ && (epoch + 1) % options_.validation_freq == 0 && !interrupt.requested())
        logs.update(test_epoch(model_.impl(), *validation_, options_.validation_steps, listeners), "val_");
      listeners.report(logs);
      listeners.tell(&CallbackImpl::on_epoch_end, epoch, logs);
      last_logs_ = logs;
    }
    listeners.tell(&CallbackImpl::on_train_end, last_logs_);
    return history;
  }

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
  std::int64_t steps() const { return options_.steps_per_epoch.value_or(train_.batches()); }

  /// Takes the samples at the end away, before anything is shuffled.
  void split() {
    if (options_.validation_split == 0 || !options_.validation_data.x.empty()) return;
    const auto kept = static_cast<std::int64_t>(
        std::floor(static_cast<double>(train_.samples()) * (1 - options_.validation_split)));
    if (kept == 0 || kept == train_.samples())
      fail("[fit] validation_split must leave samples on both sides: received validation_split=",
           options_.validation_split, " for ", train_.samples(), " samples");
    validation_ = train_.part(kept, train_.samples());
    train_ = train_.part(0, kept);
  }

  Logs train_epoch(const Listeners& listeners, const InterruptScope& interrupt) {
    const K::learning_phase_scope training(1);
    ModelImpl& model = model_.impl();
    model.trainer().reset();
    if (!options_.steps_per_epoch) train_.restart(options_.shuffle);
    Logs logs;
    for (std::int64_t step = 0; step < steps() && !model.trainer().stop; ++step) {
      if (!train_.more()) train_.restart(options_.shuffle);
      listeners.tell(&CallbackImpl::on_train_batch_begin, step, Logs());
      logs = model.train_step(train_.next());
      listeners.tell(&CallbackImpl::on_train_batch_end, step, logs);
      if (interrupt.requested()) model.trainer().stop = true;
    }
    return logs;
  }

  Model model_;
  const FitOptions& options_;
  Feed train_;
  std::optional<Feed> validation_;
  Logs last_logs_;
};

}  // namespace

History Model::fit(const TensorList& x, const TensorList& y, const FitOptions& options) const {
  impl().optimizer();
  return Fit(*this, x, y, options).run();
}

Logs Model::evaluate(const TensorList& x, const TensorList& y, const EvaluateOptions& options) const {
  check_arrays("evaluate", *this, x);
  Feed feed("evaluate", x, y, options.sample_weight, options.batch_size);
  const Listeners listeners(*this, options.callbacks,
                            {1, options.steps.value_or(feed.batches()), options.verbose});
  impl().trainer().refresh();
  return test_epoch(impl(), feed, options.steps, listeners);
}

Prediction Model::predict(const TensorList& x, const PredictOptions& options) const {
  check_arrays("predict", *this, x);
  Feed feed("predict", x, {}, {}, options.batch_size);
  const std::int64_t steps = std::min(options.steps.value_or(feed.batches()), feed.batches());
  const Listeners listeners(*this, options.callbacks, {1, steps, options.verbose});
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  listeners.tell(&CallbackImpl::on_predict_begin, Logs());
  std::vector<std::vector<Tensor>> parts;  // by output, then by batch
  for (std::int64_t step = 0; step < std::max<std::int64_t>(steps, 1); ++step) {
    listeners.tell(&CallbackImpl::on_predict_batch_begin, step, Logs());
    const std::vector<Tensor> outputs = impl().predict_step(feed.next());
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

namespace {

Batch one_batch(const char* op, const Model& model, const TensorList& x, const TensorList& y,
                const OnBatchOptions& options) {
  check_arrays(op, model, x);
  Feed feed(op, x, y, options.sample_weight, std::max<std::int64_t>(1, x.empty() ? 1 : x[0].shape()[0]));
  feed.weigh_classes(options.class_weight);
  return feed.next();
}

}  // namespace

Logs Model::train_on_batch(const TensorList& x, const TensorList& y, const OnBatchOptions& options) const {
  impl().optimizer();
  const Batch batch = one_batch("train_on_batch", *this, x, y, options);
  const K::learning_phase_scope training(1);
  impl().trainer().refresh();
  impl().trainer().reset();
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
