#include <ktape/nn/layers/preprocessing/internal/quantiles.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace {

/// Returns the linear interpolation at `at` of the points (x[i], y[i]), constant before the first point and
/// after the last point. x ascends.
double interpolated(double at, const std::vector<double>& x, const std::vector<double>& y) {
  if (at <= x.front()) return y.front();
  if (at >= x.back()) return y.back();
  const auto i = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
  if (at == x[i - 1]) return y[i - 1];  // even where y[i] is not finite
  return y[i - 1] + (y[i] - y[i - 1]) * ((at - x[i - 1]) / (x[i] - x[i - 1]));
}

bool before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

}  // namespace

void QuantileSummary::add(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end(), before);
  const double share = static_cast<double>(numbers.size()) * epsilon_, weight = std::max(share, 1.);
  for (auto i = static_cast<std::size_t>(share); i < numbers.size(); i += static_cast<std::size_t>(weight))
    entries_.push_back({numbers[i], weight});
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return before(a.value, b.value); });
  entries_ = compressed(entries_, epsilon_, static_cast<std::int64_t>(std::ceil(1 / epsilon_)));
}

std::vector<QuantileSummary::Entry> QuantileSummary::compressed(const std::vector<Entry>& entries,
                                                                double epsilon, std::int64_t count) {
  if (static_cast<double>(entries.size()) * epsilon < 1) return entries;
  std::vector<double> values, sums, shares;
  for (const Entry& entry : entries) {
    values.push_back(entry.value);
    sums.push_back((sums.empty() ? 0 : sums.back()) + entry.weight);
  }
  for (const double sum : sums) shares.push_back(sum / sums.back());
  std::vector<Entry> out;
  double before = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = epsilon + static_cast<double>(i) * epsilon;
    const double sum = interpolated(share, shares, sums);
    out.push_back({interpolated(share, shares, values), sum - before});
    before = sum;
  }
  return out;
}

std::vector<double> QuantileSummary::boundaries(std::int64_t bins) const {
  std::vector<double> out;
  for (const Entry& entry : compressed(entries_, 1 / static_cast<double>(bins), bins))
    out.push_back(entry.value);
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace ktape::nn
