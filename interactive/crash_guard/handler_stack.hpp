#pragma once
#include <signal.h>

#include <cstddef>
#include <memory>

namespace ktape::interactive {

/// A separate stack for a thread's signal handlers, which must run when the thread's own stack is full.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = size;
    sigaltstack(&stack, nullptr);
  }
  ~HandlerStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t size = std::size_t{1} << 17;
  const std::unique_ptr<char[]> memory_{new char[size]};  // not initialized: pages are taken on first use
};

}  // namespace ktape::interactive
