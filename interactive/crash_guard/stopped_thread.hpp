#pragma once
#include <cstdint>

/// The functions on the stack of a thread that a signal stops: whether they belong to the session, and
/// whether a jump out of them is safe.
namespace ktape::interactive {

/// Declares that the machine code in [begin, end) was compiled from a cell. Called between cells only.
void add_session_code(std::uintptr_t begin, std::uintptr_t end);
/// Removes the declaration of code that has been unloaded.
void remove_session_code(std::uintptr_t begin);

/// The innermost functions of a stopped thread, seen from the session's code that called them.
enum class Innermost {
  Session,          ///< the session's code itself; all callers are the session's code, too
  Waiting,          ///< a function of the C or C++ library that waits: sleep, join, read, future::get ...
  StandardLibrary,  ///< another function of the C++ library, such as an output operator
  SystemCall,       ///< a system call inside of the C library that is not known to be safe to leave
  Library,          ///< another library, or a function of the session that a library called
  Indivisible       ///< the allocator, the loader and other functions that a jump would break
};

/// Prepares the calls of `innermost_functions` in the handlers of a cell, which must not allocate memory.
void prepare_unwinding();

/// Returns the innermost functions of the thread that a signal stopped with this context (the third parameter
/// of the handler). `guard` is an address in the frame of the function that runs cells.
Innermost innermost_functions(const void* context, std::uintptr_t guard);

/// Unwinds the stack of a signal handler's thread out of all of the session's functions, and calls `arrived`
/// there, which must not return. The destructors of local variables run. Returns only if the stack cannot be
/// unwound. For threads whose innermost functions wait.
void unwind_session(void (*arrived)());

}  // namespace ktape::interactive
