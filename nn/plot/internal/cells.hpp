#pragma once
#include <ktape/nn/plot/plot.hpp>

#include <functional>

/// Internal: sources only.
namespace ktape::plot {

/// A matrix as it is drawn: the stronger a cell, the more color it has.
struct Cells {
  std::string title, x_label, y_label;
  std::vector<std::string> x_ticks, y_ticks;
  std::size_t rows, columns;
  std::vector<double> strengths;  ///< from 0 to 1, below 0 in the other color; NaN: none
  std::function<std::string(std::size_t)> number, hint;
  std::optional<bool> annotate;
  std::string least, most;  ///< what the palest and the strongest color stand for; empty: not shown
  std::string note;
  int width;
};

Figure cell_chart(Cells cells);

}  // namespace ktape::plot
