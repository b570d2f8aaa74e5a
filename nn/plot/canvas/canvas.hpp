#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/plot/canvas/palette.hpp>

#include <string>
#include <vector>

/// The interface of SVG pictures and of pixels, on which charts draw. Internal: sources only.
namespace ktape::plot {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

struct Brush {
  std::optional<Paint> fill = {}, stroke = {};
  double width = 1;    ///< the width of the stroke
  double opacity = 1;  ///< the opacity of fill and stroke
  Dash dash = Dash::Solid;
  double round = 0;  ///< the radius of the corners of a rectangle
};

struct TextStyle {
  const char* anchor = "start";
  double size = 12;
  bool bold = false;
  Paint paint = Role::Muted;
  double turned = 0;  ///< the rotation of the text in degrees
  bool halo = false;  ///< whether the letters have a rim in the color of the paper
};

/// A curve through points, closed where its last point leads to its first.
struct Piece {
  std::vector<Point> points = {};
  bool closed = false;
};
using Path = std::vector<Piece>;

class Canvas {
 public:
  virtual ~Canvas() = default;
  /// Draws a rectangle; `hint` is shown under the mouse in SVG pictures.
  virtual void rect(const Box& box, const Brush& brush, const std::string& hint = {}) = 0;
  virtual void circle(Point middle, double radius, const Brush& brush, const std::string& hint = {}) = 0;
  virtual void path(const Path& path, const Brush& brush, const std::string& hint = {}) = 0;
  virtual void text(Point place, const std::string& text, const TextStyle& style) = 0;
  /// Draws pixels, uint8 of shape (height, width, channels), without smoothing. `dark` has the pixels for
  /// dark screens, if these differ.
  virtual void image(const Box& box, const Tensor& pixels, const std::string& hint = {},
                     const Tensor& dark = {}) = 0;
  /// Until `close`, clips drawings to the box, whose upper left corner has the coordinates `origin`.
  virtual void open(const Box& box, Point origin) = 0;
  virtual void close() = 0;

  void open(const Box& box) { open(box, {box.x, box.y}); }
  void line(Point from, Point to, const Brush& brush) { path({{{from, to}}}, brush); }
};

/// Draws a marker: a filled shape, or the lines of a cross.
void draw_marker(Canvas& canvas, Marker marker, Point middle, double radius, const Paint& paint,
                 double opacity = 1, const std::string& hint = {});
/// Returns the lengths of strokes and gaps for a line of this width; empty for a solid line.
std::vector<double> dash_lengths(Dash dash, double width);

}  // namespace ktape::plot
