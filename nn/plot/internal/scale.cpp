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

int magnitude(Wide number) { return static_cast<int>(std::floor(std::log10(number) + 1e-9L)); }

/// Sets the labels of ticks at multiples of a step. All labels have the digits that distinguish the ticks;
/// all are plain or, if this is shorter, all have the exponent of the largest.
void label_multiples(std::vector<Scale::Tick>& ticks, Wide step) {
  double largest = 0;
  for (const Scale::Tick& tick : ticks) largest = std::max(largest, std::abs(tick.number));
  if (largest == 0) largest = static_cast<double>(step);
  const int last = magnitude(step), first = magnitude(largest);
  const auto plain = [&](double number) {
    return text_of(number, std::chars_format::fixed, std::max(0, -last));
  };
  const auto scientific = [&](double number) {
    if (number == 0) return std::string("0");
    const auto mantissa = static_cast<double>(number / std::pow(Wide{10}, first));
    return text_of(mantissa, std::chars_format::fixed, std::clamp(first - last, 0, 15)) + 'e' +
           std::to_string(first);
  };
  std::size_t plain_size = 0, scientific_size = 0;
  for (const Scale::Tick& tick : ticks) {
    plain_size = std::max(plain_size, plain(tick.number).size());
    scientific_size = std::max(scientific_size, scientific(tick.number).size());
  }
  const bool short_enough = (first < 6 && last >= -5) || plain_size <= scientific_size;
  for (Scale::Tick& tick : ticks) tick.label = short_enough ? plain(tick.number) : scientific(tick.number);
}

/// Sets the labels of ticks at 1, 2 and 5 times powers of ten: all are plain or all have exponents.
void label_powers(std::vector<Scale::Tick>& ticks) {
  const bool plain = ticks.front().number >= 0.9e-4 && ticks.back().number < 1e5;
  for (Scale::Tick& tick : ticks) {
    const int power = magnitude(tick.number);
    const auto factor = static_cast<double>(tick.number / std::pow(Wide{10}, power));
    tick.label = plain ? text_of(tick.number, std::chars_format::fixed, std::max(0, -power))
                       : text_of(factor, std::chars_format::fixed, 0) + 'e' + std::to_string(power);
  }
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
  const Wide first = std::ceil(low / step - 1e-6L), last = std::floor(high / step + 1e-6L);
  for (Wide k = first; k <= last && ticks.size() < 100; ++k)
    ticks.push_back({static_cast<double>(k * step) + 0.0, ""});  // + 0.0: no negative zero
  label_multiples(ticks, step);
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
      if (number >= min_ * (1 - 1e-9) && number <= max_ * (1 + 1e-9)) ticks.push_back({number, ""});
    }
  if (ticks.size() < 2) return linear_ticks(wanted, false);
  label_powers(ticks);
  return ticks;
}

std::string number_text(double number) {
  if (!std::isfinite(number)) return std::isnan(number) ? "NaN" : number > 0 ? "∞" : "-∞";
  if (std::abs(number) < 1e7 && number == std::floor(number))
    return text_of(number + 0.0, std::chars_format::fixed, 0);
  return text_of(number, std::chars_format::general, 4);
}

}  // namespace ktape::plot
