#pragma once
#include <ktape/autograd/base/error.hpp>

namespace ktape {

/// The error that an op throws when its thread was interrupted. Only the result of this op is lost.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Makes the calling thread the thread whose ops `interrupt` ends. There is one such thread at a time.
void accept_interrupts();
/// Makes the next op of the thread that called `accept_interrupts` throw Interrupted. May be called in a
/// signal handler.
void interrupt() noexcept;
/// Cancels a pending interrupt. Returns whether an interrupt was pending.
bool clear_interrupt() noexcept;

}  // namespace ktape
