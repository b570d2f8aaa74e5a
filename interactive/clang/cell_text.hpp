#pragma once
#include <cstddef>
#include <string>

/// Changes of the text of a cell that clang refused, before clang reads the cell once more.
namespace ktape::interactive {

/// Removes the capture of a lambda at a place, with the comma beside it.
void remove_capture(std::string& text, std::size_t begin);

/// Puts an operand without effect before a statement that begins with a sign; `line` is the statement's line.
void insert_operand(std::string& text, std::size_t at, unsigned line);
/// Returns the statement without the operand that `insert_operand` adds.
std::string without_operand(const std::string& statement);

/// Returns the place after the semicolon that ends the declaration around a place; npos if there is none.
std::size_t end_of_declaration(const std::string& text, std::size_t at);

}  // namespace ktape::interactive
