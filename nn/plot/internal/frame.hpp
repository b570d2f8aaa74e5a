#pragma once
#include <ktape/nn/plot/canvas/canvas.hpp>
#include <ktape/nn/plot/internal/scale.hpp>

/// The frame of a chart: title, legend, axes and ticks. Internal: sources only.
namespace ktape::plot {

/// A series in a legend: a sign and the name of the series.
struct LegendEntry {
  enum Sign { Line, Points, Bar };
  std::string name;
  Look look = {};
  Sign sign = Line;
  bool band = false;  ///< whether the sign shows a band around the line
};

struct FrameSpec {
  std::string title, x_label, y_label;
  Scale x, y;
  std::vector<Scale::Tick> x_ticks = {};  ///< the ticks of the x axis; round numbers by default
  bool whole_x = false;                   ///< whether the ticks of x are whole numbers
  std::vector<LegendEntry> legend = {};   ///< the series; no legend if all names are empty
  std::string note = {};
  int width = 640, height = 400;
  bool equal = false;  ///< whether a unit has one length on both axes
};

bool has_legend(const FrameSpec& spec);

/// Draws title, legend, axes and ticks, and maps numbers to positions in the picture. Until its destructor,
/// drawings are clipped at the axes.
class Frame {
 public:
  Frame(Canvas& canvas, const FrameSpec& spec);
  ~Frame() { canvas_.close(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  Canvas& canvas() { return canvas_; }
  double x(double number) const { return left_ + spec_.x.at(number) * width_; }
  double y(double number) const { return top_ + (1 - spec_.y.at(number)) * height_; }
  Point at(double x_number, double y_number) const { return {x(x_number), y(y_number)}; }
  double left() const { return left_; }
  double top() const { return top_; }
  double bottom() const { return top_ + height_; }
  double width() const { return width_; }
  double height() const { return height_; }

 private:
  int legend_rows(double limit) const;
  void draw_legend();
  void draw_sign(const LegendEntry& entry, double x, double y);
  void measure();
  void keep_units_equal();
  void draw_y_axis();
  void draw_x_axis();

  const FrameSpec& spec_;
  Canvas& canvas_;
  double left_ = 0, top_ = 0, width_ = 0, height_ = 0;
  std::vector<Scale::Tick> x_ticks_ = {}, y_ticks_ = {};
  bool turned_ = false;  ///< whether the labels of x are slanted
};

/// Fills a bar, hatched from the ninth look on.
void draw_bar_box(Canvas& canvas, const Box& box, std::size_t series, const std::string& hint = {});

}  // namespace ktape::plot
