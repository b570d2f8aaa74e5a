#include <ktape/nn/plot/internal/frame.hpp>
#include <ktape/nn/plot/internal/series.hpp>
#include <ktape/nn/training/history.hpp>
#include <ktape/nn/training/history_epochs.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace ktape::plot {
namespace {

constexpr std::size_t most_hints = 500;  ///< the largest number of points with hints under the mouse

bool whole(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return !std::isfinite(number) || number == std::floor(number); });
}

class PointChart final : public Chart {
 public:
  PointChart(const char* op, std::vector<Series> series, const ChartOptions& options, bool joined)
      : series_(std::move(series)), joined_(joined), spec_(spec_of(op, series_, options, joined)) {}

  std::string svg() const override {
    Frame frame(spec_);
    std::size_t points = 0;
    for (const Series& series : series_) points += series.y.size();
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (joined_) draw_line(frame, i);
      draw_points(frame, i, points <= most_hints);
    }
    return frame.str();
  }

  std::string text(const TextOptions& options) const override {
    const TextFrame frame(spec_, options);
    Dots dots = frame.dots();
    for (std::size_t s = 0; s < series_.size(); ++s) {
      const auto& [name, y, x] = series_[s];
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (!finite(s, i)) continue;
        const double across = spec_.x.at(x[i]), up = spec_.y.at(y[i]);
        if (joined_ && i > 0 && finite(s, i - 1))
          dots.line(spec_.x.at(x[i - 1]), spec_.y.at(y[i - 1]), across, up, s);
        else dots.dot(across, up, s);
      }
    }
    return frame.str(dots);
  }

 private:
  static FrameSpec spec_of(const char* op, const std::vector<Series>& series, const ChartOptions& options,
                           bool joined) {
    check_size(op, options.width, options.height);
    Range x, y;
    bool whole_x = true;
    std::vector<std::string> legend;
    std::size_t missing = 0, all = 0;
    for (const Series& one : series) {
      check_log(op, "x", options.x, one.x, one.name);
      check_log(op, "y", options.y, one.y, one.name);
      for (std::size_t i = 0; i < one.y.size(); ++i) {
        x.include(one.x[i]);
        y.include(one.y[i]);
        missing += !std::isfinite(one.x[i]) || !std::isfinite(one.y[i]);
      }
      all += one.y.size();
      whole_x = whole_x && whole(one.x);
      legend.push_back(one.name);
    }
    return {.title = options.title,
            .x_label = options.x.label,
            .y_label = options.y.label,
            .x = Scale(op, "x", options.x, x, joined ? 0 : 0.04),
            .y = Scale(op, "y", options.y, y, 0.05),
            .whole_x = whole_x && !options.x.log,
            .legend = legend,
            .note = missing_note(missing, all),
            .width = options.width,
            .height = options.height};
  }

  bool finite(std::size_t series, std::size_t i) const {
    return std::isfinite(series_[series].x[i]) && std::isfinite(series_[series].y[i]);
  }

  /// Draws the line of a series. If many points fall into one column of the picture, only the first, the
  /// lowest, the highest and the last are written: the others would be invisible.
  void draw_line(Frame& frame, std::size_t s) const {
    const auto& [name, ys, xs] = series_[s];
    std::string data;
    bool begins = true;
    for (std::size_t i = 0; i < ys.size(); ++i) {
      if (!finite(s, i)) {
        begins = true;
        continue;
      }
      std::size_t last = i, low = i, high = i;
      const double column = std::floor(frame.x(xs[i]));
      while (last + 1 < ys.size() && finite(s, last + 1) && std::floor(frame.x(xs[last + 1])) == column) {
        ++last;
        if (ys[last] < ys[low]) low = last;
        if (ys[last] > ys[high]) high = last;
      }
      for (const std::size_t point : std::set<std::size_t>{i, low, high, last}) {
        data += (begins ? "M" : "L") + coordinate(limited(frame.x(xs[point]))) + ' ' +
                coordinate(limited(frame.y(ys[point])));
        begins = false;
      }
      i = last;
    }
    frame.svg().path(data, painted({}, Paint::of_series(s)) +
                               " stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
  }

  /// Limits a position to a range in which readers of SVG parse numbers.
  static double limited(double place) { return std::clamp(place, -1e6, 1e6); }

  /// Draws the points of a series; points at one position are drawn once. With a line, a point is drawn if it
  /// is isolated, or if there are few points.
  void draw_points(Frame& frame, std::size_t s, bool hints) const {
    const auto& [name, ys, xs] = series_[s];
    std::set<std::pair<int, int>> drawn;
    for (std::size_t i = 0; i < ys.size(); ++i) {
      if (!finite(s, i) || !spec_.x.shows(xs[i]) || !spec_.y.shows(ys[i])) continue;
      const bool alone = (i == 0 || !finite(s, i - 1)) && (i + 1 == ys.size() || !finite(s, i + 1));
      if (joined_ && !alone && !hints) continue;
      const double x = frame.x(xs[i]), y = frame.y(ys[i]);
      if (!drawn.emplace(static_cast<int>(2 * x), static_cast<int>(2 * y)).second) continue;
      const bool small = joined_ && !alone && ys.size() > 60;
      frame.svg().circle(x, y,
                         small     ? 1.5
                         : joined_ ? 2.5
                                   : 3,
                         painted(Paint::of_series(s)) + (joined_ ? "" : " fill-opacity=\"0.7\""),
                         hints ? hint(series_[s], i) : "");
    }
  }

  static std::string hint(const Series& series, std::size_t i) {
    return (series.name.empty() ? "" : series.name + ": ") + number_text(series.x[i]) + ", " +
           number_text(series.y[i]);
  }

  std::vector<Series> series_;
  bool joined_;
  FrameSpec spec_;
};

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
