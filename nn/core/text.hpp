#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// Text for terminals and drawings.
namespace ktape::nn {

/// Returns the number of characters of a UTF-8 text, each of which takes one column.
std::size_t text_width(const std::string& text);

/// Returns the text, or as much of the text as fits into `width` together with an ellipsis.
std::string shortened(const std::string& text, std::size_t width);

/// Returns at most 100 bytes of the text, with `?` for each control character, so that names from files are
/// safe in messages.
std::string printable(const std::string& text);

/// Returns whether the bytes are UTF-8.
bool is_utf8(std::string_view bytes);

/// Returns the text with escapes for SVG and HTML, between tags and in quotes. Control characters and bytes
/// that are not UTF-8, which SVG and HTML cannot hold, become replacement characters (U+FFFD).
std::string escaped(const std::string& text);

}  // namespace ktape::nn
