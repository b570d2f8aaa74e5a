#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/internal/density.hpp>
#include <ktape/nn/plot/internal/series.hpp>
#include <ktape/nn/plot/internal/text_frame.hpp>
#include <ktape/nn/training/history.hpp>
#include <ktape/nn/training/history_epochs.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace ktape::plot {
namespace {

constexpr std::size_t most_hints = 500;   ///< the largest number of points with hints under the mouse
constexpr std::size_t most_marks = 5000;  ///< more points are drawn as an image

bool whole(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return !std::isfinite(number) || number == std::floor(number); });
}

/// Returns the lower or upper end of the band or error bar at point i; NaN for a series without band.
double band_end(const Series& series, std::size_t i, bool upper) {
  if (!series.low.empty()) return upper ? series.high[i] : series.low[i];
  if (series.error.empty()) return NAN;
  return upper ? series.y[i] + series.error[i] : series.y[i] - series.error[i];
}

/// The ranges of the numbers of a chart.
struct Limits {
  Range x, y;
  bool whole_x = true;
  std::size_t missing = 0, all = 0;
};

Limits limits_of(const char* op, const std::vector<Series>& series, const ChartOptions& options) {
  Limits limits;
  for (const Series& one : series) {
    check_log(op, "x", options.x, one.x, one.name);
    check_log(op, "y", options.y, one.y, one.name);
    check_log(op, "low", options.y, one.low, one.name);
    check_log(op, "high", options.y, one.high, one.name);
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      const double y = one.y.empty() ? one.low[i] + one.high[i] : one.y[i];
      limits.x.include(one.x[i]);
      if (!one.y.empty()) limits.y.include(y);
      for (const bool upper : {false, true})
        if (const double end = band_end(one, i, upper); !options.y.log || end > 0) limits.y.include(end);
      limits.missing += !std::isfinite(one.x[i]) || !std::isfinite(y);
    }
    limits.all += one.x.size();
    limits.whole_x = limits.whole_x && whole(one.x);
  }
  return limits;
}

/// Includes rules and annotations in the ranges.
void include_marks(const char* op, const ChartOptions& options, Limits& limits) {
  const auto add = [&](const char* name, const Axis& axis, double number, Range& range) {
    if (!std::isfinite(number) || (axis.log && number <= 0))
      fail("[", op, "] ", name, " must be finite", axis.log ? " and positive on a logarithmic axis" : "",
           ": received ", number);
    range.include(number);
  };
  for (const Rule& rule : options.horizontal) {
    add("horizontal", options.y, rule.at, limits.y);
    dash_of(op, rule.line);
  }
  for (const Rule& rule : options.vertical) {
    add("vertical", options.x, rule.at, limits.x);
    dash_of(op, rule.line);
  }
  for (const Annotation& note : options.annotations) {
    add("annotations", options.x, note.x, limits.x);
    add("annotations", options.y, note.y, limits.y);
  }
}

FrameSpec spec_of(const char* op, const std::vector<Series>& series, const ChartOptions& options,
                  bool joined) {
  check_size(op, options.width, options.height);
  if (options.equal && (options.x.log || options.y.log))
    fail("[", op, "] equal units must have linear axes: received equal=1 and a logarithmic axis");
  Limits limits = limits_of(op, series, options);
  include_marks(op, options, limits);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < series.size(); ++i)
    legend.push_back({.name = series[i].name,
                      .look = look_of(series[i], i, joined),
                      .sign = joined ? LegendEntry::Line : LegendEntry::Points,
                      .band = !series[i].low.empty() || (joined && !series[i].error.empty())});
  return {.title = options.title,
          .x_label = options.x.label,
          .y_label = options.y.label,
          .x = Scale(op, "x", options.x, limits.x, joined ? 0 : 0.04),
          .y = Scale(op, "y", options.y, limits.y, 0.05),
          .whole_x = limits.whole_x && !options.x.log,
          .legend = legend,
          .note = missing_note(limits.missing, limits.all),
          .width = options.width,
          .height = options.height,
          .equal = options.equal};
}

class PointChart final : public Chart {
 public:
  PointChart(const char* op, std::vector<Series> series, const ChartOptions& options, bool joined)
      : series_(std::move(series)),
        options_(options),
        joined_(joined),
        spec_(spec_of(op, series_, options, joined)) {}

  Size size() const override { return {static_cast<double>(spec_.width), static_cast<double>(spec_.height)}; }
  std::string description() const override { return spec_.title.empty() ? "chart" : spec_.title; }

  void draw(Canvas& canvas) const override {
    Frame frame(canvas, spec_);
    draw_rules(frame);
    std::size_t points = 0;
    for (const Series& series : series_) points += series.y.size();
    for (std::size_t s = 0; s < series_.size(); ++s) draw_band(frame, s);
    if (points > most_marks) draw_density(frame);
    for (std::size_t s = 0; s < series_.size(); ++s) {
      if (is_line(s)) draw_line(frame, s);
      if (is_line(s) || points <= most_marks) draw_points(frame, s, points <= most_hints);
    }
    draw_annotations(frame);
  }

  std::string text(const TextOptions& options) const override;

 private:
  const Look& look(std::size_t s) const { return spec_.legend[s].look; }
  Paint paint(std::size_t s) const { return Paint::of_series(look(s).color); }
  bool is_line(std::size_t s) const { return look(s).dash != Dash::None; }
  double width(std::size_t s) const { return joined_ && series_[s].size > 0 ? series_[s].size : 2; }
  bool finite(std::size_t s, std::size_t i) const {
    return std::isfinite(series_[s].x[i]) && std::isfinite(series_[s].y[i]);
  }

  /// Calls f(first, last, begins) for each run of points in one column of the picture. `begins` is true after
  /// a point that `good` rejects.
  template <class Good, class F>
  void each_column(const Frame& frame, std::size_t s, Good&& good, F&& f) const {
    const Numbers& xs = series_[s].x;
    bool begins = true;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      if (!good(i)) {
        begins = true;
        continue;
      }
      std::size_t last = i;
      const double column = std::floor(frame.x(xs[i]));
      while (last + 1 < xs.size() && good(last + 1) && std::floor(frame.x(xs[last + 1])) == column) ++last;
      f(i, last, std::exchange(begins, false));
      i = last;
    }
  }

  void draw_rules(Frame& frame) const;
  void draw_band(Frame& frame, std::size_t s) const;
  void draw_error_bars(Frame& frame, std::size_t s) const;
  void draw_density(Frame& frame) const;
  void draw_line(Frame& frame, std::size_t s) const;
  void draw_points(Frame& frame, std::size_t s, bool hints) const;
  void draw_annotations(Frame& frame) const;
  std::string hint(std::size_t s, std::size_t i) const {
    const Series& series = series_[s];
    return (series.name.empty() ? "" : series.name + ": ") + number_text(series.x[i]) + ", " +
           number_text(series.y[i]);
  }

  std::vector<Series> series_;
  ChartOptions options_;
  bool joined_;
  FrameSpec spec_;
};

void PointChart::draw_rules(Frame& frame) const {
  const double right = frame.left() + frame.width();
  const auto brush = [](const Rule& rule) {
    return Brush{.stroke = Role::Muted, .width = 1.5, .dash = dash_of("plot", rule.line)};
  };
  for (const Rule& rule : options_.horizontal) {
    const double y = frame.y(rule.at);
    if (rule.line != "none") frame.canvas().line({frame.left(), y}, {right, y}, brush(rule));
    frame.canvas().text({right - 2, y - 4 < frame.top() + 10 ? y + 13 : y - 4},
                        fitted(rule.label, frame.width() - 4, 11),
                        {.anchor = "end", .size = 11, .halo = true});
  }
  for (const Rule& rule : options_.vertical) {
    const double x = frame.x(rule.at);
    if (rule.line != "none") frame.canvas().line({x, frame.top()}, {x, frame.bottom()}, brush(rule));
    const bool before = x > frame.left() + frame.width() / 2;
    frame.canvas().text({before ? x - 4 : x + 4, frame.top() + 10}, fitted(rule.label, frame.width() / 2, 11),
                        {.anchor = before ? "end" : "start", .size = 11, .halo = true});
  }
}

/// Fills the space between low and high, or between y - error and y + error, with a gap where an end is not
/// finite.
void PointChart::draw_band(Frame& frame, std::size_t s) const {
  const Series& series = series_[s];
  if (series.low.empty() && series.error.empty()) return;
  if (series.low.empty() && !is_line(s)) return draw_error_bars(frame, s);
  const auto good = [&](std::size_t i) {
    return std::isfinite(series.x[i]) && std::isfinite(band_end(series, i, false)) &&
           std::isfinite(band_end(series, i, true));
  };
  // A logarithmic axis has no position for y - error <= 0.
  const auto y = [&](double number) { return frame.y(std::max(number, spec_.y.min())); };
  struct Edges {
    std::vector<Point> lower, upper;
  };
  std::vector<Edges> pieces;
  each_column(frame, s, good, [&](std::size_t first, std::size_t last, bool begins) {
    if (begins) pieces.emplace_back();
    double low = band_end(series, first, false), high = band_end(series, first, true);
    for (std::size_t i = first; i <= last; ++i)
      low = std::min(low, band_end(series, i, false)), high = std::max(high, band_end(series, i, true));
    pieces.back().lower.push_back({frame.x(series.x[first]), y(low)});
    pieces.back().upper.push_back({frame.x(series.x[first]), y(high)});
  });
  Path path;
  for (auto& [lower, upper] : pieces) {
    lower.insert(lower.end(), upper.rbegin(), upper.rend());
    path.push_back({std::move(lower), true});
  }
  frame.canvas().path(path, {.fill = paint(s), .opacity = 0.25 * series.alpha});
}

void PointChart::draw_error_bars(Frame& frame, std::size_t s) const {
  const Series& series = series_[s];
  Path path;
  for (std::size_t i = 0; i < series.y.size() && i < most_marks; ++i) {
    if (!finite(s, i) || !std::isfinite(series.error[i])) continue;
    const double x = frame.x(series.x[i]), low = std::max(series.y[i] - series.error[i], spec_.y.min());
    const double from = frame.y(low), to = frame.y(series.y[i] + series.error[i]);
    for (const auto& [a, b] : {std::pair<Point, Point>{{x, from}, {x, to}},
                               {{x - 3, from}, {x + 3, from}},
                               {{x - 3, to}, {x + 3, to}}})
      path.push_back({{a, b}});
  }
  frame.canvas().path(path, {.stroke = paint(s), .width = 1.2, .opacity = series.alpha});
}

void PointChart::draw_density(Frame& frame) const {
  Density density(frame);
  bool any = false;
  for (std::size_t s = 0; s < series_.size(); ++s) {
    if (is_line(s) || look(s).marker == Marker::None) continue;
    for (std::size_t i = 0; i < series_[s].y.size(); ++i)
      if (finite(s, i)) density.add(frame.at(series_[s].x[i], series_[s].y[i]), look(s).color), any = true;
  }
  if (any) density.draw(frame.canvas());
}

/// Draws the line of a series. If many points fall into one column of the picture, only the first, the
/// lowest, the highest and the last are drawn: the others would be invisible.
void PointChart::draw_line(Frame& frame, std::size_t s) const {
  const auto& xs = series_[s].x;
  const auto& ys = series_[s].y;
  Path path;
  each_column(
      frame, s, [&](std::size_t i) { return finite(s, i); },
      [&](std::size_t first, std::size_t last, bool begins) {
        if (begins) path.emplace_back();
        std::size_t low = first, high = first;
        for (std::size_t i = first; i <= last; ++i) {
          if (ys[i] < ys[low]) low = i;
          if (ys[i] > ys[high]) high = i;
        }
        for (const std::size_t i : std::set<std::size_t>{first, low, high, last})
          path.back().points.push_back(frame.at(xs[i], ys[i]));
      });
  frame.canvas().path(
      path, {.stroke = paint(s), .width = width(s), .opacity = series_[s].alpha, .dash = look(s).dash});
}

/// Draws the points of a series; points at one position are drawn once. With a line, a point is drawn if the
/// series has a marker, if there are few points, or if the point is isolated.
void PointChart::draw_points(Frame& frame, std::size_t s, bool hints) const {
  const Series& series = series_[s];
  if (look(s).marker == Marker::None) return;
  const bool line = is_line(s), marked = !series.marker.empty() || look(s).marker != Marker::Circle;
  std::set<std::pair<int, int>> drawn;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!finite(s, i) || !spec_.x.shows(series.x[i]) || !spec_.y.shows(series.y[i])) continue;
    const bool alone = (i == 0 || !finite(s, i - 1)) && (i + 1 == series.y.size() || !finite(s, i + 1));
    if (line && !alone && !hints && !marked) continue;
    const Point place = frame.at(series.x[i], series.y[i]);
    const bool apart = line && marked && !hints;  // draw markers at a distance from each other
    const auto cell = [&](double at) { return static_cast<int>(at * (apart ? 0.1 : 2)); };
    if (!drawn.emplace(cell(place.x), apart ? 0 : cell(place.y)).second) continue;
    double radius = !joined_ && series.size > 0 ? series.size : 3.5;
    if (line && joined_) radius = width(s) * (marked ? 2 : alone || series.y.size() <= 60 ? 1.25 : 0.75);
    draw_marker(frame.canvas(), look(s).marker, place, radius, paint(s), (line ? 1 : 0.8) * series.alpha,
                hints ? hint(s, i) : "");
  }
}

void PointChart::draw_annotations(Frame& frame) const {
  for (const Annotation& note : options_.annotations) {
    const auto [x, y] = frame.at(note.x, note.y);
    frame.canvas().circle({x, y}, 4.5, {.stroke = Role::Ink, .width = 1.5});
    const double room = std::max(x - frame.left(), frame.left() + frame.width() - x) - 10;
    const std::string text = fitted(note.text, room, 11);
    const bool before = x + 8 + text_length(text, 11) > frame.left() + frame.width();
    const bool below = y - 8 < frame.top() + 10;
    frame.canvas().text({before ? x - 8 : x + 8, below ? y + 16 : y - 8}, text,
                        {.anchor = before ? "end" : "start", .size = 11, .paint = Role::Ink, .halo = true});
  }
}

std::string PointChart::text(const TextOptions& options) const {
  const TextFrame frame(spec_, options);
  Dots dots = frame.dots();
  for (const Rule& rule : options_.horizontal) dots.rule_across(spec_.y.at(rule.at));
  for (const Rule& rule : options_.vertical) dots.rule_up(spec_.x.at(rule.at));
  for (std::size_t s = 0; s < series_.size(); ++s) {
    const Series& series = series_[s];
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const double across = spec_.x.at(series.x[i]);
      for (const bool upper : {false, true})
        if (const double end = band_end(series, i, upper); std::isfinite(end) && spec_.y.shows(end))
          dots.dot(across, spec_.y.at(end), s);
      if (series.y.empty() || !finite(s, i)) continue;
      const double up = spec_.y.at(series.y[i]);
      if (is_line(s) && i > 0 && finite(s, i - 1))
        dots.line(spec_.x.at(series.x[i - 1]), spec_.y.at(series.y[i - 1]), across, up, s);
      else dots.dot(across, up, s);
    }
  }
  std::string out = frame.str(dots);
  const auto list = [&](const std::string& label, const std::string& place) {
    if (!label.empty()) out += wrapped_lines(place + ": " + label, options.columns);
  };
  for (const Rule& rule : options_.horizontal) list(rule.label, "y = " + number_text(rule.at));
  for (const Rule& rule : options_.vertical) list(rule.label, "x = " + number_text(rule.at));
  for (const Annotation& note : options_.annotations)
    list(note.text, number_text(note.x) + ", " + number_text(note.y));
  return out;
}

Figure point_chart(const char* op, const SeriesList& series, const ChartOptions& options, bool joined) {
  return Figure(std::make_shared<PointChart>(op, checked(op, series), options, joined));
}

}  // namespace

Figure lines(const SeriesList& series, const ChartOptions& options) {
  return point_chart("lines", series, options, true);
}

Figure scatter(const SeriesList& series, const ChartOptions& options) {
  return point_chart("scatter", series, options, false);
}

Figure curves(const nn::History& history, const std::string& name, const ChartOptions& options) {
  if (history.names().empty()) fail("[curves] the history must hold an epoch: received none");
  std::vector<Series> series;
  const auto add = [&](const std::string& column, const char* label) {
    std::vector<double> epochs;
    for (const int epoch : nn::epochs_of(history, column)) epochs.push_back(epoch + 1.0);
    series.push_back({label, history[column], epochs});
  };
  add(name, "training");
  if (history.contains("val_" + name)) add("val_" + name, "validation");
  else series[0].name.clear();
  ChartOptions labelled = options;
  if (labelled.title.empty()) labelled.title = name;
  if (labelled.x.label.empty()) labelled.x.label = "epoch";
  return point_chart("curves", series, labelled, true);
}

}  // namespace ktape::plot
