#include <ktape/nn/plot/canvas/color_map.hpp>

#include "../../../ops/check.hpp"

namespace plot = ktape::plot;
using plot::Color;

TEST_CASE("a color map leads from its first to its last color") {
  for (const char* name : {"viridis", "magma", "gray", "coolwarm"}) CHECK(plot::is_color_map(name));
  CHECK_FALSE(plot::is_color_map("jet"));
  CHECK_FALSE(plot::is_color_map(""));
  CHECK(plot::mapped_color("gray", 0) == Color{0, 0, 0});
  CHECK(plot::mapped_color("gray", 1) == Color{255, 255, 255});
  CHECK(plot::mapped_color("gray", 2) == Color{255, 255, 255});
  CHECK(plot::mapped_color("gray", 0.5) == Color{128, 128, 128});
  CHECK(plot::mapped_color("viridis", 0) == Color{0x44, 0x01, 0x54});
}

TEST_CASE("maps without a middle color get brighter from the first to the last color") {
  const auto brightness = [](Color color) {
    return 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
  };
  for (const char* name : {"viridis", "magma", "gray"})
    for (int i = 0; i < 64; ++i) {
      CAPTURE(name);
      CAPTURE(i);
      CHECK(brightness(plot::mapped_color(name, i / 64.0)) <
            brightness(plot::mapped_color(name, (i + 1) / 64.0)));
    }
}

TEST_CASE("is_bright is true for colors under black text") {
  CHECK(plot::is_bright({255, 255, 255}));
  CHECK_FALSE(plot::is_bright({68, 1, 84}));
}
