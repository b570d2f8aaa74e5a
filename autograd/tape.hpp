#pragma once
#include <ktape/autograd/node.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace ktape {

// What threads may share
//
// Each thread has a tape, NoGrad and EnableGrad scopes and learning phase scopes that no other thread sees.
// The library keeps nothing else per thread: a tensor or model that one thread makes, another thread may use.
//
// - Tensors and the graph of ops that made them: any number of threads may compute with the same tensors and
//   differentiate the same graph at the same time. Values do not change, and no thread waits for another's
//   `gradients`. Two things do change a tensor: `GradientTape::watch` (and the end of that tape), so let a
//   thread watch `x.detach()` when others use x; and assigning to the handle itself, as with std::shared_ptr.
// - Variables: any number of threads may read one. Assigning, updating or `set_trainable` while another thread
//   reads the variable needs a lock of yours around both.
// - Layers and models: inference, evaluation, the first call or build, and functions (K::function) of one
//   model are safe from any number of threads. First calls take turns, and so do evaluations of one model.
//   Losses and metrics that layers add belong to the thread of the call. Training, and all else that changes
//   weights or settings, needs the model for one thread alone: `fit`, `train_on_batch` and `compile` throw
//   ValueError while another thread uses the model, and `fit`, `evaluate`, `predict` and calls of a model do
//   while another thread trains it. A training step by hand, an optimizer or a metric object that threads
//   share, and two models that share layers, need a lock of yours.
// - Closures given to `custom_gradient` and `record`: run by the thread that calls `gradients`, and by several
//   threads at once if several differentiate the same graph.
// - A GradientTape, a NoGrad or an EnableGrad: for the thread that made it.
// - Random numbers, names and the settings of the backend (`set_floatx`, `set_random_seed`, ...) belong to the
//   whole process and are safe to use from all threads; which thread draws which numbers is then a race.

/// The ops recorded on one thread, oldest first. A node is listed from its recording until no gradient can
/// need the node any more, so the tape needs no clearing.
///
/// A Tensor that a loop carries from step to step keeps the history of all steps, because a gradient could be
/// taken through all of them:
///
///     velocity = 0.9f * velocity + grads[0];     // the tape grows by a step's whole graph each time
///
/// State that is not meant to be differentiated belongs in a Variable, which holds values only
/// (`K::update(velocity, 0.9f * velocity + grads[0])`), is computed inside NoGrad, or cut from its history
/// with `K::stop_gradient` (or `detach`). When memory grows over a training run, `tape().summary()` between
/// two steps tells what is kept: there should be nothing.
class Tape {
 public:
  struct Entry {
    std::string op;
    std::uint64_t sequence;             ///< creation order
    std::vector<std::uint64_t> inputs;  ///< sequence of the ops that it read; 0 for a leaf
    std::vector<Shape> outputs;
  };
  Tape(const Tape&) = delete;

  /// The number of recorded ops.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Bytes of the nodes and of the values computed by the ops they stand for.
  std::size_t bytes() const;
  /// A table of the ops on the tape: how many there are of each and how many bytes they hold, most bytes
  /// first.
  std::string summary() const;
  /// The recorded ops, oldest first.
  std::vector<Entry> entries() const;
  /// The recorded graph in Graphviz' dot language: a box per op with its result's shape, an arrow per use.
  std::string graphviz() const;

 private:
  friend class Node;
  friend struct ThreadState;
  // A node may die on another thread than its tape's; the lock is held for a few instructions only.
  class SpinLock {
   public:
    void lock() {
      while (flag_.test_and_set(std::memory_order_acquire)) {
      }
    }
    void unlock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag flag_;
  };

  Tape() = default;
  ~Tape() = default;
  void append(Node* node);
  void remove(Node* node);
  /// For the end of the thread: from now on the tape lives only as long as its nodes.
  void close();

  mutable SpinLock lock_;
  Node *first_ = nullptr, *last_ = nullptr;
  std::atomic<std::size_t> size_{0};
  bool closed_ = false;
};

/// The calling thread's tape. It is there until the thread ends.
Tape& tape();

/// Turns the recording of ops on this thread on or off while it lives; then it is as it was before.
class RecordingScope {
 public:
  explicit RecordingScope(bool on);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool before_;
};

/// While one lives, ops on this thread are not recorded.
class NoGrad : RecordingScope {
 public:
  NoGrad() : RecordingScope(false) {}
};

/// While one lives, ops on this thread are recorded, also inside a NoGrad and inside a backward closure,
/// where they otherwise are only when the gradient itself is being differentiated.
class EnableGrad : RecordingScope {
 public:
  EnableGrad() : RecordingScope(true) {}
};

}  // namespace ktape
