#pragma once
#include <ktape/nn/plot/internal/scale.hpp>
#include <ktape/nn/plot/svg.hpp>

/// The frame of a chart: title, legend, axes and ticks.
namespace ktape::plot {

struct FrameSpec {
  std::string title, x_label, y_label;
  Scale x, y;
  std::vector<Scale::Tick> x_ticks = {};  ///< the ticks of the x axis; round numbers by default
  bool whole_x = false;                   ///< whether the ticks of x are whole numbers
  std::vector<std::string> legend = {};   ///< the names of the series; no legend if all are empty
  std::string note = {};
  int width = 640, height = 400;
};

/// Draws title, legend, axes and ticks, and maps numbers to positions in the picture.
class Frame {
 public:
  explicit Frame(FrameSpec spec);

  Svg& svg() { return svg_; }
  double x(double number) const { return left_ + spec_.x.at(number) * width_; }
  double y(double number) const { return top_ + (1 - spec_.y.at(number)) * height_; }
  double bottom() const { return top_ + height_; }
  double width() const { return width_; }
  /// Returns the picture; marks are clipped at the axes.
  std::string str();

 private:
  void draw_legend();
  void draw_y_axis(const std::vector<Scale::Tick>& ticks);
  void draw_x_axis(const std::vector<Scale::Tick>& ticks, bool turned);

  FrameSpec spec_;
  Svg svg_;
  double left_ = 0, top_ = 0, width_ = 0, height_ = 0;
};

/// Dots for terminals: two by four dots in each character, which has one color.
class Dots {
 public:
  Dots(int columns, int rows);
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  /// Sets a dot at a position, given as fractions of the width from the left and of the height from below.
  /// Positions outside are ignored.
  void dot(double x, double y, std::size_t series);
  void line(double x1, double y1, double x2, double y2, std::size_t series);
  std::string row(int row, bool color) const;

 private:
  struct Cell {
    unsigned char dots = 0;
    std::size_t series = 0;
  };
  int columns_, rows_;
  std::vector<Cell> cells_;
};

/// Returns the text in a terminal's color, if any.
std::string colored(const std::string& text, std::size_t series, bool color);
/// Throws ValueError for options with which nothing can be drawn.
void check_text(const TextOptions& options);

/// Draws title, legend, axes and ticks as text around dots.
class TextFrame {
 public:
  TextFrame(const FrameSpec& spec, const TextOptions& options);
  Dots dots() const { return {columns_, rows}; }
  std::string str(const Dots& dots) const;

 private:
  static constexpr int rows = 16;
  const FrameSpec& spec_;
  TextOptions options_;
  std::vector<Scale::Tick> ticks_;
  std::size_t label_width_ = 0;
  int columns_ = 0;
};

}  // namespace ktape::plot
