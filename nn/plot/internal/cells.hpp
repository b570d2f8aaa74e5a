#pragma once
#include <ktape/nn/plot/internal/scale.hpp>

#include <functional>

/// Internal: sources only.
namespace ktape::plot {

/// A matrix of strengths to draw: stronger cells have more color.
struct Cells {
  std::string title, x_label, y_label;
  std::vector<std::string> x_ticks, y_ticks;
  std::size_t rows, columns;
  std::vector<double> strengths;  ///< from 0 to 1; from 0 to -1 in the other color; NaN for an empty cell
  std::function<std::string(std::size_t)> number, hint;
  std::optional<bool> annotate;
  std::optional<Scale> scale;  ///< the numbers of the color bar; no color bar without
  std::string note;
  int width;
  std::string colors = {};  ///< a color map; its middle is strength 0 if there are negative strengths
};

Figure cell_chart(Cells cells);

}  // namespace ktape::plot
