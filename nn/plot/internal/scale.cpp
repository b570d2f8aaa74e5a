#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/scale.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace ktape::plot {
namespace {

// long double also holds the difference of the largest and the smallest double.
using Wide = long double;

std::string text_of(double number, std::chars_format format, int precision) {
  char buffer[400];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, number, format, precision).ptr);
  for (const char* zero : {"e+0", "e-0"})  // 1e-5, 1e5
    if (const auto at = text.find(zero); at != std::string::npos) text.erase(at + 2, 1);
  if (const auto at = text.find("e+"); at != std::string::npos) text.erase(at + 1, 1);
  return text;
}

/// Returns the number with as many digits as distinguish it from the ticks beside it.
std::string label_of(double number, Wide step, double largest) {
  const int last = static_cast<int>(std::floor(std::log10(step) + 1e-9L));
  const int first = largest > 0 ? static_cast<int>(std::floor(std::log10(largest))) : 0;
  if (number == 0) return "0";
  const std::string fixed = text_of(number, std::chars_format::fixed, std::max(0, -last));
  if (first < 6 && last >= -5) return fixed;
  const int own = static_cast<int>(std::floor(std::log10(std::abs(number))));
  const std::string text = text_of(number, std::chars_format::scientific, std::clamp(own - last, 0, 15));
  return fixed.size() <= text.size() ? fixed : text;
}

/// Returns the smallest of 1, 2, 5, 10, 20, 50, ... that is at least `step`.
Wide round_step(Wide step) {
  const Wide power = std::pow(Wide{10}, std::floor(std::log10(step)));
  for (const int factor : {1, 2, 5})
    if (factor * power >= step * (1 - 1e-9L)) return factor * power;
  return 10 * power;
}

}  // namespace

void Range::include(double number) {
  if (!std::isfinite(number)) return;
  min = empty ? number : std::min(min, number);
  max = empty ? number : std::max(max, number);
  empty = false;
}

Scale::Scale(const char* op, const char* name, const Axis& axis, Range range, double margin)
    : log_(axis.log) {
  const auto check = [&](const char* limit, const std::optional<double>& number) {
    if (number && (!std::isfinite(*number) || (log_ && *number <= 0)))
      fail("[", op, "] ", name, '.', limit, " must be finite",
           log_ ? " and positive on a logarithmic axis" : "", ": received ", name, '.', limit, '=', *number);
  };
  check("min", axis.min);
  check("max", axis.max);
  if (axis.min && axis.max && !(*axis.min < *axis.max))
    fail("[", op, "] ", name, ".min must be below ", name, ".max: received ", *axis.min, " and ", *axis.max);
  if (range.empty) range = log_ ? Range{1, 10, false} : Range{0, 1, false};
  Wide low = axis.min.value_or(range.min), high = axis.max.value_or(range.max);
  if (log_) low = std::log10(low), high = std::log10(high);
  if (!(low < high)) {
    const Wide middle = axis.max ? high : low, half = log_ || middle == 0 ? 0.5L : std::abs(middle) * 0.05L;
    if (axis.min) high = low + 2 * half;
    else if (axis.max) low = high - 2 * half;
    else low -= half, high += half;
  } else {
    const Wide room = (high - low) * margin;
    const bool positive = !log_ && low >= 0;
    if (!axis.min) low = positive ? std::max(low - room, Wide{0}) : low - room;
    if (!axis.max) high += room;
  }
  if (log_) low = std::pow(Wide{10}, low), high = std::pow(Wide{10}, high);
  constexpr Wide most = std::numeric_limits<double>::max();
  min_ = static_cast<double>(
      std::clamp(low, log_ ? Wide{std::numeric_limits<double>::denorm_min()} : -most, most));
  max_ = static_cast<double>(std::clamp(high, -most, most));
}

double Scale::at(double number) const {
  Wide low = min_, high = max_, place = number;
  if (log_) low = std::log10(low), high = std::log10(high), place = std::log10(place);
  return static_cast<double>((place - low) / (high - low));
}

bool Scale::shows(double number) const { return std::isfinite(number) && number >= min_ && number <= max_; }

std::vector<Scale::Tick> Scale::ticks(int wanted, bool whole) const {
  return log_ ? log_ticks(wanted) : linear_ticks(wanted, whole);
}

std::vector<Scale::Tick> Scale::linear_ticks(int wanted, bool whole) const {
  const Wide low = min_, high = max_;
  Wide step = round_step((high - low) / std::max(1, wanted));
  if (whole) step = std::max(step, Wide{1});
  std::vector<Tick> ticks;
  const double largest = std::max(std::abs(min_), std::abs(max_));
  const Wide first = std::ceil(low / step - 1e-6L), last = std::floor(high / step + 1e-6L);
  for (Wide k = first; k <= last && ticks.size() < 100; ++k) {
    const auto number = static_cast<double>(k * step);
    ticks.push_back({number, label_of(number, step, largest)});
  }
  return ticks;
}

/// Returns ticks at powers of ten; for a short axis also at 2 and 5 times these, for a long axis at every
/// second or third power.
std::vector<Scale::Tick> Scale::log_ticks(int wanted) const {
  const double low = std::log10(min_), high = std::log10(max_);
  const int every = std::max(1, static_cast<int>(std::ceil((high - low) / std::max(1, wanted))));
  std::vector<Tick> ticks;
  for (int power = static_cast<int>(std::floor(low)); power <= high; ++power)
    for (const int factor : {1, 2, 5}) {
      if ((factor != 1 && high - low > 0.4 * wanted) || power % every != 0) continue;
      const double number = static_cast<double>(factor * std::pow(Wide{10}, power));
      if (number >= min_ * (1 - 1e-9) && number <= max_ * (1 + 1e-9))
        ticks.push_back({number, label_of(number, number, number)});
    }
  return ticks.size() >= 2 ? ticks : linear_ticks(wanted, false);
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return std::isnan(number) ? "NaN" : number > 0 ? "∞" : "-∞";
  return text_of(number, std::chars_format::general, 4);
}

}  // namespace ktape::plot
