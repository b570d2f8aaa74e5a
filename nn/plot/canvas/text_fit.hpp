#pragma once
#include <functional>
#include <string>
#include <vector>

/// Text of a limited width. Internal: sources only.
namespace ktape::plot {

/// Returns an upper bound of the width of a text in pixels, in the fonts that browsers use.
double text_length(const std::string& text, double size = 12, bool bold = false);
/// Returns the text, or as much of the text as fits into the width together with an ellipsis.
std::string fitted(const std::string& text, double width, double size = 12, bool bold = false);

/// Breaks a text at blanks into lines for which `fits` holds, at most `most`; the last line, and a word that
/// fits into no line, are shortened.
std::vector<std::string> wrapped(const std::string& text, std::size_t most,
                                 const std::function<bool(const std::string&)>& fits);
/// Breaks a text into lines of at most `width` pixels.
std::vector<std::string> wrapped(const std::string& text, std::size_t most, double width, double size,
                                 bool bold = false);
/// Breaks a text into lines of at most `columns` characters, each with a newline at its end.
std::string wrapped_lines(const std::string& text, int columns);

}  // namespace ktape::plot
