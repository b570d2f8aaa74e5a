#pragma once
#include <atomic>

namespace ktape {

struct ThreadState;

/// The thread whose next op throws Interrupted; null when no interrupt is pending.
extern std::atomic<const ThreadState*> interrupted_thread;
/// Throws Interrupted if the interrupted thread is the calling thread.
void meet_interrupt(const char* op);

/// Checks for an interrupt; called once per op.
inline void interrupt_gate(const char* op) {
  if (interrupted_thread.load(std::memory_order_relaxed)) [[unlikely]]
    meet_interrupt(op);
}

}  // namespace ktape
