#pragma once
#include <ktape/nn/plot/plot.hpp>

/// The scale of an axis, from numbers to positions.
namespace ktape::plot {

/// The smallest and the largest of the finite numbers that were added.
struct Range {
  double min = 0, max = 0;
  bool empty = true;
  void include(double number);
};

class Scale {
 public:
  /// Makes a scale for numbers in a range. Limits that the axis does not give are moved outwards by a margin,
  /// a fraction of the length. Throws ValueError, naming the axis, for a minimum that is not below the
  /// maximum.
  Scale(const char* op, const char* name, const Axis& axis, Range range, double margin);

  /// Returns the position of a number: 0 at the begin of the axis, 1 at its end; numbers outside of the axis
  /// have positions outside of [0, 1].
  double at(double number) const;
  bool shows(double number) const;
  double min() const { return min_; }
  double max() const { return max_; }

  struct Tick {
    double number;
    std::string label;
  };
  /// Returns about `wanted` round numbers on the axis as ticks; with `whole`, only whole numbers.
  std::vector<Tick> ticks(int wanted, bool whole = false) const;

 private:
  std::vector<Tick> linear_ticks(int wanted, bool whole) const;
  std::vector<Tick> log_ticks(int wanted) const;
  double min_, max_;
  bool log_;
};

}  // namespace ktape::plot
