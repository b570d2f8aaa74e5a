#pragma once
#include <ktape/ops/help/source_text.hpp>

#include <string>
#include <string_view>

/// Questions about the text of a cell that need no compiler.
namespace ktape::interactive {

/// Returns whether the text is incomplete: a bracket, a comment, a raw string or a preprocessor condition is
/// open, or the last line ends with a backslash.
bool incomplete(std::string_view text);

/// Returns whether `else` may follow the text: its last statement is an `if` without one.
bool ends_with_if(std::string_view text);

/// Returns the number of brackets that are open at the end of the text.
int open_brackets(std::string_view text);

/// Returns whether the text has a `_Pragma` without a string or name in parentheses.
bool has_unfinished_pragma(const std::string& text);

/// Returns the begin of the name at the end of the text; a command's name includes its %.
std::size_t word_begin(std::string_view text);

using help_text::trimmed;

}  // namespace ktape::interactive
