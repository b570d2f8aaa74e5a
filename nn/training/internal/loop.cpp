#include <ktape/autograd/tape.hpp>
#include <ktape/nn/training/internal/distributed_training.hpp>
#include <ktape/nn/training/internal/loop.hpp>
#include <ktape/nn/training/internal/progress.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/settings/config.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

namespace ktape::nn {
namespace K = backend;

CallbackList::CallbackList(const Model& model, std::vector<Callback> callbacks,
                           const RunParameters& parameters)
    : callbacks_(std::move(callbacks)), parameters_(parameters) {
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

void CallbackList::report(Logs& logs) const {
  for (const Callback& callback : callbacks_) callback.impl().report(logs);
}

void CallbackList::state(Archive& state) const {
  std::map<std::string, int> seen;
  for (const Callback& callback : callbacks_) {
    const std::string name = callback.class_name();
    const std::string part = name + '_' + std::to_string(seen[name]++);
    if (!state.sets() || state.has_part(part)) state.part(part, [&] { callback.impl().state(state); });
  }
}

void CallbackList::warn_of_end(const char* op, const char* option, std::int64_t steps,
                               std::int64_t seen) const {
  std::ostringstream text;
  text << '[' << op << "] your input ran out of data: received " << option << '=' << steps << ", but only "
       << seen << (seen == 1 ? " batch" : " batches") << "; make sure that the dataset has enough batches "
       << "for all epochs, maybe with repeat()";
  warn(parameters_, text.str());
}

void expect_samples(const char* op, const ArrayAdapter& source) {
  if (source.samples() == 0) fail("[", op, "] there must be samples: received arrays of none");
}

void expect_dataset_options(const char* op, std::optional<std::int64_t> batch_size,
                            const NamedTensors& sample_weight) {
  if (batch_size)
    fail("[", op, "] batch_size must go with arrays, for the elements of a dataset are batches: received ",
         "batch_size=", *batch_size, " and a dataset; see Dataset::batch");
  if (!sample_weight.empty())
    fail("[", op, "] sample_weight must go with arrays, for the elements of a dataset hold their weights: ",
         "received sample_weight and a dataset");
}

namespace {

/// A scope in which each of the processes that train one model reads its part of the data.
class Division {
 public:
  Division(BatchSource& source, const DistributedTraining* distributed) : feed_(source) {
    if (distributed) distributed->divide(source);
  }
  ~Division() { feed_.divide(0, 1); }
  Division(const Division&) = delete;

 private:
  BatchSource& feed_;
};

}  // namespace

Logs test_epoch(ModelImpl& model, BatchSource& source, const TestRun& run, const CallbackList& callbacks,
                DistributedTraining* distributed) {
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  model.trainer().reset();
  callbacks.tell(&CallbackImpl::on_test_begin, Logs());
  Logs logs;
  double samples = 0;
  const Division division(source, distributed);
  source.restart(false);
  std::int64_t step = 0;
  for (; (!run.steps || step < *run.steps) && source.more(); ++step) {
    callbacks.tell(&CallbackImpl::on_test_batch_begin, step, Logs());
    const Batch batch = source.next();
    samples += samples_of(batch);
    logs = model.test_step(batch);
    callbacks.tell(&CallbackImpl::on_test_batch_end, step, logs);
  }
  if (run.steps && step < *run.steps) callbacks.warn_of_end(run.op, run.option, *run.steps, step);
  if (distributed) logs = distributed->merged(logs, samples);
  callbacks.tell(&CallbackImpl::on_test_end, logs);
  return logs;
}

}  // namespace ktape::nn
