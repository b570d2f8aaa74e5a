#pragma once
#include <signal.h>

#include <cstddef>
#include <memory>

namespace ktape {

/// A separate stack for the signal handlers of the thread that makes the object. Handlers with SA_ONSTACK then
/// work when the thread's own stack is full, and while oneDNN multiplies matrices: its product kernels let the
/// stack pointer point to a small buffer in the heap, and a handler that runs there destroys what lies below.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = size;
    sigaltstack(&stack, nullptr);
  }
  ~HandlerStack() {
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) != 0 || stack.ss_sp != memory_.get()) return;
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

  /// Returns whether the calling thread has a separate stack for handlers.
  static bool present() {
    stack_t stack{};
    return sigaltstack(nullptr, &stack) == 0 && !(stack.ss_flags & SS_DISABLE);
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 17;
  const std::unique_ptr<char[]> memory_{new char[size]};  // not initialized: pages are taken on first use
};

}  // namespace ktape
