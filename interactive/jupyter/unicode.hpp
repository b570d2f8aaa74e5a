#pragma once
#include <string>
#include <string_view>

/// Conversions between Jupyter's positions, which count characters, and C++'s, which count bytes of UTF-8.
namespace ktape::interactive {

inline bool begins_character(char byte) { return (byte & 0xC0) != 0x80; }

/// Returns the byte at which character i begins.
inline std::size_t byte_of(std::string_view text, int i) {
  for (std::size_t at = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && i-- <= 0) return at;
  return text.size();
}

inline int characters_in(std::string_view text) {
  int count = 0;
  for (const char byte : text) count += begins_character(byte);
  return count;
}

}  // namespace ktape::interactive
