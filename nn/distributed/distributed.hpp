#pragma once
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

#include <cstdint>
#include <string>

/// Training by several processes, on one machine or on many: each has a copy of the model and samples of its
/// own, and all take the mean of their gradients. A component of its own (`ktape::distributed`), over MPI.
///
///     nn::distributed::init();
///     model.compile({.optimizer = nn::distributed::Optimizer(nn::Adam(0.001)), .loss = "mse"});
///     model.fit(x, y, {.batch_size = 16, .epochs = 5});
///
/// `mpirun -n 4 program` starts four; without mpirun the same program is one process, and all that is here
/// costs nothing. Processes are numbered: rank 0 is the first.
///
/// `fit` with such an optimizer:
///
/// - The model is the same in all processes: names, shapes, dtypes and order of its weights are compared in
///   `compile` and once it is built; another model is a ValueError in all processes. Initial values, the
///   state of the optimizer and what BackupAndRestore brings back are those of rank 0.
/// - `batch_size` is that of one process. Of tensors, for training and validation, each process takes its
///   part by itself: P processes do with batches of n what one process does with batches of P * n. All have the
///   same tensors: another number of rows in one of them is a ValueError in all. A dataset is divided by the
///   program: `dataset.shard(size(), rank())`, before a shuffle.
/// - Gradients are means weighted by samples, so that batches and shards may differ in size. That is the
///   gradient of all samples together for losses that are means over samples, as Keras's are by default. A
///   process whose data end first, or that has none, takes part with a batch that does not count; data of which
///   no process has any are a ValueError.
/// - Logs at the end of an epoch, for all callbacks, are of all samples; those of a batch are of the samples
///   of the process. Metrics are put together by the sums that `MetricImpl::state` names. Weights that are
///   learned without gradients (moving means) become the mean of all processes after each epoch.
/// - The progress bar, what callbacks print, and callbacks that write files are those of rank 0. Another
///   number of processes can go on from a backup: between epochs exactly, within an epoch of a dataset at
///   about the same place.
/// - Random numbers in a step (dropout, augmentation) and after `shard` differ from process to process; all
///   others, such as initial values and the order of samples, are the same in all.
/// - A process that throws in `fit`, dies, leaves, or makes the others wait too long ends all processes, with
///   one message that names its rank, its host and the cause.
///
/// `evaluate` and `predict` outside of `fit` are each process's own.
///
/// All functions are called by one thread of each process, and those that exchange something by all
/// processes, in the same order. Before `init` there is one process.
namespace ktape::nn::distributed {

struct InitOptions {
  double timeout = 600;  ///< seconds to wait for another process before all are ended
};
/// Joins the processes that mpirun started. Random numbers go on from where rank 0 is. Called again, it sets
/// the timeout. Throws ValueError unless the timeout is above 0.
void init(const InitOptions& options = {});
/// The number of this process, from 0, and how many there are.
int rank();
int size();
/// Whether this process is rank 0: for what one process prints or writes.
inline bool first() { return rank() == 0; }

struct OptimizerOptions {
  /// Gradients are sent together up to so many bytes, or up to a quarter of all where that is less.
  std::int64_t bucket_bytes = 25 * 1024 * 1024;
  /// Whether they are sent in half precision: 11 bits of each, infinite beyond 65504, zero below 3e-8.
  bool float16 = false;
  /// Whether up to 8 processes of one machine sum them in memory that they share, and not by messages.
  bool shared_memory = true;
};
/// The same optimizer, which takes the mean of the gradients of all processes: in `minimize`, and with it
/// `fit`, they are sent, in the order in which they become ready, while the others are still being computed;
/// `apply` sends them first. Those of a table of which rows were looked up are sent as rows. With
/// `gradient_accumulation_steps` each step sends. In a loop of one's own each process weighs the same, and
/// `broadcast` makes the initial values the same.
///
/// It is saved as what it is made of: a file can be loaded without MPI, and after
/// `model.compile({.optimizer = Optimizer(model.optimizer()), ...})` the training goes on. Throws ValueError
/// for an undefined optimizer and bucket_bytes below 1.
class Optimizer : public nn::Optimizer {
 public:
  explicit Optimizer(const nn::Optimizer& optimizer, const OptimizerOptions& options = {});
};

// Tensors. All processes call with the same shape and dtype, or get a ValueError that says who did not. With
// one process the result is x.

struct AllreduceOptions {
  std::string op = "mean";  ///< or "sum"
};
/// The mean, or the sum, over all processes, in all of them. The gradient is the same of the gradients: that
/// of the sum of all processes' losses for a sum. Throws TypeError for the mean of a tensor that is not
/// floating, and ValueError for another op. Mirrors `hvd.allreduce`.
Tensor allreduce(const Tensor& x, const AllreduceOptions& options = {});
/// The tensors of all processes along axis 0, where alone they may differ in extent. The gradient is the sum
/// of the gradients, of one's own part. Throws ValueError for a scalar.
Tensor allgather(const Tensor& x);
/// That of the process `root`, in all of them. The gradient is the sum of the gradients, for root; zeros for
/// others. Throws ValueError for a root that there is not.
Tensor broadcast(const Tensor& x, int root = 0);
/// The variables take on the values that root has.
void broadcast(const std::vector<Variable>& variables, int root = 0);
/// Waits for all processes.
void barrier();

/// BatchNormalization with the statistics of the batches of all processes, weighted as gradients are. Mirrors
/// `keras.layers.BatchNormalization(synchronized=True)`.
class SyncBatchNormalization : public Layer {
 public:
  explicit SyncBatchNormalization(const BatchNormalizationOptions& options = {});
};

/// What sending gradients has cost this process since `init`.
struct Traffic {
  std::int64_t bytes = 0;  ///< of its gradients
  double seconds = 0;      ///< while some were on their way
  double waited = 0;       ///< of these, without anything else to do

  /// The share of the time that was hidden behind computation.
  double hidden() const { return seconds > 0 ? 1 - waited / seconds : 1; }
};
Traffic traffic();

}  // namespace ktape::nn::distributed
