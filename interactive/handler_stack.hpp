#pragma once
#include <signal.h>

#include <cstddef>
#include <memory>

namespace ktape::interactive {

/// A stack of its own for the handlers of a thread, for the other may be full.
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
  const std::unique_ptr<char[]> memory_{new char[size]};  // not touched before it is used
};

}  // namespace ktape::interactive
