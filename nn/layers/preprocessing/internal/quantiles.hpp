#pragma once
#include <cstdint>
#include <vector>

/// A summary of numbers that gives approximate quantiles in bounded memory, as in Keras's `Discretization`.
/// Internal: sources only.
namespace ktape::nn {

class QuantileSummary {
 public:
  explicit QuantileSummary(double epsilon) : epsilon_(epsilon) {}

  /// Adds numbers to the summary. NaN counts as the largest number.
  void add(std::vector<double> numbers);
  bool empty() const { return entries_.empty(); }
  /// Returns the quantiles 1 / bins, 2 / bins, ..., in ascending order.
  std::vector<double> boundaries(std::int64_t bins) const;

 private:
  struct Entry {
    double value, weight;  ///< `value` stands for `weight` numbers
  };
  /// Returns `count` entries, for the quantiles epsilon, 2 epsilon, ...; all entries where there are fewer
  /// than 1 / epsilon.
  static std::vector<Entry> compressed(const std::vector<Entry>& entries, double epsilon, std::int64_t count);

  double epsilon_;
  std::vector<Entry> entries_;
};

}  // namespace ktape::nn
