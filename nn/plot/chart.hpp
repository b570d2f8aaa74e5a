#pragma once
#include <ktape/nn/plot/plot.hpp>

/// The class that a Figure refers to, and its parts. Internal: sources only.
namespace ktape::plot {

class Chart {
 public:
  virtual ~Chart() = default;
  virtual std::string svg() const = 0;
  virtual std::string text(const TextOptions& options) const = 0;
};

/// Throws ValueError for a picture too small or large to draw.
void check_size(const char* op, int width, int height = 400);

/// Returns the number with up to 4 significant digits, for labels.
std::string number_text(double number);

}  // namespace ktape::plot
