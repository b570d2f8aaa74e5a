#pragma once
#include <ktape/nn/optimizers/process_group.hpp>
#include <ktape/nn/training/batch_source.hpp>
#include <ktape/nn/training/trainer.hpp>

namespace ktape::nn {

/// A training by several processes. All processes make equal decisions on epochs, batches and stopping. All
/// processes call these functions, in one order.
class DistributedTraining {
 public:
  DistributedTraining(ProcessGroup& process_group, Trainer& trainer)
      : group_(process_group), trainer_(trainer) {}

  /// Returns whether this is the process that prints and writes for all.
  bool first() const { return group_.rank() == 0; }
  /// Throws ValueError, in all processes, unless they have arrays of as many rows, of which each takes a
  /// part.
  void expect_same_rows(std::int64_t rows) const;
  /// Lets the source give this process's part of the data.
  void divide(BatchSource& source) const { source.divide(group_.rank(), group_.size()); }

  /// Starts the training of all processes in the state of the first process: from its initial weights, or
  /// from its backup. Throws ValueError unless all processes train models of one architecture.
  void start(TrainingRun& training);
  void share_state(TrainingRun& training);

  /// Returns the next batch; none at the end of all data, and when the training is to stop. A process whose
  /// data end first repeats its last batch, or the batch of another process if it had none; repeated batches
  /// have no weight.
  std::optional<Batch> next_batch(BatchSource& source, bool interrupted);
  /// A batch for each process, of another where this has none: to build the model. Throws ValueError, in all
  /// processes, where none has data.
  Batch any_batch(BatchSource& source);
  /// Returns a step on a batch, with random numbers of this process's own.
  Logs train_step(ModelImpl& model, const Batch& batch, int epoch, std::int64_t step);
  /// A step on batches that all processes were given.
  Logs train_on_batch(ModelImpl& model, const Batch& batch);
  /// Returns the report of all processes since the last call.
  Logs end_epoch(const Logs& logs);
  /// Returns the measurements of all processes, for the logs of each process. Other numbers, which a
  /// program's own steps report, are means weighted by samples. The names come from the first process that
  /// has samples.
  Logs merged(const Logs& logs, double samples);

  /// Stops, or interrupts, the training in all processes if the training of one stops or is interrupted.
  void agree(bool interrupted) { agreed(0, interrupted); }
  bool interrupted() const { return interrupted_; }
  /// Ends all processes with the cause: the others would wait for a process that fails.
  void fail(const std::string& cause) { group_.end(cause); }

 private:
  double agreed(double number, bool interrupted);
  /// The first process that has something; the number of processes where none has.
  int first_with(bool something);
  Batch shared(const Batch& batch);

  ProcessGroup& group_;
  Trainer& trainer_;
  Batch last_;          ///< the batch that was read last
  double counted_ = 0;  ///< the samples of last_ that count
  double samples_ = 0;  ///< samples of this process in the epoch so far
  bool interrupted_ = false, some_lack_batches_ = false;
};

/// Keeps the logs under a name, or sets them.
void logs_state(Archive& state, const std::string& name, Logs& logs);

}  // namespace ktape::nn
