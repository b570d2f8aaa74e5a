#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

#include <string>

namespace ktape::interactive {

/// Returns the declaration and comment of a name in the headers or the session; empty for an unknown name.
std::string describe(Interpreter& interpreter, const std::string& name);

/// Breaks lines of comments that are longer than `columns` between words, and continues with the next line's
/// words. Code stays as written.
std::string filled(const std::string& text, std::size_t columns);

}  // namespace ktape::interactive
