#pragma once
#include <ktape/nn/plot/canvas/canvas.hpp>

#include <functional>

/// Shapes as polygons, and polygons as pixels. Internal: sources only.
namespace ktape::plot {

using Polygon = std::vector<Point>;

/// Returns polygons whose union is the stroke of a path, with round ends and joints. `dash` has the lengths
/// of strokes and gaps.
std::vector<Polygon> stroke_polygons(const Path& path, double width, const std::vector<double>& dash = {});
Polygon circle_polygon(Point middle, double radius);

/// Calls `pixel(x, y, part)` for each pixel of the clip that the polygons cover, wholly or in part; `part` is
/// the covered fraction. All polygons form one shape, by the nonzero winding rule.
void cover(const std::vector<Polygon>& polygons, int width, int height, const Box& clip,
           const std::function<void(int x, int y, double part)>& pixel);

}  // namespace ktape::plot
