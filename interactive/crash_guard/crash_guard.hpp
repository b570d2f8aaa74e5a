#pragma once
#include <functional>
#include <string>

namespace ktape::interactive {

/// The end of a cell's code.
struct Ending {
  enum Kind { Finished, Rejected, Threw, Interrupted, Crashed };  ///< Rejected: the cell did not compile
  Kind kind = Finished;
  std::string message = {};  ///< `ValueError: [dot] ...`
  std::size_t line = 0;      ///< line of the failing statement in the cell, from 1; 0 if unknown
};

/// Calls f and keeps the session alive: an exception, a throwing destructor (std::terminate), a crash
/// (SIGSEGV, SIGFPE, SIGABRT, ..., a stack overflow included) and Ctrl-C all return as an Ending.
///
/// Ctrl-C ends f at its next op by an exception. Code that calls no op is left by a jump as soon as it runs
/// outside of all libraries or waits in a system call; the destructors of its local variables do not run.
/// std::terminate and crashes are left by such a jump, too. In another thread than that of f they end the
/// thread, with a message on stderr.
Ending guarded(const std::function<void()>& f);

/// Returns the text of the exception being handled: its type without ktape's namespace, and what().
std::string describe_exception();

}  // namespace ktape::interactive
