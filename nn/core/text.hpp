#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// Text for terminals and drawings.
namespace ktape::nn {

/// How many characters a UTF-8 text has, each of which takes one place.
std::size_t text_width(const std::string& text);

/// The text, or as much of it as fits before an ellipsis.
std::string shortened(const std::string& text, std::size_t width);

/// Whether the bytes are UTF-8.
bool is_utf8(std::string_view bytes);

/// The text as it stands in SVG and HTML, between tags and in quotes. What these cannot hold, bytes that are
/// no UTF-8 and control characters, is a replacement character (U+FFFD).
std::string escaped(const std::string& text);

}  // namespace ktape::nn
