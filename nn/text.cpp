#include <ktape/nn/text.hpp>

#include <algorithm>
#include <cstdint>

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

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length == 0 || length > bytes.size() - i) return false;
    std::uint32_t character = length == 1 ? lead : lead & (0xff >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      if (begins_character(bytes[i + k])) return false;
      character = character << 6 | (static_cast<unsigned char>(bytes[i + k]) & 0x3f);
    }
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    if (surrogate || (length == 3 && character < 0x800) ||
        (length == 4 && (character < 0x10000 || character > 0x10ffff)))
      return false;
    i += length;
  }
  return true;
}

}  // namespace ktape::nn
