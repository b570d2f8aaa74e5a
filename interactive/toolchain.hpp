#pragma once
#include <ktape/interactive/interpreter.hpp>

namespace ktape::interactive {

/// An interpreter that compiles against the library beside this program, in a build tree or an install tree,
/// with session.hpp precompiled. Where that is missing, or older than a header, it is made in the user's
/// cache first, which takes some seconds once.
std::unique_ptr<Interpreter> open_interpreter();

/// Precompiles session.hpp to a file. Returns clang's messages if that failed.
std::string precompile_session(const std::string& to);

}  // namespace ktape::interactive
