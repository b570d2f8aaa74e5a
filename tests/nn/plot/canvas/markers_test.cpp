#include <ktape/nn/plot/canvas/canvas.hpp>

#include <cmath>

#include "../../../close.hpp"
#include "../../../ops/check.hpp"

namespace plot = ktape::plot;
using ktape::Tensor;
using plot::Marker, plot::Point;

namespace {

/// A canvas that keeps the last path and counts the circles.
struct Recorded final : plot::Canvas {
  plot::Path last;
  plot::Brush brush;
  std::string hint;
  int circles = 0, paths = 0;

  using plot::Canvas::open;
  void rect(const plot::Box&, const plot::Brush&, const std::string&) override {}
  void circle(Point middle, double radius, const plot::Brush& given, const std::string& text) override {
    last = {{{middle, {middle.x + radius, middle.y}}}};
    brush = given, hint = text;
    ++circles;
  }
  void path(const plot::Path& path, const plot::Brush& given, const std::string& text) override {
    last = path, brush = given, hint = text;
    ++paths;
  }
  void text(Point, const std::string&, const plot::TextStyle&) override {}
  void image(const plot::Box&, const Tensor&, const std::string&, const Tensor&) override {}
  void open(const plot::Box&, Point) override {}
  void close() override {}
};

Recorded drawn(Marker marker, Point middle = {10, 20}, double radius = 2) {
  Recorded canvas;
  plot::draw_marker(canvas, marker, middle, radius, plot::Role::Ink, 0.5, "hint");
  return canvas;
}

/// Returns the coordinates of a piece: x, y, x, y, ...
Values coordinates(const plot::Piece& piece) {
  Values all;
  for (const Point& point : piece.points) all.insert(all.end(), {point.x, point.y});
  return all;
}

constexpr Tolerance rounded{.atol = 1e-12};

}  // namespace

TEST_CASE("the marker none draws nothing, and a circle has the given radius") {
  const Recorded nothing = drawn(Marker::None), circle = drawn(Marker::Circle);
  CHECK(nothing.circles + nothing.paths == 0);
  CHECK(circle.circles == 1);
  CHECK(coordinates(circle.last[0]) == Values{10, 20, 12, 20});
  CHECK(circle.brush.fill.has_value());
  CHECK(circle.brush.opacity == 0.5);
  CHECK(circle.hint == "hint");
}

TEST_CASE("polygons have their corners around the middle, the first at the top") {
  const double side = 1.25 * 2 / std::sqrt(2.);
  CHECK(close(coordinates(drawn(Marker::Square).last[0]),
              Values{10 + side, 20 - side, 10 + side, 20 + side, 10 - side, 20 + side, 10 - side, 20 - side},
              rounded));
  CHECK(close(coordinates(drawn(Marker::Diamond).last[0]), Values{10, 17.2, 12.8, 20, 10, 22.8, 7.2, 20},
              rounded));
  const double half = 2.8 * std::sqrt(3.) / 2;
  CHECK(close(coordinates(drawn(Marker::Triangle).last[0]),
              Values{10, 20.4 - 2.8, 10 + half, 20.4 + 1.4, 10 - half, 20.4 + 1.4}, rounded));
  CHECK(close(coordinates(drawn(Marker::TriangleDown).last[0]),
              Values{10, 19.6 + 2.8, 10 - half, 19.6 - 1.4, 10 + half, 19.6 - 1.4}, rounded));
}

TEST_CASE("a star has five points far from the middle, and five corners near it") {
  const plot::Piece star = drawn(Marker::Star).last[0];
  REQUIRE(star.points.size() == 10);
  CHECK(star.closed);
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(close(std::hypot(star.points[i].x - 10, star.points[i].y - 20), i % 2 == 0 ? 3.2 : 1.3, rounded));
  CHECK(close(star.points[0].y, 16.8, rounded));
}

TEST_CASE("crosses are two lines with a stroke, the other markers are filled") {
  const Recorded cross = drawn(Marker::Cross), plus = drawn(Marker::Plus), square = drawn(Marker::Square);
  REQUIRE(cross.last.size() == 2);
  CHECK(close(coordinates(cross.last[0]), Values{8.1, 18.1, 11.9, 21.9}, rounded));
  CHECK(close(coordinates(cross.last[1]), Values{8.1, 21.9, 11.9, 18.1}, rounded));
  CHECK(close(coordinates(plus.last[0]), Values{7.4, 20, 12.6, 20}, rounded));
  CHECK(close(coordinates(plus.last[1]), Values{10, 22.6, 10, 17.4}, rounded));
  for (const Recorded& lines : {cross, plus}) {
    CHECK(lines.brush.stroke.has_value());
    CHECK_FALSE(lines.brush.fill.has_value());
    CHECK(close(lines.brush.width, 1.2));
  }
  CHECK(square.brush.fill.has_value());
  CHECK_FALSE(square.brush.stroke.has_value());
}

TEST_CASE("dashes are as long as the line is wide, times a number") {
  CHECK(plot::dash_lengths(plot::Dash::Solid, 2).empty());
  CHECK(close(plot::dash_lengths(plot::Dash::Dashed, 2), Values{7, 5}));
  CHECK(close(plot::dash_lengths(plot::Dash::Dotted, 2), Values{0.2, 4}));
  CHECK(close(plot::dash_lengths(plot::Dash::DashDot, 2), Values{8, 4, 0.2, 4}));
}
