#pragma once
#include <ktape/nn/plot/canvas/canvas.hpp>
#include <ktape/nn/plot/plot.hpp>

/// Chart, the class that a Figure refers to, and helpers. Internal: sources only.
namespace ktape::plot {

struct Size {
  double width, height;
};

class Chart {
 public:
  virtual ~Chart() = default;
  virtual Size size() const = 0;
  /// Returns the title or, without title, the kind of the chart, for readers who cannot see the picture.
  virtual std::string description() const = 0;
  /// Draws the chart, whose upper left corner is the origin.
  virtual void draw(Canvas& canvas) const = 0;
  virtual std::string text(const TextOptions& options) const = 0;
};

/// Throws ValueError for a width or height outside of the limits.
void check_size(const char* op, int width, int height = 400);
/// Draws a title in lines of at most `width` and returns their height; 0 for an empty title.
double draw_title(Canvas& canvas, const std::string& title, double x, double y, double width);
/// Returns the height that `draw_title` would return.
double title_height(const std::string& title, double width);

/// Returns the number with up to 4 significant digits, or as an integer below 10 million, for labels.
std::string number_text(double number);

}  // namespace ktape::plot
