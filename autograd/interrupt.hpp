#pragma once
#include <ktape/autograd/error.hpp>

namespace ktape {

/// The error that an op throws when its thread was interrupted. Only the value of this op is lost.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Names the calling thread as the one whose ops interrupt() ends. There is one such thread at a time.
void accept_interrupts();
/// Makes the next op of that thread throw Interrupted. May be called in a signal handler.
void interrupt() noexcept;
/// Takes an interrupt back that no op has met. Returns whether there was one.
bool clear_interrupt() noexcept;

}  // namespace ktape
