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
  /// An axis for numbers in a range, wider by a margin, a part of its length, where the limits are not given.
  /// Throws ValueError, naming the axis, for limits that are no range.
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
  /// Round numbers on the axis, about as many as wanted. `whole`: no fractions.
  std::vector<Tick> ticks(int wanted, bool whole = false) const;

 private:
  std::vector<Tick> linear_ticks(int wanted, bool whole) const;
  std::vector<Tick> log_ticks(int wanted) const;
  double min_, max_;
  bool log_;
};

}  // namespace ktape::plot
