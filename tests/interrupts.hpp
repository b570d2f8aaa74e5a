#pragma once
#include <ktape/autograd/base/interrupt.hpp>

#include <thread>

/// A scope in which this thread accepts interrupts. At the end a thread that has ended accepts them, so that the
/// trainings of later tests do not pass their interrupts on.
class AcceptsInterrupts {
 public:
  explicit AcceptsInterrupts(void (*again)() = nullptr) { ktape::accept_interrupts(again); }
  ~AcceptsInterrupts() {
    std::thread([] { ktape::accept_interrupts(); }).join();
  }
  AcceptsInterrupts(const AcceptsInterrupts&) = delete;
};
