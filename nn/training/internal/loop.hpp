#pragma once
#include <ktape/nn/training/batch_source.hpp>

#include <string>
#include <vector>

/// Functions that the loops over batches share. Internal: sources only.
namespace ktape::nn {

class DistributedTraining;

/// All callbacks of a run, in order, with the progress bar where the run prints.
class CallbackList {
 public:
  CallbackList(const Model& model, std::vector<Callback> callbacks, const RunParameters& parameters);

  template <class... Parameters, class... Arguments>
  void tell(void (CallbackImpl::*event)(Parameters...), const Arguments&... arguments) const {
    for (const Callback& callback : callbacks_) (callback.impl().*event)(arguments...);
  }
  void report(Logs& logs) const;
  /// Names the state of each, by its class. One that nothing has been kept of begins anew.
  void state(Archive& state) const;
  /// Warns the user that the data ended before the batches that an option asked for.
  void warn_of_end(const char* op, const char* option, std::int64_t steps, std::int64_t seen) const;

 private:
  std::vector<Callback> callbacks_;
  RunParameters parameters_;
};

/// The samples in a batch of arrays where the user does not say.
constexpr std::int64_t default_batch_size = 32;

/// Throws ValueError, naming the operation, for arrays of no samples.
void expect_samples(const char* op, const ArrayAdapter& source);
/// Throws ValueError, naming the operation, for options of arrays that are given with a dataset.
void expect_dataset_options(const char* op, std::optional<std::int64_t> batch_size,
                            const NamedTensors& sample_weight = {});

/// The batches to measure the model on: `steps` of them, or all. `option` is the name of their number in
/// messages.
struct TestRun {
  const char* op;
  const char* option;
  std::optional<std::int64_t> steps;
};
/// Measures the model on a feed from its begin.
Logs test_epoch(ModelImpl& model, BatchSource& source, const TestRun& run, const CallbackList& callbacks,
                DistributedTraining* distributed = nullptr);

}  // namespace ktape::nn
