#include <ktape/nn/plot/canvas/polygons.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ktape::plot {
namespace {

/// Splits a curve into the strokes of a dash.
std::vector<Polygon> dashed(const Polygon& points, const std::vector<double>& dash) {
  if (dash.empty()) return {points};
  std::vector<Polygon> strokes{{points[0]}};
  std::size_t part = 0;
  double left = dash[0];
  for (std::size_t i = 1; i < points.size(); ++i) {
    Point from = points[i - 1];
    for (;;) {
      const double length = std::hypot(points[i].x - from.x, points[i].y - from.y);
      if (length <= left) {
        left -= length;
        if (part % 2 == 0) strokes.back().push_back(points[i]);
        break;
      }
      from = {from.x + (points[i].x - from.x) * left / length,
              from.y + (points[i].y - from.y) * left / length};
      if (part % 2 == 0) strokes.back().push_back(from);
      else strokes.push_back({from});
      part = (part + 1) % dash.size();
      left = dash[part];
    }
  }
  return strokes;
}

struct Edge {
  double x, y, slope, end;  ///< an edge from (x, y) to the row `end`; `slope` is dx / dy
  int direction;
};

std::vector<Edge> edges_of(const std::vector<Polygon>& polygons, double top, double bottom) {
  std::vector<Edge> edges;
  for (const Polygon& polygon : polygons)
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
      const int direction = a.y < b.y ? 1 : -1;
      if (direction < 0) std::swap(a, b);
      if (!(a.y < b.y) || b.y <= top || a.y >= bottom) continue;
      edges.push_back({a.x, a.y, (b.x - a.x) / (b.y - a.y), b.y, direction});
    }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.y < b.y; });
  return edges;
}

/// The covered parts of the pixels of a row.
class Row {
 public:
  Row(int first, int last) : first_(first), parts_(static_cast<std::size_t>(std::max(last - first, 0))) {}

  void add(double from, double to, double weight) {
    from = std::max(from - first_, 0.0), to = std::min(to - first_, static_cast<double>(parts_.size()));
    if (!(from < to)) return;
    const auto begin = static_cast<std::size_t>(from), end = static_cast<std::size_t>(std::ceil(to));
    low_ = std::min(low_, begin), high_ = std::max(high_, end);
    for (std::size_t i = begin; i < end; ++i) {
      const auto left = static_cast<double>(i);
      parts_[i] += weight * (std::min(to, left + 1) - std::max(from, left));
    }
  }

  void flush(int y, const std::function<void(int, int, double)>& pixel) {
    for (std::size_t i = low_; i < high_; ++i) {
      if (parts_[i] > 0) pixel(first_ + static_cast<int>(i), y, std::min(parts_[i], 1.0));
      parts_[i] = 0;
    }
    low_ = parts_.size(), high_ = 0;
  }

 private:
  int first_;
  std::vector<double> parts_;
  std::size_t low_ = 0, high_ = 0;
};

/// Adds the spans between crossings in which the winding number is not zero.
void add_spans(Row& row, std::vector<std::pair<double, int>>& crossings, double weight) {
  std::sort(crossings.begin(), crossings.end());
  int winding = 0;
  for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
    winding += crossings[i].second;
    if (winding != 0) row.add(crossings[i].first, crossings[i + 1].first, weight);
  }
}

}  // namespace

Polygon circle_polygon(Point middle, double radius) {
  const int corners = std::clamp(static_cast<int>(6 + 3 * radius), 8, 64);
  Polygon polygon;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners;
    polygon.push_back({middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)});
  }
  return polygon;
}

std::vector<Polygon> stroke_polygons(const Path& path, double width, const std::vector<double>& dash) {
  std::vector<Polygon> out;
  const double half = width / 2;
  for (const Piece& piece : path) {
    if (piece.points.empty()) continue;
    Polygon points = piece.points;
    if (piece.closed) points.push_back(points[0]);
    for (const Polygon& stroke : dashed(points, dash))
      for (std::size_t i = 0; i < stroke.size(); ++i) {
        out.push_back(circle_polygon(stroke[i], half));
        if (i == 0) continue;
        const Point a = stroke[i - 1], b = stroke[i];
        const double length = std::hypot(b.x - a.x, b.y - a.y);
        if (length == 0) continue;
        const double x = (b.y - a.y) / length * half, y = -(b.x - a.x) / length * half;
        out.push_back({{a.x + x, a.y + y}, {b.x + x, b.y + y}, {b.x - x, b.y - y}, {a.x - x, a.y - y}});
      }
  }
  return out;
}

void cover(const std::vector<Polygon>& polygons, int width, int height, const Box& clip,
           const std::function<void(int x, int y, double part)>& pixel) {
  constexpr int steps = 5;  // samples in a row of pixels; exact along the row
  const double left = std::max(clip.x, 0.0), right = std::min<double>(clip.x + clip.width, width);
  const double top = std::max(clip.y, 0.0), bottom = std::min<double>(clip.y + clip.height, height);
  if (!(left < right) || !(top < bottom)) return;
  const std::vector<Edge> edges = edges_of(polygons, top, bottom);
  if (edges.empty()) return;
  Row row(static_cast<int>(left), static_cast<int>(std::ceil(right)));
  std::vector<std::size_t> active;
  std::vector<std::pair<double, int>> crossings;
  std::size_t next = 0;
  double lowest = 0;
  for (const Edge& edge : edges) lowest = std::max(lowest, edge.end);
  const int last = static_cast<int>(std::ceil(std::min(bottom, lowest)));
  for (int y = static_cast<int>(std::max(top, edges[0].y)); y < last; ++y) {
    for (int step = 0; step < steps; ++step) {
      const double at = y + (step + 0.5) / steps;
      if (at < top || at >= bottom) continue;
      for (; next < edges.size() && edges[next].y <= at; ++next) active.push_back(next);
      std::erase_if(active, [&](std::size_t i) { return edges[i].end <= at; });
      crossings.clear();
      for (const std::size_t i : active) {
        const double x = edges[i].x + edges[i].slope * (at - edges[i].y);
        crossings.emplace_back(std::clamp(x, left, right), edges[i].direction);
      }
      add_spans(row, crossings, 1.0 / steps);
    }
    row.flush(y, pixel);
  }
}

}  // namespace ktape::plot
