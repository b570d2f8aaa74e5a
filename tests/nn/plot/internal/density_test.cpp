#include <ktape/nn/plot/canvas/raster.hpp>
#include <ktape/nn/plot/internal/density.hpp>

#include "../../../ops/check.hpp"

namespace plot = ktape::plot;

TEST_CASE("many points become pixels: more opaque with more points, in the color of most points") {
  plot::Raster raster(300, 200, 1, plot::Theme::Light);
  const plot::FrameSpec spec{.title = "",
                             .x_label = "",
                             .y_label = "",
                             .x = plot::Scale("scatter", "x", {.min = 0, .max = 1}, {}, 0),
                             .y = plot::Scale("scatter", "y", {.min = 0, .max = 1}, {}, 0),
                             .width = 300,
                             .height = 200};
  plot::Point lone, crowd;
  {
    plot::Frame frame(raster, spec);
    lone = frame.at(0.3, 0.55), crowd = frame.at(0.7, 0.55);
    plot::Density density(frame);
    density.add(lone, 1);
    for (int i = 0; i < 100; ++i) density.add(crowd, i % 3 == 0 ? 1 : 0);
    density.add({-50, -50}, 0);
    density.draw(raster);
  }
  const auto pixel = [&](plot::Point at, int channel) {
    return raster.pixels().item<int>(static_cast<std::int64_t>(at.y), static_cast<std::int64_t>(at.x),
                                     channel);
  };
  const plot::Color blue = plot::color_of(plot::Paint::of_series(0), plot::Theme::Light);
  CHECK(pixel(crowd, 0) == blue.red);
  CHECK(pixel(crowd, 2) == blue.blue);
  CHECK(pixel(lone, 0) > 200);  // pale orange
  CHECK(pixel(lone, 0) < 255);
  CHECK(pixel({lone.x + 20, lone.y}, 0) == 255);
}
