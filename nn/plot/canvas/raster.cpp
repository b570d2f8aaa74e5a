#include <ktape/nn/plot/canvas/font.hpp>
#include <ktape/nn/plot/canvas/polygons.hpp>
#include <ktape/nn/plot/canvas/raster.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace ktape::plot {
namespace {

Box intersection(const Box& a, const Box& b) {
  const double x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::max(std::min(a.x + a.width, b.x + b.width) - x, 0.0),
          std::max(std::min(a.y + a.height, b.y + b.height) - y, 0.0)};
}

Path rect_path(const Box& box) {
  return {{.points = {{box.x, box.y},
                      {box.x + box.width, box.y},
                      {box.x + box.width, box.y + box.height},
                      {box.x, box.y + box.height}},
           .closed = true}};
}

}  // namespace

Raster::Raster(double width, double height, double scale, Theme theme)
    : width_(static_cast<int>(std::lround(width * scale))),
      height_(static_cast<int>(std::lround(height * scale))),
      scale_(scale),
      theme_(theme),
      pixels_(Tensor::empty({height_, width_, 3}, DType::UInt8)),
      views_{{{0, 0, static_cast<double>(width_), static_cast<double>(height_)}, {0, 0}}} {
  const Color paper = color_of(Role::Paper, theme);
  auto* pixel = pixels_.pointer<unsigned char>();
  for (std::int64_t i = 0; i < pixels_.size(); i += 3)
    pixel[i] = paper.red, pixel[i + 1] = paper.green, pixel[i + 2] = paper.blue;
}

Point Raster::placed(Point point) const {
  const Point shift = views_.back().shift;
  // Larger coordinates would lose digits in the rasterizer.
  const auto limited = [&](double at) { return std::clamp(at * scale_, -1e6, 1e6); };
  return {limited(point.x + shift.x), limited(point.y + shift.y)};
}

void Raster::blend(int x, int y, Color color, double opacity) {
  auto* pixel = pixels_.pointer<unsigned char>() + 3 * (static_cast<std::int64_t>(y) * width_ + x);
  const unsigned char parts[] = {color.red, color.green, color.blue};
  for (int i = 0; i < 3; ++i)
    pixel[i] = static_cast<unsigned char>(std::lround(pixel[i] + (parts[i] - pixel[i]) * opacity));
}

void Raster::fill(const std::vector<Polygon>& polygons, const Paint& paint, double opacity) {
  const Color color = color_of(paint, theme_);
  cover(polygons, width_, height_, views_.back().clip,
        [&](int x, int y, double part) { blend(x, y, color, part * opacity); });
}

void Raster::rect(const Box& box, const Brush& brush, const std::string&) { path(rect_path(box), brush); }

void Raster::circle(Point middle, double radius, const Brush& brush, const std::string&) {
  const Polygon polygon = circle_polygon(placed(middle), radius * scale_);
  if (brush.fill) fill({polygon}, *brush.fill, brush.opacity);
  if (brush.stroke)
    fill(stroke_polygons({{polygon, true}}, brush.width * scale_), *brush.stroke, brush.opacity);
}

void Raster::path(const Path& path, const Brush& brush, const std::string&) {
  Path here = path;
  std::vector<Polygon> polygons;
  for (Piece& piece : here) {
    for (Point& point : piece.points) point = placed(point);
    polygons.push_back(piece.points);
  }
  if (brush.fill) fill(polygons, *brush.fill, brush.opacity);
  if (!brush.stroke) return;
  std::vector<double> dash = dash_lengths(brush.dash, brush.width);
  for (double& length : dash) length *= scale_;
  fill(stroke_polygons(here, brush.width * scale_, dash), *brush.stroke, brush.opacity);
}

void Raster::text(Point place, const std::string& text, const TextStyle& style) {
  const Lettering letters = lettering(text, style.size, style.bold);
  const double shift = std::strcmp(style.anchor, "middle") == 0 ? letters.width / 2
                       : std::strcmp(style.anchor, "end") == 0  ? letters.width
                                                                : 0;
  const double angle = style.turned * std::numbers::pi / 180, cosine = std::cos(angle),
               sine = std::sin(angle);
  Path here = letters.strokes;
  for (Piece& piece : here)
    for (auto& [x, y] : piece.points) {
      const double across = x - shift;
      const Point turned{place.x + across * cosine - y * sine, place.y + across * sine + y * cosine};
      const auto [px, py] = placed(turned);
      x = px, y = py;
    }
  const double width = style.size * (style.bold ? 0.12 : 0.085) * scale_;
  if (style.halo) fill(stroke_polygons(here, width + 3 * scale_), Role::Paper, 1);
  fill(stroke_polygons(here, width), style.paint, 1);
}

void Raster::image(const Box& box, const Tensor& light, const std::string&, const Tensor& dark) {
  const Tensor& pixels = theme_ == Theme::Dark && dark.defined() ? dark : light;
  const std::int64_t rows = pixels.shape()[0], columns = pixels.shape()[1], channels = pixels.shape()[2];
  const Point corner = placed({box.x, box.y}), end = placed({box.x + box.width, box.y + box.height});
  const Box clip = intersection(views_.back().clip, {corner.x, corner.y, end.x - corner.x, end.y - corner.y});
  const auto from = pixels.pointer<unsigned char>();
  for (int y = static_cast<int>(std::lround(clip.y)); y < std::lround(clip.y + clip.height); ++y)
    for (int x = static_cast<int>(std::lround(clip.x)); x < std::lround(clip.x + clip.width); ++x) {
      const auto at = [](double place, double begin, double length, std::int64_t count) {
        const auto cell =
            static_cast<std::int64_t>((place + 0.5 - begin) / length * static_cast<double>(count));
        return std::clamp<std::int64_t>(cell, 0, count - 1);
      };
      const unsigned char* pixel = from + channels * (at(y, corner.y, end.y - corner.y, rows) * columns +
                                                      at(x, corner.x, end.x - corner.x, columns));
      const bool color = channels >= 3;
      blend(x, y, {pixel[0], pixel[color ? 1 : 0], pixel[color ? 2 : 0]},
            channels % 2 == 0 ? pixel[channels - 1] / 255.0 : 1);
    }
}

void Raster::open(const Box& box, Point origin) {
  const Point corner = placed({box.x, box.y});
  const Box clip{corner.x, corner.y, box.width * scale_, box.height * scale_};
  const Point shift = views_.back().shift;
  views_.push_back(
      {intersection(views_.back().clip, clip), {shift.x + box.x - origin.x, shift.y + box.y - origin.y}});
}

void Raster::close() { views_.pop_back(); }

}  // namespace ktape::plot
