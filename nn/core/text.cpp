#include <ktape/nn/core/text.hpp>

#include <algorithm>
#include <cstdint>

namespace ktape::nn {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

struct Character {
  std::size_t size = 0;  ///< the number of bytes; 0 if no character begins
  std::uint32_t code = 0;
};

/// Returns the first character of bytes that may not be UTF-8.
Character first_character(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xc2 ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                           : lead < 0xf5 ? 4
                                         : 0;
  if (size == 0 || size > bytes.size()) return {};
  std::uint32_t code = size == 1 ? lead : lead & (0xff >> (size + 1));
  for (std::size_t k = 1; k < size; ++k) {
    if (begins_character(bytes[k])) return {};
    code = code << 6 | (static_cast<unsigned char>(bytes[k]) & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (surrogate || (size == 3 && code < 0x800) || (size == 4 && (code < 0x10000 || code > 0x10ffff)))
    return {};
  return {size, code};
}

/// Returns whether XML and HTML allow a character.
bool is_written(std::uint32_t code) {
  if (code < 0x20) return code == '\n' || code == '\t';
  return (code < 0x7f || code >= 0xa0) && (code & 0xfffe) != 0xfffe;
}

}  // namespace

std::size_t text_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(const std::string& text, std::size_t width) {
  if (text_width(text) <= width) return text;
  if (width == 0) return {};
  std::size_t end = 0;
  for (std::size_t places = 0; places < width; ++end) places += begins_character(text[end]);
  return text.substr(0, end - 1) + "…";
}

std::string printable(const std::string& text) {
  std::string shown = text.substr(0, 100);
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return shown;
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t size = first_character(bytes.substr(i)).size;
    if (size == 0) return false;
    i += size;
  }
  return true;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto [size, code] = first_character(std::string_view(text).substr(i));
    if (size == 0 || !is_written(code)) out += "\uFFFD";
    else if (code == '&') out += "&amp;";
    else if (code == '<') out += "&lt;";
    else if (code == '>') out += "&gt;";
    else if (code == '"') out += "&quot;";
    else out += text.substr(i, size);
    i += std::max<std::size_t>(size, 1);
  }
  return out;
}

}  // namespace ktape::nn
