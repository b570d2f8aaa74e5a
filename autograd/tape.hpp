#pragma once
#include <ktape/autograd/node.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace ktape {

// Thread safety
//
// Each thread has its own tape, NoGrad and EnableGrad scopes, learning phase scopes and `set_num_threads`. The
// library keeps no other state per thread: a tensor or model that one thread makes, another thread may use.
//
// - Tensors and the graph of ops that made them: any number of threads may compute with shared tensors and
//   differentiate a shared graph concurrently. Values do not change, and no thread waits for a `gradients`
//   call of another thread. Two operations do change a tensor: `GradientTape::watch` (and the end of that
//   tape), so watch `x.detach()` when other threads use x; and assigning to the handle itself, as with
//   std::shared_ptr.
// - Variables: any number of threads may read a variable. Assigning, updating or `set_trainable` meanwhile
//   needs a lock in the user's code around both; `batch_set_value` needs none for predictions and calls of layers.
// - Layers and models: inference, evaluation, the first call or build, and functions (K::function) of one
//   model are safe from any number of threads. First calls take turns, and so do evaluations of one model.
//   Losses and metrics that layers add belong to the thread of the call. `set_weights` and `load_weights` change
//   all weights at once meanwhile. Training, and every other change of weights or settings, needs the model for one
//   thread: `fit`, `train_on_batch` and `compile` throw ValueError while another thread uses the model, and `fit`,
//   `evaluate`, `predict` and calls throw ValueError while another thread trains it. A training step without `fit`,
//   an optimizer or a metric object that threads share, and two models that share layers, need a lock in the
//   user's code.
// - Closures given to `custom_gradient` and `record`: run by the thread that calls `gradients`, and by
//   several threads at once if several threads differentiate a shared graph.
// - A GradientTape, a NoGrad or an EnableGrad: for the thread that made the object.
// - Random numbers, names and the settings of the backend (`set_floatx`, `set_random_seed`, ...) belong to
//   the whole process and are safe to use from all threads. With several threads the assignment of random
//   numbers to threads is not deterministic.

/// The ops recorded on one thread, oldest first. A node is listed from its recording until no gradient can
/// need the node any more, so the tape needs no clearing.
///
/// A Tensor that a loop carries from step to step keeps the history of all steps, because a gradient could be
/// taken through all steps:
///
///     velocity = 0.9f * velocity + grads[0];     // the tape grows by the whole graph of each step
///
/// State that is not differentiated should be stored in a Variable, which holds only a value
/// (`K::update(velocity, 0.9f * velocity + grads[0])`), computed inside NoGrad, or cut from its history with
/// `K::stop_gradient` (or `detach`). When memory grows over a training run, `tape().summary()` between two
/// steps lists the ops that are still on the tape; the list should be empty.
class Tape {
 public:
  struct Entry {
    std::string op;
    std::uint64_t sequence;             ///< the creation order of the op
    std::vector<std::uint64_t> inputs;  ///< sequence numbers of the ops that made the inputs; 0 for a leaf
    std::vector<Shape> outputs;
  };
  Tape(const Tape&) = delete;

  /// Returns the number of recorded ops.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Returns the size in bytes of the nodes and of the values that the recorded ops computed.
  std::size_t bytes() const;
  /// Returns a table of the ops on the tape: the count and the bytes of each op, most bytes first.
  std::string summary() const;
  /// Returns the recorded ops, oldest first.
  std::vector<Entry> entries() const;
  /// Returns the recorded graph in Graphviz' dot language: a box per op with the shape of its result, an
  /// arrow per use.
  std::string graphviz() const;

 private:
  friend class Node;
  friend struct ThreadState;
  // A node may be destroyed on a thread other than the thread of its tape; the lock is held for a few
  // instructions only.
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
  /// Leaves the tape to its nodes at the end of the thread: the tape is destroyed with its last node.
  void close();

  mutable SpinLock lock_;
  Node *first_ = nullptr, *last_ = nullptr;
  std::atomic<std::size_t> size_{0};
  bool closed_ = false;
};

/// Returns the calling thread's tape, which exists until the thread ends.
///
///     Variable w = K::variable({2.f});
///     Tensor y = K::sum(K::square(w));
///     std::cout << ktape::tape().summary();
Tape& tape();

/// A scope that turns the recording of ops on this thread on or off; its end restores the previous state.
///
///     Variable w = K::variable(2.f);
///     ktape::RecordingScope off(false);
///     std::cout << K::gradients(K::square(w), w)[0].defined();
class RecordingScope {
 public:
  explicit RecordingScope(bool on);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool before_;
};

/// A scope in which ops on this thread are not recorded.
///
///     Variable w = K::variable({2.f});
///     ktape::NoGrad guard;
///     Tensor y = w * w;  // the value alone
///     std::cout << y << " " << K::gradients(y, w)[0].defined();
class NoGrad : RecordingScope {
 public:
  NoGrad() : RecordingScope(false) {}
};

/// A scope in which ops on this thread are recorded, also inside a NoGrad and inside a backward closure,
/// whose ops are otherwise recorded only when the gradient itself is being differentiated.
///
///     Variable w = K::variable({2.f});
///     ktape::NoGrad values_only;
///     {
///       ktape::EnableGrad recorded;
///       std::cout << K::gradients(w * w, w)[0];
///     }
class EnableGrad : RecordingScope {
 public:
  EnableGrad() : RecordingScope(true) {}
};

}  // namespace ktape
