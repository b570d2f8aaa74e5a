#pragma once
#include <cstddef>
#include <string>

/// Text for terminals and drawings.
namespace ktape::nn {

/// How many characters a UTF-8 text has, each of which takes one place.
std::size_t text_width(const std::string& text);

/// The text, or as much of it as fits before an ellipsis.
std::string shortened(const std::string& text, std::size_t width);

}  // namespace ktape::nn
