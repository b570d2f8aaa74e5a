#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

#include <string>

namespace ktape::interactive {

/// Returns the declaration and comment of a name in the headers or the session, the options that a function or class
/// takes, and the text about a class's family; empty for an unknown name. Tables have lines of `columns` characters.
std::string describe(Interpreter& interpreter, const std::string& name, std::size_t columns);

/// Breaks lines of comments that are longer than `columns` between words, and continues with the next line's
/// words. Code stays as written.
std::string filled(const std::string& text, std::size_t columns);

}  // namespace ktape::interactive
