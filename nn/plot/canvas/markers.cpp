#include <ktape/nn/plot/canvas/canvas.hpp>

#include <cmath>
#include <numbers>

namespace ktape::plot {
namespace {

/// Returns a polygon around a middle. The distances of its corners alternate between the radii; the first
/// corner is at the top.
Piece star(Point middle, const std::vector<double>& radii, int corners, double turned = 0) {
  Piece piece{.closed = true};
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners + turned;
    const double radius = radii[static_cast<std::size_t>(i) % radii.size()];
    piece.points.push_back({middle.x + radius * std::sin(angle), middle.y - radius * std::cos(angle)});
  }
  return piece;
}

/// Returns two lines that cross in the middle.
Path cross(Point middle, double across, double down) {
  const auto [x, y] = middle;
  return {{{{x - across, y - down}, {x + across, y + down}}},
          {{{x - down, y + across}, {x + down, y - across}}}};
}

Path outline(Marker marker, Point middle, double radius) {
  switch (marker) {
    case Marker::Square:
      return {star(middle, {1.25 * radius}, 4, std::numbers::pi / 4)};
    case Marker::Triangle:
      return {star({middle.x, middle.y + 0.2 * radius}, {1.4 * radius}, 3)};
    case Marker::Diamond:
      return {star(middle, {1.4 * radius}, 4)};
    case Marker::TriangleDown:
      return {star({middle.x, middle.y - 0.2 * radius}, {1.4 * radius}, 3, std::numbers::pi)};
    case Marker::Star:
      return {star(middle, {1.6 * radius, 0.65 * radius}, 10)};
    case Marker::Cross:
      return cross(middle, 0.95 * radius, 0.95 * radius);
    case Marker::Plus:
      return cross(middle, 1.3 * radius, 0);
    default:
      return {};
  }
}

}  // namespace

void draw_marker(Canvas& canvas, Marker marker, Point middle, double radius, const Paint& paint,
                 double opacity, const std::string& hint) {
  if (marker == Marker::None) return;
  if (marker == Marker::Circle)
    return canvas.circle(middle, radius, {.fill = paint, .opacity = opacity}, hint);
  const bool lines = marker == Marker::Cross || marker == Marker::Plus;
  const Path path = outline(marker, middle, radius);
  if (lines) canvas.path(path, {.stroke = paint, .width = 0.6 * radius, .opacity = opacity}, hint);
  else canvas.path(path, {.fill = paint, .opacity = opacity}, hint);
}

std::vector<double> dash_lengths(Dash dash, double width) {
  switch (dash) {
    case Dash::Dashed:
      return {3.5 * width, 2.5 * width};
    case Dash::Dotted:
      return {0.1 * width, 2 * width};
    case Dash::DashDot:
      return {4 * width, 2 * width, 0.1 * width, 2 * width};
    default:
      return {};
  }
}

}  // namespace ktape::plot
