#pragma once
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

#include <cstdint>
#include <string>

/// Training by several processes, on one machine or on many: each process has a copy of the model and a part
/// of the samples, and all processes use the mean of their gradients. The component `ktape::distributed` uses
/// MPI.
///
///     nn::distributed::init();
///     model.compile({.optimizer = nn::distributed::Optimizer(nn::Adam(0.001)), .loss = "mse"});
///     model.fit(x, y, {.batch_size = 16, .epochs = 5});
///
/// `mpirun -n 4 program` starts four processes; without mpirun the program is one process, and these
/// functions cost nothing. A process has a number, the rank; the first process has rank 0.
///
/// `fit` with such an optimizer:
///
/// - All processes train one model: names, shapes, dtypes and order of the weights are compared in `compile` and
///   after the build; a difference is a ValueError in all processes. Initial values, the optimizer's state and
///   the state that BackupAndRestore restores come from rank 0.
/// - `batch_size` is the batch size of one process. Each process takes its part of the rows of tensors, for
///   training and validation: P processes with batches of n compute what one process computes with batches of
///   P * n. All processes pass equal tensors: different numbers of rows are a ValueError in all processes. The
///   program divides datasets: `dataset.shard(size(), rank())`, before a shuffle.
/// - Gradients are means weighted by samples, so that batches and shards may differ in size. For losses that are
///   means over samples, as Keras's are by default, the result is the gradient of the loss of all samples. A
///   process whose data end first, or that has no data, continues with batches of weight 0; if no process has
///   data, all throw ValueError.
/// - Logs at the end of an epoch, for all callbacks, cover the samples of all processes; logs of a batch cover
///   the samples of the process. Metrics are merged by the sums that `MetricImpl::state` names. Weights that are
///   learned without gradients (moving means) become the mean over all processes after each epoch.
/// - Only rank 0 shows the progress bar, prints in callbacks, and runs callbacks that write files. A training
///   can resume from a backup with another number of processes: exactly between epochs; within an epoch of a
///   dataset, at about the position where the training stopped.
/// - Random numbers in a step (dropout, augmentation) and after `shard` differ between processes; other random
///   numbers, such as initial values and the order of samples, are equal in all processes.
/// - A process that throws in `fit`, dies, leaves, or makes the others wait too long ends all processes, with
///   one message that names its rank, its host and the cause.
///
/// `evaluate` and `predict` outside of `fit` run in each process separately.
///
/// One thread of each process calls these functions; functions that exchange data are called by all
/// processes, in one order. Before `init` there is one process.
namespace ktape::nn::distributed {

struct InitOptions {
  double timeout = 600;  ///< seconds of waiting for another process after which all processes are ended
};
/// Joins the processes that mpirun started. All processes continue the random numbers of rank 0. A later call
/// only sets the timeout. Throws ValueError unless the timeout is above 0.
///
///     nn::distributed::init({.timeout = 60});
///     if (nn::distributed::first())
///       std::cout << "rank " << nn::distributed::rank() << " of "
///                 << nn::distributed::size();
void init(const InitOptions& options = {});
/// Return the number of this process, counted from 0, and the number of processes.
int rank();
int size();
/// Returns whether this process is rank 0, which alone should print or write.
inline bool first() { return rank() == 0; }

struct OptimizerOptions {
  /// The largest number of bytes of gradients in one message; at most a quarter of all gradients.
  std::int64_t bucket_bytes = 25 * 1024 * 1024;
  /// Whether gradients are sent in half precision: 11 significant bits, infinite beyond 65504, zero below
  /// 3e-8.
  bool float16 = false;
  /// Whether up to 8 processes of one machine add gradients in shared memory instead of by messages.
  bool shared_memory = true;
};
/// An optimizer that updates with the mean of the gradients of all processes. `minimize`, and so `fit`, sends
/// gradients in the order in which they become ready, while the backward pass computes the others; `apply`
/// sends all gradients before the update. Gradients of tables are sent as the rows that were looked up. With
/// `gradient_accumulation_steps` every step sends. In a training loop of the program, all processes count
/// equally, and the program makes the initial values equal by `broadcast`.
///
/// Files contain the wrapped optimizer, so that they can be loaded without MPI. After
/// `model.compile({.optimizer = Optimizer(model.optimizer()), ...})` the training resumes. Throws ValueError
/// for an undefined optimizer and bucket_bytes below 1.
///
///     nn::distributed::init();
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
///     model.compile(
///         {.optimizer = nn::distributed::Optimizer(nn::SGD(0.1), {.float16 = true}),
///          .loss = "mse"});
///     auto history = model.fit(K::ones({8, 2}), K::ones({8, 1}),
///                              {.batch_size = 4, .epochs = 2, .verbose = 0});
///     std::cout << history["loss"].size() << " epochs";
class Optimizer : public nn::Optimizer {
 public:
  explicit Optimizer(const nn::Optimizer& optimizer, const OptimizerOptions& options = {});
};

// Collective operations on tensors. All processes must call with equal shapes and dtypes; otherwise each
// throws a ValueError that names the ranks that differ. With one process the result is x.

struct AllreduceOptions {
  std::string op = "mean";  ///< "mean" or "sum"
};
/// Returns the mean, or the sum, of the tensors of all processes, in all processes. The gradient is the mean,
/// or the sum, of the gradients of all processes. Throws TypeError for the mean of a tensor that is not
/// floating, and ValueError for another op. Mirrors `hvd.allreduce`.
///
///     nn::distributed::init();
///     Tensor x = K::constant({1., 2.}) * (nn::distributed::rank() + 1.f);
///     std::cout << nn::distributed::allreduce(x, {.op = "sum"});
Tensor allreduce(const Tensor& x, const AllreduceOptions& options = {});
/// Returns the tensors of all processes, joined along axis 0, the only axis along which they may differ in
/// extent. The gradient is the sum over all processes of the gradients of this process's part. Throws
/// ValueError for a scalar.
///
///     nn::distributed::init();
///     Tensor mine = K::full({1, 2}, nn::distributed::rank());
///     std::cout << nn::distributed::allgather(mine);
Tensor allgather(const Tensor& x);
/// Returns the tensor of the process `root` in all processes. The gradient of root's tensor is the sum of the
/// gradients of all processes; the gradient of the other processes' tensors is zeros. Throws ValueError for a
/// root that is not a rank.
///
///     nn::distributed::init();
///     Variable w = K::random_uniform_variable({2}, 0, 1);
///     nn::distributed::broadcast(std::vector<Variable>{w},
///                                0);  // all processes have the values of rank 0
///     nn::distributed::barrier();
///     std::cout << nn::distributed::broadcast(K::ones({2}));
Tensor broadcast(const Tensor& x, int root = 0);
/// Assigns root's values to the variables of all processes.
void broadcast(const std::vector<Variable>& variables, int root = 0);
/// Waits until all processes have called `barrier`.
void barrier();

/// BatchNormalization with the statistics of the batches of all processes, weighted like gradients. Mirrors
/// `keras.layers.BatchNormalization(synchronized=True)`.
///
///     nn::distributed::init();
///     nn::Sequential model(
///         {nn::distributed::SyncBatchNormalization({.input_shape = {2}})});
///     std::cout << model.predict(K::ones({1, 2}), {.verbose = 0}).shape();
class SyncBatchNormalization : public Layer {
 public:
  explicit SyncBatchNormalization(const BatchNormalizationOptions& options = {});
};

/// The cost of sending gradients for this process since `init`.
struct Traffic {
  std::int64_t bytes = 0;  ///< the number of bytes of gradients that were sent
  double seconds = 0;      ///< seconds during which gradients were being sent
  double waited = 0;       ///< seconds of waiting without other work

  /// Returns the share of `seconds` in which the process computed at the same time.
  ///
  ///     nn::distributed::init();
  ///     nn::distributed::Traffic sent = nn::distributed::traffic();
  ///     std::cout << sent.bytes << " bytes, hidden: " << sent.hidden();
  double hidden() const { return seconds > 0 ? 1 - waited / seconds : 1; }
};
Traffic traffic();

}  // namespace ktape::nn::distributed
