#include <ktape/nn/plot/canvas/palette.hpp>

#include <array>

namespace ktape::plot {
namespace {

struct Shade {
  const char* name;
  Color light, dark;
};

constexpr Color hex(unsigned code) {
  return {static_cast<unsigned char>(code >> 16), static_cast<unsigned char>(code >> 8 & 0xff),
          static_cast<unsigned char>(code & 0xff)};
}

// A search over all colors with enough contrast to the paper maximized the smallest distance of two colors of
// series, with and without each kind of cones. tests/nn/plot/canvas/palette_test.cpp computes the distances.
constexpr std::array<Shade, shades> table{{
    {"paper", hex(0xffffff), hex(0x111827)},
    {"ink", hex(0x0f172a), hex(0xe5e7eb)},
    {"muted", hex(0x475569), hex(0xa3b0c2)},
    {"grid", hex(0xe2e8f0), hex(0x2b3648)},
    {"panel", hex(0xf1f5f9), hex(0x1f2937)},
    {"frame", hex(0x64748b), hex(0x94a3b8)},
    {"on", hex(0xffffff), hex(0x0b1220)},
    {"0", hex(0x2563eb), hex(0x60a5fa)},
    {"1", hex(0xe8590c), hex(0xfb923c)},
    {"2", hex(0x00693c), hex(0x00875a)},
    {"3", hex(0xd278a5), hex(0xffc3ff)},
    {"4", hex(0xa50000), hex(0xe10f00)},
    {"5", hex(0x690fa5), hex(0x874bf0)},
    {"6", hex(0x4ba578), hex(0xa5ffb4)},
    {"7", hex(0x963c69), hex(0xff3c87)},
}};

const Shade& shade_of(const Paint& paint) {
  return table[static_cast<std::size_t>(paint.role) + static_cast<std::size_t>(paint.series)];
}

constexpr std::size_t dashes = 4, markers = 8;

}  // namespace

std::string hex_of(Color color) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "#";
  for (const unsigned char part : {color.red, color.green, color.blue})
    text += {digits[part >> 4], digits[part & 15]};
  return text;
}

Paint Paint::of_series(std::size_t i) {
  Paint paint(Role::Series);
  paint.series = static_cast<int>(i % series_colors);
  return paint;
}

Color color_of(const Paint& paint, Theme theme) {
  if (paint.fixed) return *paint.fixed;
  return theme == Theme::Light ? shade_of(paint).light : shade_of(paint).dark;
}

const char* class_of(const Paint& paint) { return shade_of(paint).name; }

Paint shade(std::size_t i) {
  const auto first = static_cast<std::size_t>(Role::Series);
  return i < first ? Paint(static_cast<Role>(i)) : Paint::of_series(i - first);
}

int terminal_color(std::size_t series) {
  constexpr std::array<int, series_colors> colors{94, 33, 32, 95, 31, 35, 92, 36};
  return colors[series % series_colors];
}

Look line_look(std::size_t i) {
  return {.color = i % series_colors,
          .dash = static_cast<Dash>(1 + i / series_colors % dashes),
          .marker = static_cast<Marker>(1 + i / (series_colors * dashes) % markers)};
}

Look point_look(std::size_t i) {
  return {.color = i % series_colors,
          .dash = Dash::None,
          .marker = static_cast<Marker>(1 + (i + i / series_colors) % markers)};
}

char letter_of(std::size_t i) {
  constexpr char letters[] = "ox+*#@%&=abcdefghijklmnpqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return letters[i % (sizeof letters - 1)];
}

}  // namespace ktape::plot
