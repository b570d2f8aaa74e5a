#pragma once
#include <atomic>

namespace ktape {

struct ThreadState;

/// The thread whose next op throws Interrupted; null when no interrupt is pending.
extern std::atomic<const ThreadState*> interrupted_thread;
/// Throws Interrupted if the interrupted thread is the calling thread.
void throw_if_interrupted(const char* op);

/// Checks for an interrupt; called once per op.
inline void interrupt_gate(const char* op) {
  if (interrupted_thread.load(std::memory_order_relaxed)) [[unlikely]]
    throw_if_interrupted(op);
}

}  // namespace ktape
