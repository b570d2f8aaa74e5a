#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

namespace ktape::interactive {

/// Returns an interpreter for the library beside this program, in a build tree or an install tree, with
/// session.hpp precompiled. A precompiled header that is missing or older than a header is first made in the
/// user's cache, which takes some seconds once.
std::unique_ptr<Interpreter> open_interpreter();

/// Precompiles session.hpp to a file. Returns clang's messages on failure.
std::string precompile_session(const std::string& to);

}  // namespace ktape::interactive
