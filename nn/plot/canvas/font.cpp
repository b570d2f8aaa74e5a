#include <ktape/nn/plot/canvas/font.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

namespace ktape::plot {
namespace {

/// A letter. Strokes are divided by blanks; each pair of hexadecimal digits is a point: column and row. Row 4
/// is the base line, row b the height of "x", row e the height of "X". `~` begins a smooth curve with these
/// control points, `@` a closed one.
struct Glyph {
  std::uint32_t code;
  int width;
  const char* strokes;
};

constexpr Glyph glyphs[] = {
    {' ', 3, ""},
    {'!', 2, "1e17 1414"},
    {'"', 3, "0e0b 3e3b"},
    {'#', 7, "2e14 6e54 0b7b 0777"},
    {'$', 6, "~6c6e0e0969640406 3f33"},
    {'%', 9, "@0e4e4909 @59999454 8e14"},
    {'&', 8, "~841c1e5e5c0905046488"},
    {'\'', 1, "0e0b"},
    {'(', 3, "~3f0c0532"},
    {')', 3, "~0f3c3502"},
    {'*', 6, "3d37 0b69 096b"},
    {'+', 6, "0868 3b35"},
    {',', 2, "1402"},
    {'-', 4, "0848"},
    {'.', 2, "1414"},
    {'/', 5, "035f"},
    {'0', 6, "@0e6e6b676404070b"},
    {'1', 6, "1c3e34 1454"},
    {'2', 6, "~0c0e6e6a04 0464"},
    {'3', 6, "~0d1e6e6939 ~396964140405"},
    {'4', 6, "4e0767 4e44"},
    {'5', 6, "5e1e0a ~0a1b6b641405"},
    {'6', 6, "@0a6a6404 ~5e2e0b07"},
    {'7', 6, "0e6e24"},
    {'8', 6, "@1e5e5919 @09696404"},
    {'9', 6, "@0e6e6808 ~6b674414"},
    {':', 2, "1414 1a1a"},
    {';', 2, "1402 1a1a"},
    {'<', 6, "6b0865"},
    {'=', 6, "0666 0a6a"},
    {'>', 6, "0b6805"},
    {'?', 5, "~0c0e5e5a3837 3434"},
    {'@', 9, "@0e9e9303 @3b6b6636"},
    {'A', 8, "044e84 2868"},
    {'B', 7, "040e ~0e4e6e694909 ~094979744404"},
    {'C', 7, "~7c6e0e046476"},
    {'D', 7, "040e ~0e4e7e744404"},
    {'E', 6, "6e0e0464 0959"},
    {'F', 6, "6e0e04 0959"},
    {'G', 7, "~7c6e0e047479 7949"},
    {'H', 7, "040e 747e 0979"},
    {'I', 2, "1e14"},
    {'J', 5, "~5e57540406"},
    {'K', 7, "040e 7e08 2a74"},
    {'L', 6, "0e0464"},
    {'M', 8, "040e488e84"},
    {'N', 7, "040e747e"},
    {'O', 8, "@0e8e8404"},
    {'P', 6, "040e ~0e4e6e684808"},
    {'Q', 8, "@0e8e8404 5783"},
    {'R', 7, "040e ~0e4e6e684808 3874"},
    {'S', 6, "~6c6e0e0969640406"},
    {'T', 8, "0e8e 4e44"},
    {'U', 7, "~0e070474777e"},
    {'V', 8, "0e448e"},
    {'W', 10, "0e245c84ae"},
    {'X', 7, "047e 0e74"},
    {'Y', 8, "0e498e 4944"},
    {'Z', 7, "0e7e0474"},
    {'[', 3, "3f0f0232"},
    {'\\', 5, "0f53"},
    {']', 3, "0f3f3202"},
    {'^', 6, "0a3e6a"},
    {'_', 6, "0363"},
    {'`', 2, "0e2c"},
    {'a', 6, "@0b6b6404 6b64"},
    {'b', 6, "0f04 @0b6b6404"},
    {'c', 5, "~5a4b0b044455"},
    {'d', 6, "6f64 @0b6b6404"},
    {'e', 6, "0868 ~686b0b045465"},
    {'f', 4, "~4f1f1b 1b14 0b3b"},
    {'g', 6, "@0b6b6404 ~6b63610102"},
    {'h', 6, "0f04 ~080b6b6964"},
    {'i', 2, "1b14 1e1e"},
    {'j', 3, "~2b232101 2e2e"},
    {'k', 6, "0f04 5b07 2954"},
    {'l', 2, "1f14"},
    {'m', 10, "0b04 ~080b5b5954 ~585baba9a4"},
    {'n', 6, "0b04 ~080b6b6964"},
    {'o', 6, "@0b6b6404"},
    {'p', 6, "0b01 @0b6b6404"},
    {'q', 6, "6b61 @0b6b6404"},
    {'r', 4, "0b04 ~080b4b"},
    {'s', 5, "~5a4b0b0857541405"},
    {'t', 4, "~1e161444 0b3b"},
    {'u', 6, "~0b06046467 6b64"},
    {'v', 6, "0b346b"},
    {'w', 8, "0b244a648b"},
    {'x', 6, "046b 0b64"},
    {'y', 6, "0b34 6b21"},
    {'z', 6, "0b6b0464"},
    {'{', 4, "~4f2f2909 ~09292242"},
    {'|', 2, "1f12"},
    {'}', 4, "~0f2f2949 ~49292202"},
    {'~', 6, "~082a4769"},
    {0xb0, 3, "@0e3e3b0b"},                        // degree
    {0xb1, 6, "0969 3c36 0464"},                   // plus minus
    {0xb2, 4, "~0e0f3f3d0b 0b3b"},                 // squared
    {0xb3, 4, "~0f3f3d1d ~1d3d3b0b"},              // cubed
    {0xb7, 2, "1818"},                             // middle dot
    {0xd7, 6, "155b 1b55"},                        // times
    {0xdf, 6, "~040c0f5f5b3a ~3a6a641414"},        // sharp s
    {0x394, 8, "044e8404"},                        // Delta
    {0x3a3, 7, "7e0e490474"},                      // Sigma
    {0x3b1, 7, "@0b5b5404 ~7b565474"},             // alpha
    {0x3b2, 6, "~010c0f5f5a2a ~2a6a640404 0406"},  // beta
    {0x3b3, 6, "0b34 6b3431"},                     // gamma
    {0x3b5, 5, "~5a4b0b0838 ~3808044455"},         // epsilon
    {0x3b8, 6, "@0f6f6404 0969"},                  // theta
    {0x3bb, 6, "0e1e64 3904"},                     // lambda
    {0xb5, 6, "~0b06046467 6b64 0b01"},            // micro
    {0x3bc, 6, "~0b06046467 6b64 0b01"},           // mu
    {0x3c0, 7, "0b7b 2b24 5b54"},                  // pi
    {0x3c3, 7, "@0b6b6404 3b7b"},                  // sigma
    {0x2013, 6, "0868"},                           // en dash
    {0x2014, 9, "0898"},                           // em dash
    {0x2026, 7, "0404 3434 6464"},                 // ellipsis
    {0x2190, 9, "0898 3b0835"},                    // arrows
    {0x2191, 6, "3e34 0b3e6b"},
    {0x2192, 9, "0898 6b9865"},
    {0x2193, 6, "3e34 073467"},
    {0x2212, 6, "0868"},                 // minus
    {0x221e, 9, "@0a5a5505 @4a9a9545"},  // infinity
    {0x2248, 6, "~06284567 ~0a2c496b"},  // almost equal
    {0x2264, 6, "6c0966 0464"},          // at most
    {0x2265, 6, "0c6906 0464"},          // at least
};
constexpr Glyph unknown = {0, 6, "040e6e6404"};

/// Letters with a diacritical mark, whose strokes are given for small letters of width 5.
struct Accented {
  std::u32string_view letters;  ///< pairs of a letter without and with the mark
  const char* mark;
};
constexpr Accented accented[] = {
    {U"aäeëiïoöuüAÄEËIÏOÖUÜyÿ", "1d1d 4d4d"},
    {U"aáeéiíoóuúyýAÁEÉIÍOÓUÚ", "2d4f"},
    {U"aàeèiìoòuùAÀEÈIÌOÒUÙ", "1f3d"},
    {U"aâeêiîoôuûAÂEÊIÎOÔUÛ", "1d3f5d"},
    {U"aãnñoõAÃNÑOÕ", "~0d2f3d5f"},
    {U"aåAÅ", "@2f4f4d2d"},
    {U"cçCÇ", "3432"},
};

constexpr double unit = 0.07;                        ///< the length of a unit, divided by the font size
constexpr double spacing = 1.9, bold_spacing = 2.4;  ///< the gaps between letters, in units

int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/// Smooths a polygon by cutting corners three times (Chaikin); the ends of open curves stay.
std::vector<Point> smooth(std::vector<Point> points, bool closed) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Point> cut;
    const std::size_t sides = points.size() - (closed ? 0 : 1);
    if (!closed) cut.push_back(points.front());
    for (std::size_t i = 0; i < sides; ++i) {
      const Point a = points[i], b = points[(i + 1) % points.size()];
      cut.push_back({0.75 * a.x + 0.25 * b.x, 0.75 * a.y + 0.25 * b.y});
      cut.push_back({0.25 * a.x + 0.75 * b.x, 0.25 * a.y + 0.75 * b.y});
    }
    if (!closed) cut.push_back(points.back());
    points = std::move(cut);
  }
  return points;
}

/// Adds strokes to a path, moved to the right by `left` and up by `rise`, in units.
void add_strokes(Path& path, std::string_view strokes, double left, double rise, double size) {
  while (!strokes.empty()) {
    std::string_view stroke = strokes.substr(0, strokes.find(' '));
    strokes.remove_prefix(std::min(stroke.size() + 1, strokes.size()));
    if (stroke.empty()) continue;
    const char kind = stroke[0];
    if (kind == '~' || kind == '@') stroke.remove_prefix(1);
    Piece piece{.closed = kind == '@'};
    for (std::size_t i = 0; i + 1 < stroke.size(); i += 2)
      piece.points.push_back(
          {(digit_of(stroke[i]) + left) * unit * size, (4 - digit_of(stroke[i + 1]) - rise) * unit * size});
    if (kind == '~' || kind == '@') piece.points = smooth(std::move(piece.points), piece.closed);
    path.push_back(std::move(piece));
  }
}

const Glyph& glyph_of(std::uint32_t code) {
  static const std::map<std::uint32_t, const Glyph*> known = [] {
    std::map<std::uint32_t, const Glyph*> map;
    for (const Glyph& glyph : glyphs) map[glyph.code] = &glyph;
    return map;
  }();
  const auto found = known.find(code);
  return found == known.end() ? unknown : *found->second;
}

/// Returns the letter without its mark, and the strokes of the mark.
std::pair<std::uint32_t, const char*> parts_of(std::uint32_t code) {
  for (const auto& [letters, mark] : accented)
    for (std::size_t i = 1; i < letters.size(); i += 2)
      if (letters[i] == code) return {letters[i - 1], mark};
  return {code, ""};
}

/// Returns the character that begins at a byte of a text, and moves past it.
std::uint32_t next_character(const std::string& text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  std::uint32_t code = lead < 0x80   ? lead
                       : lead < 0xe0 ? lead & 0x1f
                       : lead < 0xf0 ? lead & 0x0f
                                     : lead & 0x07;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
    code = code << 6 | (static_cast<unsigned char>(text[at++]) & 0x3f);
  return code;
}

}  // namespace

Lettering lettering(const std::string& text, double size, bool bold) {
  Lettering out;
  double left = 0.5;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, mark] = parts_of(next_character(text, at));
    const Glyph& glyph = glyph_of(code);
    add_strokes(out.strokes, glyph.strokes, left, 0, size);
    const bool capital = code < 'a', below = std::string_view(mark).starts_with("34");
    add_strokes(out.strokes, mark, left + (glyph.width - 5) / 2.0, capital && !below ? 2.5 : 0, size);
    left += glyph.width + (bold ? bold_spacing : spacing);
  }
  out.width = (left - 0.5) * unit * size;
  return out;
}

}  // namespace ktape::plot
