#pragma once
#include <atomic>

namespace ktape {

struct ThreadState;

/// The thread whose next op throws Interrupted; null almost always.
extern std::atomic<const ThreadState*> interrupted_thread;
/// Throws if it is the calling one.
void meet_interrupt(const char* op);

/// Where every op passes that makes a value.
inline void interrupt_gate(const char* op) {
  if (interrupted_thread.load(std::memory_order_relaxed)) [[unlikely]]
    meet_interrupt(op);
}

}  // namespace ktape
