#pragma once
#include <ktape/autograd/node.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace ktape {

/// The ops recorded on one thread, oldest first. A node is listed from its recording until nothing can need
/// it any more, so the tape needs no clearing.
class Tape {
 public:
  struct Entry {
    std::string op;
    std::uint64_t sequence;             ///< creation order
    std::vector<std::uint64_t> inputs;  ///< sequence of the nodes that the op read
    std::vector<Shape> outputs;
  };

  /// The number of recorded ops.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Bytes of the nodes and of the values computed by the ops they stand for.
  std::size_t bytes() const;
  /// The recorded ops, oldest first.
  std::vector<Entry> entries() const;
  /// The recorded graph in Graphviz' dot language: a box per op with its result's shape, an arrow per use.
  std::string graphviz() const;

 private:
  friend class Node;
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

  void append(Node* node);
  void remove(Node* node);

  mutable SpinLock lock_;
  Node *first_ = nullptr, *last_ = nullptr;
  std::atomic<std::size_t> size_{0};
};

/// The calling thread's tape.
Tape& tape();

/// While one lives, ops on this thread are not recorded.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

}  // namespace ktape
