#pragma once
#include <ktape/nn/plot/internal/frame.hpp>

/// Charts of characters. Internal: sources only.
namespace ktape::plot {

/// Dots for terminals: two by four dots in each character, which has one color; or a letter for each series.
class Dots {
 public:
  Dots(int columns, int rows, bool letters = false);
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  /// Sets a dot at a position, given as fractions of the width from the left and of the height from below.
  /// Positions outside are ignored.
  void dot(double x, double y, std::size_t series);
  void line(double x1, double y1, double x2, double y2, std::size_t series);
  /// Draws a straight line of the characters without dots.
  void rule_across(double y);
  void rule_up(double x);
  std::string row(int row, bool color) const;

 private:
  struct Cell {
    unsigned char dots = 0;
    std::size_t series = 0;
    const char* rule = " ";
  };
  int columns_, rows_;
  bool letters_;
  std::vector<Cell> cells_;
};

/// Returns the text in a terminal's color, if any.
std::string colored(const std::string& text, std::size_t series, bool color);
/// Throws ValueError for options with which nothing can be drawn.
void check_text(const TextOptions& options);

/// Draws title, legend, axes and ticks as text around dots. Letters take the place of dots if colors do not
/// distinguish the series.
class TextFrame {
 public:
  TextFrame(const FrameSpec& spec, const TextOptions& options);
  Dots dots() const { return {columns_, rows_, letters_}; }
  std::string str(const Dots& dots) const;

 private:
  std::string legend() const;
  std::string x_axis() const;
  const FrameSpec& spec_;
  TextOptions options_;
  std::vector<Scale::Tick> ticks_;
  std::size_t label_width_ = 0;
  int columns_ = 0, rows_ = 16;
  bool letters_ = false;
};

}  // namespace ktape::plot
