#pragma once
#include <ktape/nn/optimizers/process_group.hpp>
#include <ktape/nn/training/batch_source.hpp>
#include <ktape/nn/training/trainer.hpp>

namespace ktape::nn {

/// A training by several processes. All processes make equal decisions on epochs, batches and stopping. All
/// processes must call these functions, in the same order in each process.
class DistributedTraining {
 public:
  DistributedTraining(ProcessGroup& process_group, Trainer& trainer)
      : group_(process_group), trainer_(trainer) {}

  /// Returns whether this process prints and writes files for all processes.
  bool first() const { return group_.rank() == 0; }
  /// Throws ValueError in all processes unless the arrays of all processes have the same number of rows.
  /// (Each process trains on a part of the rows.)
  void expect_same_rows(std::int64_t rows) const;
  /// Lets the source give this process's part of the data.
  void divide(BatchSource& source) const { source.divide(group_.rank(), group_.size()); }

  /// Starts the training of all processes in the state of the first process: from its initial weights, or
  /// from its backup. Throws ValueError unless all processes train models of one architecture.
  void start(TrainingRun& training);
  void share_state(TrainingRun& training);

  /// Returns the next batch; nothing at the end of the data of all processes, and when the training stops. A
  /// process without further data repeats its last batch, or takes the batch of another process if it has had
  /// no batch; a repeated batch has weight 0.
  std::optional<Batch> next_batch(BatchSource& source, bool interrupted);
  /// Returns a batch from which the model can be built: a batch of another process for a process without
  /// data. Throws ValueError in all processes if no process has data.
  Batch any_batch(BatchSource& source);
  /// Trains on a batch, with random numbers that differ between the processes, and returns the logs.
  Logs train_step(ModelImpl& model, const Batch& batch, int epoch, std::int64_t step);
  /// Trains on a batch of this process while each other process trains on its batch, and returns the logs.
  Logs train_on_batch(ModelImpl& model, const Batch& batch);
  /// Returns the logs of an epoch, merged from all processes since the last call, and averages the statistics
  /// of layers.
  Logs end_epoch(const Logs& logs);
  /// Returns logs merged from all processes: losses and metrics over all samples. Other numbers, which a
  /// custom training step reports, become means weighted by the number of samples. The names come from the
  /// first process with samples.
  Logs merged(const Logs& logs, double samples);

  /// Stops or interrupts the training in all processes if the training of any process stops or is
  /// interrupted.
  void agree(bool interrupted) { agreed(0, interrupted); }
  bool interrupted() const { return interrupted_; }
  /// Ends all processes with a message that gives the cause, because the other processes would wait for a
  /// process that failed.
  void fail(const std::string& cause) { group_.end(cause); }

 private:
  double agreed(double number, bool interrupted);
  /// Returns the rank of the first process that passes true; the number of processes if all pass false.
  int first_with(bool something);
  Batch shared(const Batch& batch);

  ProcessGroup& group_;
  Trainer& trainer_;
  Batch last_;          ///< the batch that was read last
  double counted_ = 0;  ///< the number of samples of last_; 0 for a repeated batch
  double samples_ = 0;  ///< the number of samples of this process in the epoch so far
  bool interrupted_ = false, some_lack_batches_ = false;
};

/// Saves or restores logs under a name; see Archive.
void logs_state(Archive& state, const std::string& name, Logs& logs);

}  // namespace ktape::nn
