#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>

#include <algorithm>
#include <string_view>

namespace ktape::plot {
namespace {

/// Returns the width of a character with this first byte, divided by the size of the font. The widths are
/// those of wide fonts, such as DejaVu Sans.
double letter_width(unsigned char first) {
  if (first >= 0xe3) return 1.05;  // Chinese, Japanese, Korean, and pictures
  if (first >= 0x80) return 0.75;
  const auto letter = static_cast<char>(first);
  if (std::string_view("ijlI'|.,:;! ").find(letter) != std::string_view::npos) return 0.36;
  if (std::string_view("ftr()[]-\"`").find(letter) != std::string_view::npos) return 0.44;
  if (std::string_view("mwMW%@").find(letter) != std::string_view::npos) return 1;
  if ((letter >= 'A' && letter <= 'Z') || std::string_view("+=<>~#^&").find(letter) != std::string_view::npos)
    return letter >= 'A' && letter <= 'Z' ? 0.75 : 0.85;
  return 0.64;
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Returns the longest beginning of a text that fits together with an ellipsis.
std::string shortened_to(const std::string& text, const std::function<bool(const std::string&)>& fits) {
  if (fits(text)) return text;
  constexpr std::size_t longest = 1000;
  for (std::size_t width = std::min(nn::text_width(text) - 1, longest); width > 1; --width)
    if (std::string part = nn::shortened(text, width); fits(part)) return part;
  return "…";
}

}  // namespace

double text_length(const std::string& text, double size, bool bold) {
  double length = 0;
  for (const char c : text)
    if (begins_character(c)) length += letter_width(static_cast<unsigned char>(c));
  return length * size * (bold ? 1.12 : 1);
}

std::string fitted(const std::string& text, double width, double size, bool bold) {
  if (text.empty()) return text;
  return shortened_to(text, [&](const std::string& part) { return text_length(part, size, bold) <= width; });
}

std::vector<std::string> wrapped(const std::string& text, std::size_t most,
                                 const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size() && lines.size() + 1 < most) {
    // The longest beginning that ends at a blank; at least one word.
    std::size_t end = text.find(' ', at);
    while (end != std::string::npos) {
      const std::size_t next = text.find(' ', end + 1);
      if (!fits(text.substr(at, next == std::string::npos ? next : next - at))) break;
      end = next;
    }
    const std::size_t stop = end == std::string::npos ? text.size() : end;
    lines.push_back(shortened_to(text.substr(at, stop - at), fits));
    at = stop == text.size() ? stop : stop + 1;
  }
  if (at < text.size()) lines.push_back(shortened_to(text.substr(at), fits));
  return lines;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t most, double width, double size,
                                 bool bold) {
  return wrapped(text, most, [&](const std::string& line) { return text_length(line, size, bold) <= width; });
}

std::string wrapped_lines(const std::string& text, int columns) {
  std::string out;
  const auto fits = [&](const std::string& line) {
    return nn::text_width(line) <= static_cast<std::size_t>(columns);
  };
  for (const std::string& line : wrapped(text, 8, fits)) out += line + '\n';
  return out;
}

}  // namespace ktape::plot
