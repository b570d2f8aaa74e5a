#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/internal/series.hpp>
#include <ktape/nn/plot/internal/text_frame.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

/// Returns a bar whose length is a part of the columns, to an eighth of a character.
std::string block_bar(double part, int columns) {
  constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto length = static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * columns * 8));
  std::string bar;
  for (int i = 0; i < length / 8; ++i) bar += "█";
  return bar + eighths[length % 8];
}

struct Row {
  std::string label;
  double number;
  std::size_t series;
};

/// Returns a line of text for each bar, which begins at zero or, if zero is below the axis, at the begin of
/// the axis.
std::string bar_rows(const FrameSpec& spec, const std::vector<Row>& rows, const TextOptions& options) {
  std::size_t label_width = 0, number_width = 0;
  double longest = 0;
  const double base = spec.y.min() > 0 ? spec.y.min() : 0;
  for (const Row& row : rows) {
    label_width = std::max(label_width, std::min<std::size_t>(nn::text_width(row.label), 24));
    number_width = std::max(number_width, nn::text_width(number_text(row.number)));
    if (std::isfinite(row.number)) longest = std::max(longest, std::abs(row.number - base));
  }
  label_width = std::min<std::size_t>(label_width, static_cast<std::size_t>(options.columns / 3));
  const int room = std::max(1, options.columns - static_cast<int>(label_width + number_width) - 4);
  std::string out = wrapped_lines(spec.title, options.columns);
  for (const Row& row : rows) {
    const std::string label = nn::shortened(row.label, label_width);
    const double part = std::isfinite(row.number) && longest > 0 ? std::abs(row.number - base) / longest : 0;
    out += label + std::string(label_width - nn::text_width(label), ' ') + " │" +
           colored(block_bar(part, room), row.series, options.color) + ' ' + number_text(row.number) + '\n';
  }
  return out + wrapped_lines(spec.note, options.columns);
}

/// Returns the scale of a chart of bars, which includes zero unless the axis is logarithmic.
Scale bar_scale(const char* op, const Axis& axis, Range range) {
  if (!axis.log) range.include(0);
  Scale scale(op, "y", axis, range, 0.05);
  if (axis.log) return scale;
  // The axis ends at zero, without a margin, where the bars stand.
  Axis standing = axis;
  if (!axis.min && range.min == 0 && scale.max() > 0) standing.min = 0;
  if (!axis.max && range.max == 0 && range.min < 0 && scale.min() < 0) standing.max = 0;
  return Scale(op, "y", standing, range, 0.05);
}

/// Draws a bar between the positions x1 and x2.
void draw_bar(Frame& frame, const FrameSpec& spec, double x1, double x2, double number, std::size_t series,
              const std::string& hint) {
  if (!std::isfinite(number)) return;
  const double base = std::clamp(spec.y.min() > 0 ? spec.y.min() : 0.0, spec.y.min(), spec.y.max());
  const double top = frame.y(std::clamp(number, spec.y.min(), spec.y.max())), foot = frame.y(base);
  draw_bar_box(frame.canvas(), {x1, std::min(top, foot), std::max(x2 - x1, 0.5), std::abs(foot - top)},
               series, hint);
}

class BarChart final : public Chart {
 public:
  BarChart(std::vector<std::string> labels, std::vector<Series> series, const ChartOptions& options)
      : labels_(std::move(labels)), series_(std::move(series)), spec_(spec_of(labels_, series_, options)) {}

  Size size() const override { return {static_cast<double>(spec_.width), static_cast<double>(spec_.height)}; }
  std::string description() const override { return spec_.title.empty() ? "chart" : spec_.title; }

  void draw(Canvas& canvas) const override {
    Frame frame(canvas, spec_);
    const double group = 0.8, width = group / static_cast<double>(series_.size());
    for (std::size_t s = 0; s < series_.size(); ++s)
      for (std::size_t i = 0; i < labels_.size(); ++i) {
        const double left = static_cast<double>(i) - group / 2 + static_cast<double>(s) * width;
        const double number = series_[s].y[i];
        draw_bar(frame, spec_, frame.x(left), frame.x(left + width * 0.94), number, s,
                 labels_[i] + (series_[s].name.empty() ? "" : ", " + series_[s].name) + ": " +
                     number_text(number));
      }
  }

  std::string text(const TextOptions& options) const override {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      for (std::size_t s = 0; s < series_.size(); ++s) {
        const std::string& name = series_[s].name;
        rows.push_back(
            {series_.size() == 1 || name.empty() ? labels_[i] : labels_[i] + ' ' + name, series_[s].y[i], s});
      }
    return bar_rows(spec_, rows, options);
  }

 private:
  static FrameSpec spec_of(const std::vector<std::string>& labels, const std::vector<Series>& series,
                           const ChartOptions& options) {
    check_size("bars", options.width, options.height);
    Range y;
    std::vector<LegendEntry> legend;
    std::size_t missing = 0;
    for (const Series& one : series) {
      if (one.y.size() != labels.size())
        fail("[bars] there must be a number for each label: received ", one.y.size(), " for ", labels.size(),
             " labels in '", one.name, "'");
      check_log("bars", "y", options.y, one.y, one.name);
      for (const double number : one.y) y.include(number), missing += !std::isfinite(number);
      legend.push_back({.name = one.name, .look = {.color = legend.size()}, .sign = LegendEntry::Bar});
    }
    std::vector<Scale::Tick> ticks;
    for (std::size_t i = 0; i < labels.size(); ++i) ticks.push_back({static_cast<double>(i), labels[i]});
    const Axis places{.min = -0.5, .max = static_cast<double>(labels.size()) - 0.5};
    return {.title = options.title,
            .x_label = options.x.label,
            .y_label = options.y.label,
            .x = Scale("bars", "x", places, {}, 0),
            .y = bar_scale("bars", options.y, y),
            .x_ticks = ticks,
            .legend = legend,
            .note = missing_note(missing, labels.size() * series.size()),
            .width = options.width,
            .height = options.height};
  }

  std::vector<std::string> labels_;
  std::vector<Series> series_;
  FrameSpec spec_;
};

// --- Histogram --------------------------------------------------------------------------------------------

constexpr int most_bins = 1000;

struct Bins {
  double low = 0, high = 1;
  std::vector<double> counts;
  bool log = false;
  bool whole = false;  ///< whether the ends of the bins lie between integers
  double edge(std::size_t i) const {
    const double part = static_cast<double>(i) / static_cast<double>(counts.size());
    if (log) return std::exp(std::log(low) * (1 - part) + std::log(high) * part);
    return low * (1 - part) + high * part;
  }
};

/// Returns the number of bins by the rule of Freedman and Diaconis: the width of a bin is twice the
/// interquartile range, divided by the cube root of the number of values. If the range is 0, the rule of
/// Sturges is used.
std::size_t default_bins(std::vector<double> numbers, double low, double high) {
  if (numbers.empty()) return 1;
  std::sort(numbers.begin(), numbers.end());
  const auto count = static_cast<double>(numbers.size());
  const double spread = numbers[numbers.size() * 3 / 4] - numbers[numbers.size() / 4];
  const double bins = spread > 0 ? (high / 2 - low / 2) / (spread / std::cbrt(count)) : std::log2(count) + 1;
  return static_cast<std::size_t>(std::clamp(std::ceil(bins), 1.0, 100.0));
}

std::vector<double> shown(const std::vector<double>& numbers, const Scale& x) {
  std::vector<double> inside;
  for (const double number : numbers)
    if (x.shows(number)) inside.push_back(number);
  return inside;
}

/// Returns an axis and the number of its bins, which have equal numbers of integers; nothing if a number is
/// not an integer.
std::optional<std::pair<Scale, std::size_t>> whole_axis(const std::vector<double>& numbers, const Scale& x) {
  constexpr double most_own = 64, largest = 1e9;
  for (const double number : numbers)
    if (std::isfinite(number) && (number != std::floor(number) || std::abs(number) > largest)) return {};
  std::vector<double> inside = shown(numbers, x);
  if (inside.empty()) return {};
  const auto [least, most] = std::minmax_element(inside.begin(), inside.end());
  const double low = *least, count = *most - low + 1;
  const double width =
      count <= most_own ? 1 : std::ceil(count / static_cast<double>(default_bins(inside, low, *most)));
  const double bins = std::ceil(count / width);
  return {{Scale("histogram", "x", {.min = low - 0.5, .max = low - 0.5 + bins * width}, {}, 0),
           static_cast<std::size_t>(bins)}};
}

Bins bins_of(const std::vector<double>& numbers, const Scale& x, bool log, std::size_t wanted) {
  Bins bins{.low = x.min(), .high = x.max(), .counts = {}, .log = log};
  const std::vector<double> inside = shown(numbers, x);
  std::vector<double> spread = inside;
  if (log)
    for (double& number : spread) number = std::log(number);
  const auto place = [&](double number) { return log ? std::log(number) : number; };
  bins.counts.resize(wanted > 0 ? wanted : default_bins(spread, place(bins.low), place(bins.high)));
  for (const double number : inside) {
    const auto bin = static_cast<std::size_t>(x.at(number) * static_cast<double>(bins.counts.size()));
    ++bins.counts[std::min(bin, bins.counts.size() - 1)];
  }
  return bins;
}

class Histogram final : public Chart {
 public:
  Histogram(Bins bins, FrameSpec spec) : bins_(std::move(bins)), spec_(std::move(spec)) {}

  Size size() const override { return {static_cast<double>(spec_.width), static_cast<double>(spec_.height)}; }
  std::string description() const override { return spec_.title.empty() ? "chart" : spec_.title; }

  void draw(Canvas& canvas) const override {
    Frame frame(canvas, spec_);
    const double gap = bins_.counts.size() < 120 ? 1 : 0;
    for (std::size_t i = 0; i < bins_.counts.size(); ++i)
      if (bins_.counts[i] > 0)
        draw_bar(frame, spec_, frame.x(bins_.edge(i)), frame.x(bins_.edge(i + 1)) - gap, bins_.counts[i], 0,
                 interval(i) + ": " + number_text(bins_.counts[i]));
  }

  std::string text(const TextOptions& options) const override {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < bins_.counts.size(); ++i) rows.push_back({interval(i), bins_.counts[i], 0});
    return bar_rows(spec_, rows, options);
  }

 private:
  std::string interval(std::size_t i) const {
    if (bins_.whole) {
      const double first = std::round(bins_.edge(i) + 0.5), last = std::round(bins_.edge(i + 1) - 0.5);
      return first == last ? number_text(first) : number_text(first) + " to " + number_text(last);
    }
    return number_text(bins_.edge(i)) + " to " + number_text(bins_.edge(i + 1));
  }

  Bins bins_;
  FrameSpec spec_;
};

}  // namespace

Figure bars(const std::vector<std::string>& labels, const SeriesList& series, const ChartOptions& options) {
  for (const Series& one : series.list())
    if (!one.x.empty()) fail("[bars] the series must have no x: received some for '", one.name, "'");
  return Figure(std::make_shared<BarChart>(labels, checked("bars", series), options));
}

Figure histogram(const Numbers& numbers, const HistogramOptions& options) {
  if (options.bins < 0 || options.bins > most_bins)
    fail("[histogram] bins must be from 1 to ", most_bins, ", or 0: received bins=", options.bins);
  check_size("histogram", options.width, options.height);
  if (numbers.empty()) fail("[histogram] there must be numbers: received none");
  check_log("histogram", "x", options.x, numbers, "");
  Range range, heights;
  std::size_t missing = 0;
  for (const double number : numbers) range.include(number), missing += !std::isfinite(number);
  Scale x("histogram", "x", options.x, range, 0);
  const std::vector<double> list(numbers.begin(), numbers.end());
  auto wanted = static_cast<std::size_t>(options.bins);
  const auto whole = wanted == 0 && !options.x.log ? whole_axis(list, x) : std::nullopt;
  if (whole) x = whole->first, wanted = whole->second;
  Bins bins = bins_of(list, x, options.x.log, wanted);
  bins.whole = whole.has_value();
  for (const double count : bins.counts)
    if (count > 0 || !options.y.log) heights.include(count);
  Axis y = options.y;
  if (y.log && !y.min) y.min = 0.5;  // so that a bar of height 1 is visible
  FrameSpec spec{.title = options.title,
                 .x_label = options.x.label,
                 .y_label = options.y.label.empty() ? "count" : options.y.label,
                 .x = x,
                 .y = bar_scale("histogram", y, heights),
                 .whole_x = bins.whole,
                 .note = missing_note(missing, numbers.size()),
                 .width = options.width,
                 .height = options.height};
  return Figure(std::make_shared<Histogram>(std::move(bins), std::move(spec)));
}

}  // namespace ktape::plot
