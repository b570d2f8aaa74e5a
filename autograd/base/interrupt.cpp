#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/autograd/base/interrupt_gate.hpp>
#include <ktape/autograd/base/thread_state.hpp>

namespace ktape {
namespace {
std::atomic<const ThreadState*> accepting{nullptr};
}

std::atomic<const ThreadState*> interrupted_thread{nullptr};

void accept_interrupts() { accepting.store(&thread_state()); }
void interrupt() noexcept { interrupted_thread.store(accepting.load()); }
bool clear_interrupt() noexcept { return interrupted_thread.exchange(nullptr) != nullptr; }

void throw_if_interrupted(const char* op) {
  if (interrupted_thread.load() != current_thread_state) return;
  clear_interrupt();
  fail<Interrupted>("[", op, "] interrupted");
}

}  // namespace ktape
