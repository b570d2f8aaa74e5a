#pragma once
#include <signal.h>

#include <functional>
#include <string>

namespace ktape::interactive {

/// The end of a cell's code.
struct Ending {
  /// Rejected: the cell did not compile. GivenUp: the cell was left inside of a library, which may now hold
  /// locks that nothing releases.
  enum Kind { Finished, Rejected, Threw, Interrupted, GivenUp, Crashed };
  Kind kind = Finished;
  std::string message = {};  ///< `ValueError: [dot] ...`
  std::size_t line = 0;      ///< line of the failing statement in the cell, from 1; 0 if unknown
};

/// A scope in which Ctrl-C belongs to one cell: a Ctrl-C before `guarded`, while the cell is compiled, makes
/// `guarded` return at once.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

 private:
  struct sigaction before_;
};

/// Calls f and keeps the session alive: an exception, a throwing destructor (std::terminate), a crash
/// (SIGSEGV, SIGFPE, SIGABRT, ..., a stack overflow included) and Ctrl-C all return as an Ending.
///
/// Ctrl-C ends f at its next op by an exception, and makes the standard streams fail. Code that calls no op is
/// left as soon as it waits (the destructors of local variables run) or runs outside of all libraries (the
/// destructors do not run). The third Ctrl-C gives f up inside of a library, too. std::terminate and crashes
/// are left by a jump. In another thread than that of f they end the thread, with a message on stderr.
Ending guarded(const std::function<void()>& f);

/// Returns the text of the exception being handled: its type without ktape's namespace, and what().
std::string describe_exception();

}  // namespace ktape::interactive
