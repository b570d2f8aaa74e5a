#pragma once
#include <ktape/interactive/interpreter.hpp>

#include <string>

namespace ktape::interactive {

/// What the headers, or the session, say of a name; empty for an unknown one.
std::string describe(Interpreter& interpreter, const std::string& name);

/// Its comments between words where a line is longer than this, the rest in front of the next line. Code
/// stays as it is.
std::string filled(const std::string& text, std::size_t columns);

}  // namespace ktape::interactive
