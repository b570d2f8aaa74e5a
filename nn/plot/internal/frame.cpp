#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/frame.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

constexpr double margin = 14, tick_size = 11, gap = 6, longest_tick = 120, legend_row = 18, legend_sign = 28,
                 legend_gap = 12;
constexpr double slant = 40, slant_across = 0.766, slant_down = 0.643;  // degrees, cosine, sine

double widest(const std::vector<Scale::Tick>& ticks) {
  double width = 0;
  for (const Scale::Tick& tick : ticks) width = std::max(width, text_length(tick.label, tick_size));
  return std::min(width, longest_tick);
}

}  // namespace

bool has_legend(const FrameSpec& spec) {
  return std::any_of(spec.legend.begin(), spec.legend.end(),
                     [](const LegendEntry& entry) { return !entry.name.empty(); });
}

Frame::Frame(Canvas& canvas, const FrameSpec& spec) : spec_(spec), canvas_(canvas), top_(margin) {
  top_ += draw_title(canvas, spec.title, margin, top_, spec.width - 2 * margin);
  if (has_legend(spec)) draw_legend();
  if (!spec.y_label.empty()) {
    canvas.text({margin, top_ + 10}, fitted(spec.y_label, spec.width - 2 * margin, tick_size),
                {.size = tick_size});
    top_ += 16;
  }
  top_ += gap;
  measure();
  if (spec.equal) keep_units_equal();
  draw_y_axis();
  draw_x_axis();
  if (!spec.note.empty())
    canvas.text({spec.width - margin, spec.height - margin + 4},
                fitted(spec.note, spec.width - 2 * margin, tick_size),
                {.anchor = "end", .size = tick_size, .paint = Role::Ink});
  canvas.open({left_ - 4, top_ - 4, width_ + 8, height_ + 8});
}

/// Computes ticks and the size of the axes. The width of the labels of y determines the width of the axes,
/// and the labels of x, if slanted, the height.
void Frame::measure() {
  const double below = margin + 16 + (spec_.x_label.empty() ? 0 : 17) + (spec_.note.empty() ? 0 : 15);
  height_ = std::max(20.0, spec_.height - top_ - below);
  const auto ticks_of_y = [&] { return spec_.y.ticks(static_cast<int>(height_ / 34) + 1); };
  y_ticks_ = ticks_of_y();
  left_ = margin + widest(y_ticks_) + gap;
  width_ = std::max(20.0, spec_.width - left_ - margin - 4);
  x_ticks_ = spec_.x_ticks;
  if (x_ticks_.empty()) {
    const auto ticks_of_x = [&](double room) {
      return spec_.x.ticks(std::max(1, static_cast<int>(width_ / room)), spec_.whole_x);
    };
    // Narrow labels stand closer together, wide ones further apart.
    x_ticks_ = ticks_of_x(60);
    x_ticks_ = ticks_of_x(std::max(widest(x_ticks_) + 4 * gap, 36.0));
    return;
  }
  turned_ = x_ticks_.size() > 1 && widest(x_ticks_) + gap > width_ / static_cast<double>(x_ticks_.size());
  if (!turned_) return;
  height_ = std::max(20.0, height_ - widest(x_ticks_) * slant_down - 4);
  y_ticks_ = ticks_of_y();
}

/// Shortens the axis with the longer unit until a unit has one length on both axes.
void Frame::keep_units_equal() {
  const double across = width_ / (spec_.x.max() - spec_.x.min()),
               up = height_ / (spec_.y.max() - spec_.y.min());
  if (across > up) {
    const double width = std::max(width_ * up / across, 1.0);
    left_ += (width_ - width) / 2, width_ = width;
    x_ticks_ = spec_.x.ticks(std::max(1, static_cast<int>(width_ / 60)), spec_.whole_x);
  } else {
    height_ = std::max(height_ * across / up, 1.0);
    y_ticks_ = spec_.y.ticks(static_cast<int>(height_ / 34) + 1);
  }
}

/// Returns the number of rows that a legend takes whose names are as wide as the limit at most.
int Frame::legend_rows(double limit) const {
  double x = margin;
  int rows = 1;
  for (const LegendEntry& entry : spec_.legend) {
    const double width = legend_sign + text_length(fitted(entry.name, limit));
    if (x > margin && x + width > spec_.width - margin) x = margin, ++rows;
    x += width + legend_gap;
  }
  return rows;
}

/// Draws all names, shortened where the rows would take too much of the picture, and counts the names for which there is no room at all.
void Frame::draw_legend() {
  const double right = spec_.width - margin;
  const auto most_rows = static_cast<int>(std::max(1.0, 0.35 * spec_.height / legend_row));
  const double widest = std::min(260.0, right - margin - legend_sign);
  double limit = widest;
  while (limit > 60 && legend_rows(limit) > most_rows) limit *= 0.8;
  const bool all = legend_rows(limit) <= most_rows;
  if (!all) limit = widest;
  double x = margin;
  int row = 1;
  for (std::size_t i = 0; i < spec_.legend.size(); ++i) {
    const std::string name = fitted(spec_.legend[i].name, limit);
    const double width = legend_sign + text_length(name), rest = text_length("… and 1000 more");
    const bool cut = row == most_rows && !all && i + 1 < spec_.legend.size();
    if (x > margin && x + width + (cut ? rest : 0) > right) {
      if (row == most_rows) {
        canvas_.text({x, top_ + 10}, "… and " + std::to_string(spec_.legend.size() - i) + " more", {});
        break;
      }
      x = margin, top_ += legend_row, ++row;
    }
    draw_sign(spec_.legend[i], x, top_ + 6);
    canvas_.text({x + legend_sign - 4, top_ + 10}, name, {});
    x += width + legend_gap;
  }
  top_ += 20;
}

void Frame::draw_sign(const LegendEntry& entry, double x, double y) {
  const Paint paint = Paint::of_series(entry.look.color);
  const Point middle{x + 10, y};
  if (entry.sign == LegendEntry::Bar) return draw_bar_box(canvas_, {x + 4, y - 5, 14, 10}, entry.look.color);
  if (entry.band) canvas_.rect({x, y - 5, 20, 10}, {.fill = paint, .opacity = 0.25});
  if (entry.look.dash != Dash::None)
    canvas_.line({x, y}, {x + 20, y}, {.stroke = paint, .width = 2, .dash = entry.look.dash});
  if (entry.sign == LegendEntry::Points || entry.look.marker != Marker::Circle)
    draw_marker(canvas_, entry.look.marker, middle, 4, paint);
}

void Frame::draw_y_axis() {
  for (const Scale::Tick& tick : y_ticks_) {
    const bool zero = tick.number == 0 && spec_.y.min() < 0;
    canvas_.line({left_, y(tick.number)}, {left_ + width_, y(tick.number)},
                 {.stroke = zero ? Role::Frame : Role::Grid});
    canvas_.text({left_ - gap, y(tick.number) + 4}, fitted(tick.label, longest_tick, tick_size),
                 {.anchor = "end", .size = tick_size});
  }
}

void Frame::draw_x_axis() {
  canvas_.line({left_, bottom()}, {left_ + width_, bottom()}, {.stroke = Role::Frame});
  const auto every = static_cast<std::size_t>(
      std::ceil(static_cast<double>(x_ticks_.size()) * (turned_ ? 14 : 1) / std::max(width_, 1.0)));
  for (std::size_t i = 0; i < x_ticks_.size(); i += std::max<std::size_t>(every, 1)) {
    const double at = x(x_ticks_[i].number);
    canvas_.line({at, bottom()}, {at, bottom() + 4}, {.stroke = Role::Frame});
    if (turned_) {
      canvas_.text({at, bottom() + 12},
                   fitted(x_ticks_[i].label, std::min(longest_tick, (at - 4) / slant_across), tick_size),
                   {.anchor = "end", .size = tick_size, .turned = -slant});
    } else {
      const std::string label = fitted(x_ticks_[i].label, longest_tick, tick_size);
      const double half = text_length(label, tick_size) / 2;
      canvas_.text({std::min(at, spec_.width - half - 2), bottom() + 16}, label,
                   {.anchor = "middle", .size = tick_size});
    }
  }
  const double middle = left_ + width_ / 2, room = 2 * std::min(middle, spec_.width - middle) - gap;
  const double low = spec_.equal ? bottom() + 33 : spec_.height - margin - (spec_.note.empty() ? 0 : 15) + 4;
  if (!spec_.x_label.empty())
    canvas_.text({middle, low}, fitted(spec_.x_label, room, tick_size),
                 {.anchor = "middle", .size = tick_size});
}

void draw_bar_box(Canvas& canvas, const Box& box, std::size_t series, const std::string& hint) {
  const Paint paint = Paint::of_series(series);
  canvas.rect(box, {.fill = paint}, hint);
  const std::size_t hatch = series / series_colors % 4;
  if (hatch == 0) return;
  // Lines of slope 1, or -1, or both, from the left and lower edges to the right and upper edges.
  constexpr double step = 7;
  const double right = box.x + box.width;
  Path lines;
  for (double offset = step / 2; offset < box.width + box.height; offset += step) {
    const double from = std::max(0.0, offset - box.height), to = std::min(offset, box.width);
    if (hatch != 2)
      lines.push_back({{{box.x + from, box.y + offset - from}, {box.x + to, box.y + offset - to}}});
    if (hatch != 1)
      lines.push_back({{{right - from, box.y + offset - from}, {right - to, box.y + offset - to}}});
  }
  canvas.path(lines, {.stroke = Role::Paper, .width = 1.5});
}

}  // namespace ktape::plot
