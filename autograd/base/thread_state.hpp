#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

namespace ktape {

class AutocastScope;
class Node;
class PendingWork;
class SymbolicScope;
class Tape;
class VariableTransaction;

/// A free block of the allocator; the link is stored in the block itself.
struct FreeBlock {
  FreeBlock* next;
};

/// The state that the library keeps per thread. The state is made when a thread first needs it and ends with
/// the thread; the tape stays until its last node is destroyed. The state of the main thread is never
/// destroyed: tensors in static storage may outlive the thread's own objects.
struct alignas(64) ThreadState {
  static constexpr int small_classes = 32;  ///< blocks up to 32 KiB, see memory.cpp
  std::array<FreeBlock*, small_classes> free_blocks{};
  // Written only by the thread of this state, read by memory_stats() of any thread.
  std::array<std::atomic<std::int32_t>, small_classes> free_counts{};
  std::atomic<std::int64_t> allocations{0};

  Tape* const tape;
  bool recording = true;
  SymbolicScope* symbolic = nullptr;           ///< the innermost scope, see autograd/scope.hpp
  VariableTransaction* transaction = nullptr;  ///< the innermost transaction
  PendingWork* pending = nullptr;              ///< where element-wise ops wait, see autograd/pending_work.hpp
  std::uint64_t sequence = 0;                  ///< number of the newest recorded node
  Node* dying = nullptr;                       ///< nodes to destroy, see node.cpp
  bool draining = false;
  ThreadState *previous = nullptr, *next = nullptr;  ///< neighbours in the list of all threads
  AutocastScope* autocast = nullptr;                 ///< the innermost scope, see autograd/scope.hpp

  ThreadState();   // Defined in tape.cpp.
  ~ThreadState();  // Defined in tape.cpp.
};

ThreadState& new_thread_state();

/// Calls f on the state of every thread. No thread state is made or destroyed during the calls.
void for_each_thread(const std::function<void(const ThreadState&)>& f);

/// Returns the thread's free blocks to the system. Defined in memory.cpp.
void empty_thread_cache(ThreadState& state);
/// Adds the allocation count of a thread that ends to the total. Defined in memory.cpp.
void retire_allocations(const ThreadState& state);

// initial-exec: one load instead of a call into the loader on every op; a single pointer fits the static TLS
// reserve.
extern constinit thread_local ThreadState* current_thread_state [[gnu::tls_model("initial-exec")]];

inline ThreadState& thread_state() {
  ThreadState* state = current_thread_state;
  return state ? *state : new_thread_state();
}

/// Returns where the element-wise ops of this thread wait; null if the ops run at once.
inline PendingWork* pending_work() {
  const ThreadState* const state = current_thread_state;
  return state ? state->pending : nullptr;
}

}  // namespace ktape
