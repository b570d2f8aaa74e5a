#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/autograd/reading.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/layers/base/call_reports.hpp>
#include <ktape/nn/training/internal/distributed_training.hpp>
#include <ktape/nn/training/internal/loop.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

/// Evaluation and prediction, and single steps.
namespace ktape::nn {
namespace K = backend;
namespace {

/// Calls f. If an op of f is interrupted, the loop `op` is reported as interrupted.
template <class F>
auto naming_interrupts(const char* op, const F& f) {
  try {
    return f();
  } catch (const Interrupted&) {
    throw Interrupted("[" + std::string(op) + "] interrupted");
  }
}

/// Returns the number of batches that are used; none if the number is unknown.
std::optional<std::int64_t> taken(const BatchSource& source, std::optional<std::int64_t> steps) {
  const std::optional<std::int64_t> batches = source.batches();
  return steps && batches ? std::min(*steps, *batches) : steps ? steps : batches;
}

Logs evaluated(const Model& model, BatchSource& source, const EvaluateOptions& options) {
  const std::optional<std::int64_t> steps = taken(source, options.steps);
  const ModelUse::Run run(model.impl(), "evaluate", ModelUse::Kind::Evaluation);
  const ReadingScope reading;
  const CallbackList callbacks(model, options.callbacks, {1, steps, options.verbose});
  model.impl().trainer().refresh();
  // Validation in fit makes no plans, so that a resumed training gives the bits of an uninterrupted one.
  const CompilingScope compiling;
  return naming_interrupts("evaluate", [&] {
    return test_epoch(model.impl(), source, {"evaluate", "steps", options.steps}, callbacks);
  });
}

Prediction predicted(const Model& model, BatchSource& source, const PredictOptions& options) {
  const std::optional<std::int64_t> steps = taken(source, options.steps);
  const ModelUse::Run run(model.impl(), "predict", ModelUse::Kind::Prediction);
  const ReadingScope reading;
  const CallbackList callbacks(model, options.callbacks, {1, steps, options.verbose});
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  const CompilingScope compiling;
  callbacks.tell(&CallbackImpl::on_predict_begin, Logs());
  std::vector<std::vector<Tensor>> parts;  // by output, then by batch
  // Without samples, the model runs on one empty batch, which gives the shapes of the outputs.
  std::int64_t step = 0;
  for (; step == 0 || ((!steps || step < *steps) && source.more()); ++step) {
    callbacks.tell(&CallbackImpl::on_predict_batch_begin, step, Logs());
    const std::vector<Tensor> outputs = model.impl().predict_step(source.next());
    parts.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) parts[i].push_back(outputs[i]);
    callbacks.tell(&CallbackImpl::on_predict_batch_end, step, Logs());
  }
  if (options.steps && step < *options.steps) callbacks.warn_of_end("predict", "steps", *options.steps, step);
  callbacks.tell(&CallbackImpl::on_predict_end, Logs());
  std::vector<Tensor> outputs;
  for (const std::vector<Tensor>& part : parts)
    outputs.push_back(part.size() == 1 ? part[0].detach() : K::concatenate(part, 0));
  return Prediction(std::move(outputs));
}

}  // namespace

Logs Model::evaluate(const NamedTensors& x, const NamedTensors& y, const EvaluateOptions& options) const {
  ArrayAdapter source("evaluate", Arrangement("evaluate", *this).of_arrays(x, y, options.sample_weight),
                      options.batch_size.value_or(default_batch_size));
  expect_samples("evaluate", source);
  return evaluated(*this, source, options);
}

Logs Model::evaluate(const data::Dataset& dataset, const EvaluateOptions& options) const {
  expect_dataset_options("evaluate", options.batch_size, options.sample_weight);
  DatasetAdapter source("evaluate", *this, dataset);
  source.expect_end("steps", options.steps);
  return evaluated(*this, source, options);
}

const Tensor& Prediction::output(std::int64_t i) const {
  const auto count = static_cast<std::int64_t>(outputs_.size());
  if (i < -count || i >= count) fail("[predict] the model has ", count, " outputs: received the output ", i);
  return outputs_[static_cast<std::size_t>(i < 0 ? i + count : i)];
}

Prediction Model::predict(const NamedTensors& x, const PredictOptions& options) const {
  ArrayAdapter source("predict", Arrangement("predict", *this).of_arrays(x),
                      options.batch_size.value_or(default_batch_size));
  return naming_interrupts("predict", [&] { return predicted(*this, source, options); });
}

Prediction Model::predict(const data::Dataset& dataset, const PredictOptions& options) const {
  expect_dataset_options("predict", options.batch_size);
  DatasetAdapter source("predict", *this, dataset);
  source.take_inputs_only();
  source.expect_end("steps", options.steps);
  return naming_interrupts("predict", [&] { return predicted(*this, source, options); });
}

namespace {

Batch one_batch(const char* op, const Model& model, const NamedTensors& x, const NamedTensors& y,
                const OnBatchOptions& options) {
  const Arrangement arrangement(op, model);
  ArrayAdapter source(op, arrangement.of_arrays(x, y, options.sample_weight), default_batch_size);
  source.weigh_classes(arrangement, options.class_weight);
  return std::move(source).whole();
}

}  // namespace

Logs Model::train_on_batch(const NamedTensors& x, const NamedTensors& y,
                           const OnBatchOptions& options) const {
  impl().optimizer();
  const Batch batch = one_batch("train_on_batch", *this, x, y, options);
  const ModelUse::Run run(impl(), "train_on_batch", ModelUse::Kind::Training);
  const K::learning_phase_scope training(1);
  impl().trainer().refresh();
  impl().trainer().reset();
  if (ProcessGroup* process_group = optimizer().impl().process_group())
    return DistributedTraining(*process_group, impl().trainer()).train_on_batch(impl(), batch);
  return impl().trainer().train(batch);
}

Logs Model::test_on_batch(const NamedTensors& x, const NamedTensors& y, const OnBatchOptions& options) const {
  const Batch batch = one_batch("test_on_batch", *this, x, y, options);
  const ModelUse::Run run(impl(), "test_on_batch", ModelUse::Kind::Evaluation);
  const ReadingScope reading;
  const K::learning_phase_scope inference(0);
  const NoGrad off;
  const CompilingScope compiling;
  impl().trainer().refresh();
  impl().trainer().reset();
  return impl().test_step(batch);
}

namespace {

/// Returns the outputs by the plan of an earlier prediction with such inputs, which passed all checks; none if there
/// is no such plan.
std::optional<std::vector<Tensor>> predicted_again(const ModelImpl& model, const NamedTensors& x) {
  if (x.named() || CallReports::any()) return {};
  const std::shared_ptr<CompiledCalls> plans = model.plans();
  return plans ? plans->run_again(x) : std::nullopt;
}

}  // namespace

std::vector<Tensor> Model::predict_on_batch(const NamedTensors& x) const {
  const ModelUse::Run run(impl(), "predict_on_batch", ModelUse::Kind::Prediction);
  const ReadingScope reading;
  const NoGrad off;
  const CompilingScope compiling;
  if (std::optional<std::vector<Tensor>> outputs = predicted_again(impl(), x)) return *std::move(outputs);
  const Batch batch = one_batch("predict_on_batch", *this, x, {}, {});
  const K::learning_phase_scope inference(0);
  return impl().predict_step(batch);
}

std::vector<Tensor> Model::in_order(const NamedTensors& inputs) const {
  if (!inputs.named()) return inputs;
  return Arrangement("call", *this).of_arrays(inputs).x;
}

Tensor Model::operator()(std::initializer_list<NamedTensors::Named> inputs,
                         const CallArguments& arguments) const {
  return (*this)(NamedTensors(inputs), arguments);
}

std::vector<Tensor> Model::apply(const NamedTensors& inputs, const CallArguments& arguments) const {
  return impl().apply(in_order(inputs), arguments);
}

std::vector<Metric> Model::metrics() const { return impl().trainer().metrics(); }
std::vector<std::string> Model::metrics_names() const { return impl().trainer().metrics_names(); }
void Model::reset_metrics() const { impl().reset_metrics(); }

void Model::stop_training() const { impl().trainer().stop = true; }

}  // namespace ktape::nn
