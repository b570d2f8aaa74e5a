#include <ktape/nn/plot/canvas/color_map.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ktape::plot {
namespace {

/// A color map, which interpolates between colors at equal distances.
struct ColorMap {
  std::string_view name;
  std::array<unsigned, 9> colors;
};

constexpr ColorMap maps[] = {
    {"viridis", {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725}},
    {"magma", {0x000004, 0x1d1147, 0x51127c, 0x832681, 0xb73779, 0xe75263, 0xfc8961, 0xfec488, 0xfcfdbf}},
    {"gray", {0x000000, 0x202020, 0x404040, 0x606060, 0x808080, 0x9f9f9f, 0xbfbfbf, 0xdfdfdf, 0xffffff}},
    {"coolwarm", {0x3b4cc0, 0x6788ee, 0x9abbff, 0xc9d7f0, 0xdddddd, 0xf2cab5, 0xf7a889, 0xe26952, 0xb40426}},
};

const ColorMap* found(const std::string& name) {
  const auto* map =
      std::find_if(std::begin(maps), std::end(maps), [&](const ColorMap& m) { return m.name == name; });
  return map == std::end(maps) ? nullptr : map;
}

}  // namespace

bool is_color_map(const std::string& name) { return found(name) != nullptr; }

Color mapped_color(const std::string& name, double part) {
  const auto& colors = found(name)->colors;
  const double place = std::clamp(part, 0.0, 1.0) * static_cast<double>(colors.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), colors.size() - 2);
  const double rest = place - static_cast<double>(below);
  const auto channel = [&](unsigned shift) {
    const double a = colors[below] >> shift & 0xff, b = colors[below + 1] >> shift & 0xff;
    return static_cast<unsigned char>(std::lround(a + (b - a) * rest));
  };
  return {channel(16), channel(8), channel(0)};
}

bool is_bright(Color color) { return 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue > 140; }

}  // namespace ktape::plot
