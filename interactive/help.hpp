#pragma once
#include <ktape/interactive/interpreter.hpp>

#include <string>

namespace ktape::interactive {

/// What the headers, or the session, say of a name; empty for an unknown one.
std::string describe(Interpreter& interpreter, const std::string& name);

}  // namespace ktape::interactive
