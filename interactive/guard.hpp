#pragma once
#include <functional>
#include <string>

namespace ktape::interactive {

/// How the code of a cell ended.
struct Ending {
  enum Kind { Finished, Rejected, Threw, Interrupted, Crashed };  ///< Rejected: it did not compile
  Kind kind = Finished;
  std::string message = {};  ///< `ValueError: [dot] ...`
  std::size_t line = 0;      ///< of the cell, from 1, where the statement begins that ended it; 0: unknown
};

/// Calls f so that the session outlives it: what f throws, a throwing destructor (std::terminate), a crash
/// (SIGSEGV, SIGFPE, SIGABRT, ..., also for want of stack) and Ctrl-C all come back as an Ending.
///
/// Ctrl-C ends f at its next op, by an exception. Code that calls no op is left by a jump once it is seen to
/// run outside of any library, or to wait in a system call: the destructors of its local variables do not
/// run. The same holds after std::terminate and after a crash. Of another thread than that of f, both end the
/// thread, and are told on stderr.
Ending guarded(const std::function<void()>& f);

/// The text of what is being handled: the type's name, without ktape's namespace, and what().
std::string describe_exception();

}  // namespace ktape::interactive
