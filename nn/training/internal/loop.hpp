#pragma once
#include <ktape/nn/training/batch_source.hpp>

#include <string>
#include <vector>

/// Functions that the loops over batches share. Internal: sources only.
namespace ktape::nn {

class DistributedTraining;

/// The callbacks of a training, an evaluation or a prediction, in order, including the progress bar if the
/// run prints.
class CallbackList {
 public:
  CallbackList(const Model& model, std::vector<Callback> callbacks, const RunParameters& parameters);

  template <class... Parameters, class... Arguments>
  void tell(void (CallbackImpl::*event)(Parameters...), const Arguments&... arguments) const {
    for (const Callback& callback : callbacks_) (callback.impl().*event)(arguments...);
  }
  void report(Logs& logs) const;
  /// Saves or restores the state of each callback under the name of its class; see Archive. A callback
  /// without a saved state starts from the beginning.
  void state(Archive& state) const;
  /// Warns the user that the data ended before the batches that an option asked for.
  void warn_of_end(const char* op, const char* option, std::int64_t steps, std::int64_t seen) const;

 private:
  std::vector<Callback> callbacks_;
  RunParameters parameters_;
};

/// The default batch size for arrays.
constexpr std::int64_t default_batch_size = 32;

/// Throws ValueError, naming the operation, for arrays without samples.
void expect_samples(const char* op, const ArrayAdapter& source);
/// Throws ValueError, naming the operation, for options that are for arrays but are given with a dataset.
void expect_dataset_options(const char* op, std::optional<std::int64_t> batch_size,
                            const NamedTensors& sample_weight = {});

/// The batches of an evaluation: the first `steps` batches, or all batches. `option` is the name of the
/// option for `steps`, for messages.
struct TestRun {
  const char* op;
  const char* option;
  std::optional<std::int64_t> steps;
};
/// Evaluates the model on the batches of a source, from the first batch on, and returns the logs.
Logs test_epoch(ModelImpl& model, BatchSource& source, const TestRun& run, const CallbackList& callbacks,
                DistributedTraining* distributed = nullptr);

}  // namespace ktape::nn
