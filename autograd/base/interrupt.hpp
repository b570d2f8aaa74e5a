#pragma once
#include <ktape/autograd/base/error.hpp>

#include <string>

namespace ktape {

/// The error that an op throws when its thread was interrupted. Only the result of this op is lost.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Makes the calling thread the thread whose ops `interrupt` ends. There is one such thread at a time.
/// `again` is called when a loop passes an interrupt on, see `interrupt_caller`.
///
///     ktape::accept_interrupts();
///     ktape::interrupt();  // such as in a handler of SIGINT
///     try {
///       K::ones({2}) + 1.f;
///     } catch (const ktape::Interrupted& error) {
///       std::cout << error.what() << "\n";
///     }
///     ktape::check_interrupt();  // throws nothing: no interrupt is pending
///     ktape::interrupt();
///     std::cout << ktape::clear_interrupt();
void accept_interrupts(void (*again)() = nullptr);
/// Makes the next op of the thread that called `accept_interrupts` throw Interrupted. May be called in a
/// signal handler.
void interrupt() noexcept;
/// Throws Interrupted if the calling thread was interrupted, as an op does. For loops that call no op.
void check_interrupt();
/// Cancels a pending interrupt. Returns whether an interrupt was pending.
bool clear_interrupt() noexcept;

/// Interrupts the code that called a loop which an interrupt ended early without an exception, as `fit` ends:
/// the next op throws Interrupted with the text. Does nothing on a thread that does not accept interrupts.
///
///     ktape::accept_interrupts();
///     auto loop = [] { ktape::interrupt_caller("ended in step 3"); };
///     loop();
///     try {
///       K::ones({2}) + 1.f;
///     } catch (const ktape::Interrupted& error) {
///       std::cout << error.what() << "\n";
///     }
///     loop();
///     ktape::clear_interrupt();
///     std::cout << ktape::take_interrupt_text();
void interrupt_caller(const std::string& text);
/// Returns and forgets the text of the last `interrupt_caller`; "interrupted" if there was none.
std::string take_interrupt_text();

}  // namespace ktape
