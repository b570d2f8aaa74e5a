#pragma once
#include <ktape/nn/plot/plot.hpp>

/// Chart, the class that a Figure refers to, and helpers. Internal: sources only.
namespace ktape::plot {

class Chart {
 public:
  virtual ~Chart() = default;
  virtual std::string svg() const = 0;
  virtual std::string text(const TextOptions& options) const = 0;
};

/// Throws ValueError for a width or height outside of the limits.
void check_size(const char* op, int width, int height = 400);

/// Returns the number with up to 4 significant digits, for labels.
std::string number_text(double number);

}  // namespace ktape::plot
