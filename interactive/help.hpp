#pragma once
#include <ktape/interactive/interpreter.hpp>

#include <iosfwd>

namespace ktape::interactive {

/// Writes what the headers, or the session, say of a name. Returns whether there is anything.
bool describe(Interpreter& interpreter, const std::string& name, std::ostream& out);

}  // namespace ktape::interactive
