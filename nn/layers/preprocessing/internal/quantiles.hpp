#pragma once
#include <cstdint>
#include <vector>

/// Quantiles of more numbers than one keeps: Keras's summary for `Discretization`. Internal.
namespace ktape::nn {

class QuantileSummary {
 public:
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}

  /// Takes in numbers; NaN counts as the largest.
  void add(std::vector<double> numbers);
  bool empty() const { return entries_.empty(); }
  /// Returns the quantiles 1 / bins, 2 / bins, ..., in ascending order.
  std::vector<double> boundaries(std::int64_t bins) const;

 private:
  struct Entry {
    double value, weight;  ///< `weight` numbers are summarized by `value`
  };
  static std::vector<Entry> compressed(const std::vector<Entry>& entries, double epsilon);

  double epsilon_;
  std::vector<Entry> entries_;
};

}  // namespace ktape::nn
