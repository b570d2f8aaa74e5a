#include <ktape/nn/text.hpp>

#include <algorithm>

namespace ktape::nn {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(const std::string& text, std::size_t width) {
  if (text_width(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t places = 0; places < width; ++end) places += begins_character(text[end]);
  return text.substr(0, end - 1) + "…";
}

}  // namespace ktape::nn
