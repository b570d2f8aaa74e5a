#include <ktape/nn/plot/canvas/raster.hpp>

#include <array>

#include "../../../ops/check.hpp"

namespace plot = ktape::plot;
using ktape::DType, ktape::Tensor;
using plot::Color, plot::Role, plot::Theme;

namespace {

Color pixel(const plot::Raster& raster, std::int64_t x, std::int64_t y) {
  const auto at = [&](std::int64_t channel) {
    return static_cast<unsigned char>(raster.pixels().item<int>(y, x, channel));
  };
  return {at(0), at(1), at(2)};
}

constexpr Color black{0, 0, 0}, white{255, 255, 255};

}  // namespace

TEST_CASE("a drawing has the color of the paper and shapes in order") {
  plot::Raster raster(10, 6, 2, Theme::Light);
  CHECK(raster.pixels().shape() == ktape::Shape{12, 20, 3});
  CHECK(pixel(raster, 0, 0) == white);
  raster.rect({1, 1, 4, 4}, {.fill = black});
  CHECK(pixel(raster, 2, 2) == black);
  CHECK(pixel(raster, 1, 1) == white);
  CHECK(pixel(raster, 9, 9) == black);
  CHECK(pixel(raster, 10, 10) == white);
  raster.rect({1, 1, 4, 4}, {.fill = white, .opacity = 0.5});
  CHECK(pixel(raster, 2, 2) == Color{128, 128, 128});
  const plot::Raster dark(4, 4, 1, Theme::Dark);
  CHECK(pixel(dark, 1, 1) == plot::color_of(Role::Paper, Theme::Dark));
}

TEST_CASE("circles, lines and markers are at their positions") {
  plot::Raster raster(30, 30, 1, Theme::Light);
  raster.circle({8, 8}, 5, {.fill = black});
  CHECK(pixel(raster, 8, 8) == black);
  CHECK(pixel(raster, 2, 2) == white);
  raster.line({2, 20}, {28, 20}, {.stroke = black, .width = 4});
  CHECK(pixel(raster, 15, 20) == black);
  CHECK(pixel(raster, 15, 15) == white);
  for (int marker = 1; marker <= static_cast<int>(plot::Marker::Star); ++marker) {
    CAPTURE(marker);
    plot::Raster sheet(20, 20, 1, Theme::Light);
    plot::draw_marker(sheet, static_cast<plot::Marker>(marker), {10, 10}, 6, Color{0, 0, 0});
    CHECK(pixel(sheet, 10, 10) != white);
    CHECK(pixel(sheet, 1, 1) == white);
  }
}

TEST_CASE("a part clips, and moves the origin") {
  plot::Raster raster(20, 20, 1, Theme::Light);
  raster.open({5, 5, 4, 4}, {0, 0});
  raster.rect({-2, -2, 20, 4}, {.fill = black});
  raster.close();
  CHECK(pixel(raster, 5, 5) == black);
  CHECK(pixel(raster, 8, 6) == black);
  CHECK(pixel(raster, 4, 5) == white);
  CHECK(pixel(raster, 9, 5) == white);
  CHECK(pixel(raster, 5, 7) == white);
  raster.rect({0, 0, 1, 1}, {.fill = black});
  CHECK(pixel(raster, 0, 0) == black);
}

TEST_CASE("images are drawn as squares, with their transparency, in the form for the theme") {
  const Tensor image = Tensor::empty({1, 2, 4}, DType::UInt8), other = Tensor::empty({1, 1, 1}, DType::UInt8);
  const std::array<unsigned char, 8> bytes{255, 0, 0, 255, 0, 0, 255, 0};
  std::copy(bytes.begin(), bytes.end(), image.pointer<unsigned char>());
  *other.pointer<unsigned char>() = 7;
  plot::Raster raster(10, 10, 1, Theme::Light);
  raster.image({2, 2, 4, 4}, image, "", other);
  CHECK(pixel(raster, 2, 2) == Color{255, 0, 0});
  CHECK(pixel(raster, 3, 5) == Color{255, 0, 0});
  CHECK(pixel(raster, 4, 3) == white);
  plot::Raster dark(10, 10, 1, Theme::Dark);
  dark.image({2, 2, 4, 4}, image, "", other);
  CHECK(pixel(dark, 4, 3) == Color{7, 7, 7});
}

TEST_CASE("text has ink where its letters are") {
  const auto ink = [](const plot::TextStyle& style, std::int64_t left, std::int64_t right) {
    plot::Raster raster(60, 20, 1, Theme::Light);
    raster.text({30, 15}, "Hello", style);
    std::int64_t dark = 0;
    for (std::int64_t y = 0; y < 20; ++y)
      for (std::int64_t x = left; x < right; ++x) dark += pixel(raster, x, y) != white;
    return dark;
  };
  CHECK(ink({.paint = Color{}}, 0, 29) == 0);
  CHECK(ink({.paint = Color{}}, 30, 60) > 40);
  CHECK(ink({.anchor = "end", .paint = Color{}}, 32, 60) == 0);
  CHECK(ink({.anchor = "end", .paint = Color{}}, 0, 30) > 40);
  CHECK(ink({.bold = true, .paint = Color{}}, 30, 60) > ink({.paint = Color{}}, 30, 60));
}
