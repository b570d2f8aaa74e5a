#pragma once
#include <string>
#include <string_view>

/// What can be said of the text of a cell without compiling it.
namespace ktape::interactive {

/// Whether more must follow: a bracket, a comment or a raw string is open, the last line ends with a
/// backslash, or a preprocessor condition is open.
bool incomplete(std::string_view text);

/// How deep brackets are open at its end.
int open_brackets(std::string_view text);

/// Where the name begins that the text ends with, a command with its %.
std::size_t word_begin(std::string_view text);

std::string trimmed(std::string_view text);

}  // namespace ktape::interactive
