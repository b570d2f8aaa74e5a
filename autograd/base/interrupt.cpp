#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/autograd/base/interrupt_gate.hpp>
#include <ktape/autograd/base/thread_state.hpp>

#include <utility>

namespace ktape {
namespace {
std::atomic<const ThreadState*> accepting{nullptr};
void (*call_again)() = nullptr;  // used by the accepting thread only, like the text
std::string text_for_caller;
}  // namespace

std::atomic<const ThreadState*> interrupted_thread{nullptr};

void accept_interrupts(void (*again)()) {
  accepting.store(&thread_state());
  call_again = again;
}
void interrupt() noexcept { interrupted_thread.store(accepting.load()); }
void check_interrupt() { interrupt_gate("tensor"); }
bool clear_interrupt() noexcept { return interrupted_thread.exchange(nullptr) != nullptr; }

void throw_if_interrupted(const char* op) {
  if (interrupted_thread.load() != current_thread_state) return;
  clear_interrupt();
  if (!text_for_caller.empty()) throw Interrupted(take_interrupt_text());
  fail<Interrupted>("[", op, "] interrupted");
}

void interrupt_caller(const std::string& text) {
  if (accepting.load() != &thread_state()) return;
  text_for_caller = text;
  interrupt();
  if (call_again) call_again();
}

std::string take_interrupt_text() {
  const std::string text = std::exchange(text_for_caller, {});
  return text.empty() ? "interrupted" : text;
}

}  // namespace ktape
