#pragma once
#include <ktape/autograd/tape.hpp>

#include <array>
#include <atomic>

namespace ktape {

/// A free block of the allocator; the link is stored in the block itself.
struct FreeBlock {
  FreeBlock* next;
};

/// Everything the library keeps per thread. States are registered once, handed from ended threads to new ones
/// and never destroyed: tensors in static storage may outlive the thread-local objects of the main thread.
struct ThreadState {
  static constexpr int small_classes = 32;  ///< up to 32 KiB, see memory.cpp
  std::array<FreeBlock*, small_classes> free_blocks{};
  // Written by the owner only, read by memory_stats() of any thread.
  std::array<std::atomic<std::int32_t>, small_classes> free_counts{};
  std::atomic<std::int64_t> allocations{0};

  Tape tape;
  bool recording = true;
  std::uint64_t sequence = 0;                     ///< of the newest recorded node
  std::uint64_t window = std::uint64_t{1} << 28;  ///< numbers that a gradient reserves, see gradients.cpp
  Node* dying = nullptr;                          ///< nodes to destroy, see node.cpp
  bool draining = false;
  ThreadState* next = nullptr;
  std::atomic<bool> taken{true};
};

ThreadState& new_thread_state();
ThreadState* first_thread_state();

// initial-exec: one load instead of a call into the loader on every op; a single pointer fits the static TLS
// reserve.
extern thread_local ThreadState* current_thread_state [[gnu::tls_model("initial-exec")]];

inline ThreadState& thread_state() {
  ThreadState* state = current_thread_state;
  return state ? *state : new_thread_state();
}

}  // namespace ktape
