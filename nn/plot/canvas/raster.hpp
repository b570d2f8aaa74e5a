#pragma once
#include <ktape/nn/plot/canvas/canvas.hpp>

/// Drawings as pixels. Internal: sources only.
namespace ktape::plot {

/// A canvas of pixels. Text is drawn in a font of strokes, which has the letters of Western languages and the
/// usual signs; other characters become boxes.
class Raster final : public Canvas {
 public:
  /// Creates a canvas with `scale` pixels for each unit of width and height.
  Raster(double width, double height, double scale, Theme theme);

  using Canvas::open;
  void rect(const Box& box, const Brush& brush, const std::string& hint = {}) override;
  void circle(Point middle, double radius, const Brush& brush, const std::string& hint = {}) override;
  void path(const Path& path, const Brush& brush, const std::string& hint = {}) override;
  void text(Point place, const std::string& text, const TextStyle& style) override;
  void image(const Box& box, const Tensor& pixels, const std::string& hint = {},
             const Tensor& dark = {}) override;
  void open(const Box& box, Point origin) override;
  void close() override;

  /// Returns the pixels: uint8 of shape (height, width, 3).
  const Tensor& pixels() const { return pixels_; }

 private:
  /// A clip in pixels, and the shift of the origin in units.
  struct View {
    Box clip;
    Point shift;
  };
  Point placed(Point point) const;
  void fill(const std::vector<std::vector<Point>>& polygons, const Paint& paint, double opacity);
  void blend(int x, int y, Color color, double opacity);

  int width_, height_;
  double scale_;
  Theme theme_;
  Tensor pixels_;
  std::vector<View> views_;
};

}  // namespace ktape::plot
