#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/canvas/color_map.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/cells.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

constexpr std::size_t most_rectangles = 4096;  ///< more cells are drawn as the pixels of an image
constexpr double margin = 14, label_size = 11, longest_tick = 120, slant = 40, slant_down = 0.643,
                 slant_across = 0.766;
constexpr double bar_width = 12, bar_gap = 16;
constexpr std::size_t longest_text_tick = 18;

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_length(text, label_size));
  return std::min(width, longest_tick);
}

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts)
    width = std::max(width, std::min(nn::text_width(text), longest_text_tick));
  return width;
}

class CellChart final : public Chart {
 public:
  explicit CellChart(Cells cells) : c_(std::move(cells)) {
    signs_ = std::any_of(c_.strengths.begin(), c_.strengths.end(), [](double s) { return s < 0; });
    measure();
  }

  Size size() const override { return {static_cast<double>(c_.width), height_}; }
  std::string description() const override { return c_.title.empty() ? "cells" : c_.title; }

  void draw(Canvas& canvas) const override {
    draw_title(canvas, c_.title, margin, margin, c_.width - 2 * margin);
    if (c_.strengths.size() <= most_rectangles) draw_rectangles(canvas);
    else
      canvas.image({left_, top_, across_ * columns(), down_ * rows()}, pixels(Theme::Light), c_.title,
                   c_.colors.empty() ? pixels(Theme::Dark) : Tensor());
    draw_labels(canvas);
    if (c_.scale) draw_color_bar(canvas);
    if (!c_.note.empty())
      canvas.text({left_, height_ - margin + 2}, fitted(c_.note, c_.width - left_ - margin, label_size),
                  {.size = label_size, .paint = Role::Ink});
  }

  std::string text(const TextOptions& options) const override;

 private:
  double rows() const { return static_cast<double>(c_.rows); }
  double columns() const { return static_cast<double>(c_.columns); }
  Paint paint(double strength) const {
    if (!c_.colors.empty()) return mapped_color(c_.colors, signs_ ? (strength + 1) / 2 : strength);
    return Paint::of_series(strength < 0 ? 1 : 0);
  }
  double opacity(double strength) const { return c_.colors.empty() ? std::abs(strength) : 1; }
  Paint ink(double strength) const;

  void measure();
  void draw_rectangles(Canvas& canvas) const;
  void draw_labels(Canvas& canvas) const;
  void draw_color_bar(Canvas& canvas) const;
  Tensor pixels(Theme theme) const;

  std::string row_label(std::size_t row, std::size_t width) const;
  std::string number_rows(std::size_t labels, std::size_t width) const;
  std::string shaded_rows(std::size_t labels, std::size_t room) const;

  Cells c_;
  bool signs_ = false;
  double left_ = 0, top_ = 0, across_ = 0, down_ = 0, below_ = 0, height_ = 0;
  std::vector<Scale::Tick> bar_ticks_ = {};
  bool turned_ = false;
};

void CellChart::measure() {
  left_ = margin + widest(c_.y_ticks) + 6 + (c_.y_label.empty() ? 0 : 18);
  top_ = margin + title_height(c_.title, c_.width - 2 * margin);
  double bar = 0;
  if (c_.scale) {
    bar_ticks_ = c_.scale->ticks(4);
    for (const Scale::Tick& tick : bar_ticks_) bar = std::max(bar, text_length(tick.label, label_size));
    bar += bar_gap + bar_width + 6;
  }
  const double room = std::max(40.0, c_.width - left_ - margin - bar);
  across_ = std::min(room / columns(), 72.0);
  down_ = std::min({across_, 48.0, 1.2 * room / rows()});
  if (columns() * across_ > 4 * rows() * down_) down_ = std::max(down_, std::min(18.0, room / 4 / rows()));
  turned_ = widest(c_.x_ticks) + 4 > across_;
  below_ = c_.x_ticks.empty() ? 4 : turned_ ? 14 + widest(c_.x_ticks) * slant_down : 18;
  height_ =
      top_ + rows() * down_ + below_ + (c_.x_label.empty() ? 0 : 17) + (c_.note.empty() ? 0 : 17) + margin;
  if (c_.scale) height_ = std::max(height_, top_ + 60 + (c_.note.empty() ? 0 : 17) + margin);
}

/// Returns the color of the number in a cell.
Paint CellChart::ink(double strength) const {
  if (std::isnan(strength)) return Role::Muted;
  if (!c_.colors.empty()) return is_bright(*paint(strength).fixed) ? Color{15, 23, 42} : Color{255, 255, 255};
  return std::abs(strength) > 0.6 ? Role::OnAccent : strength == 0 ? Role::Muted : Role::Ink;
}

void CellChart::draw_rectangles(Canvas& canvas) const {
  double widest_number = 0;
  for (std::size_t i = 0; i < c_.strengths.size(); ++i)
    widest_number = std::max(widest_number, text_length(c_.number(i), label_size));
  const bool room = widest_number + 4 <= across_ && down_ >= 14;
  const double gap = across_ >= 14 && down_ >= 14 ? 1 : 0;
  for (std::size_t i = 0; i < c_.strengths.size(); ++i) {
    const double x = left_ + static_cast<double>(i % c_.columns) * across_,
                 y = top_ + static_cast<double>(i / c_.columns) * down_, strength = c_.strengths[i];
    const Box box{x, y, across_ - gap, down_ - gap};
    if (std::isnan(strength)) {
      canvas.rect(box, {.fill = Role::Grid}, c_.hint(i));
    } else {
      if (c_.colors.empty()) canvas.rect(box, {.fill = Role::Panel});
      canvas.rect(box, {.fill = paint(strength), .opacity = opacity(strength)}, c_.hint(i));
    }
    if (c_.annotate.value_or(room))
      canvas.text({x + (across_ - gap) / 2, y + down_ / 2 + 4},
                  fitted(c_.number(i), std::max(across_, 8.0), label_size),
                  {.anchor = "middle", .size = label_size, .paint = ink(strength)});
  }
}

/// Returns an image of the cells, whose opacity is the strength of the cell.
Tensor CellChart::pixels(Theme theme) const {
  const Tensor image = Tensor::empty(
      {static_cast<std::int64_t>(c_.rows), static_cast<std::int64_t>(c_.columns), 4}, DType::UInt8);
  auto* at = image.pointer<unsigned char>();
  for (const double strength : c_.strengths) {
    const bool none = std::isnan(strength);
    const Color color = none ? Color() : color_of(paint(strength), theme);
    *at++ = color.red, *at++ = color.green, *at++ = color.blue;
    *at++ = none ? 0 : static_cast<unsigned char>(std::lround(opacity(strength) * 255));
  }
  return image;
}

void CellChart::draw_labels(Canvas& canvas) const {
  const auto step = [](double cell, double room) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(room / cell)));
  };
  const double bottom = top_ + rows() * down_;
  for (std::size_t i = 0; i < c_.y_ticks.size(); i += step(down_, 13))
    canvas.text({left_ - 6, top_ + (static_cast<double>(i) + 0.5) * down_ + 4},
                fitted(c_.y_ticks[i], longest_tick, label_size), {.anchor = "end", .size = label_size});
  for (std::size_t i = 0; i < c_.x_ticks.size(); i += turned_ ? step(across_, 14) : 1) {
    const double x = left_ + (static_cast<double>(i) + 0.5) * across_;
    const double room = turned_ ? std::min(longest_tick, (x - 4) / slant_across) : longest_tick;
    canvas.text({x, bottom + (turned_ ? 12 : 14)}, fitted(c_.x_ticks[i], room, label_size),
                {.anchor = turned_ ? "end" : "middle", .size = label_size, .turned = turned_ ? -slant : 0});
  }
  const double middle = top_ + rows() * down_ / 2;
  if (!c_.y_label.empty())
    canvas.text({margin + 8, middle}, fitted(c_.y_label, 2 * std::min(middle, height_ - middle), label_size),
                {.anchor = "middle", .size = label_size, .turned = -90});
  const double centre = left_ + columns() * across_ / 2;
  if (!c_.x_label.empty())
    canvas.text({centre, bottom + below_ + 12},
                fitted(c_.x_label, 2 * std::min(centre, c_.width - centre), label_size),
                {.anchor = "middle", .size = label_size});
}

/// Draws the colors from the largest number at the top to the smallest number, with ticks.
void CellChart::draw_color_bar(Canvas& canvas) const {
  const double x = left_ + columns() * across_ + bar_gap;
  const double length = std::max(std::min(rows() * down_, 300.0), 50.0);
  constexpr int parts = 64;
  if (c_.colors.empty()) canvas.rect({x, top_, bar_width, length}, {.fill = Role::Panel});
  for (int part = 0; part < parts; ++part) {
    const double at = 1 - (part + 0.5) / parts, strength = signs_ ? 2 * at - 1 : at;
    // The parts overlap where colors are opaque, so that no seams are seen.
    const double overlap = c_.colors.empty() || part + 1 == parts ? 0 : 0.7;
    canvas.rect({x, top_ + part * length / parts, bar_width, length / parts + overlap},
                {.fill = paint(strength), .opacity = opacity(strength)});
  }
  for (const Scale::Tick& tick : bar_ticks_) {
    const double y = top_ + (1 - c_.scale->at(tick.number)) * length;
    canvas.line({x + bar_width, y}, {x + bar_width + 4, y}, {.stroke = Role::Frame});
    canvas.text({x + bar_width + 6, y + 4}, tick.label, {.size = label_size});
  }
}

// --- With characters --------------------------------------------------------------------------------------

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string part = nn::shortened(text, width), space(width - nn::text_width(part), ' ');
  return right ? space + part : part + space;
}

std::string CellChart::text(const TextOptions& options) const {
  std::string out = wrapped_lines(c_.title, options.columns);
  if (!c_.y_label.empty() || !c_.x_label.empty())
    out += wrapped_lines(c_.y_label + " ↓  " + c_.x_label + " →", options.columns);
  const std::size_t columns = static_cast<std::size_t>(options.columns);
  const std::size_t labels = std::min(longest(c_.y_ticks), columns / 2) + 1, room = columns - labels;
  std::size_t widest_number = std::min(longest(c_.x_ticks), room);
  if (c_.columns * 2 <= room && c_.strengths.size() <= most_rectangles)
    for (std::size_t i = 0; i < c_.strengths.size(); ++i)
      widest_number = std::max(widest_number, nn::text_width(c_.number(i)));
  const bool numbers = (widest_number + 1) * c_.columns <= room && c_.strengths.size() <= most_rectangles;
  out += numbers ? number_rows(labels, widest_number + 1) : shaded_rows(labels, room);
  if (!numbers && c_.scale)
    out += wrapped_lines("  " + number_text(c_.scale->min()) + " ░▒▓█ " + number_text(c_.scale->max()),
                         options.columns);
  return out + wrapped_lines(c_.note, options.columns);
}

std::string CellChart::row_label(std::size_t row, std::size_t width) const {
  const std::string label = row < c_.y_ticks.size() ? c_.y_ticks[row] : "";
  return padded(nn::shortened(label, width - 1), width, false);
}

std::string CellChart::number_rows(std::size_t labels, std::size_t width) const {
  std::string out;
  if (!c_.x_ticks.empty()) {
    out += std::string(labels, ' ');
    for (const std::string& tick : c_.x_ticks) out += padded(nn::shortened(tick, width - 1), width, true);
    out += '\n';
  }
  for (std::size_t row = 0; row < c_.rows; ++row) {
    out += row_label(row, labels);
    for (std::size_t column = 0; column < c_.columns; ++column)
      out += padded(c_.number(row * c_.columns + column), width, true);
    out += '\n';
  }
  return out;
}

/// Returns rows of text with two characters for each cell. If the cells do not fit, only every n-th cell is
/// drawn.
std::string CellChart::shaded_rows(std::size_t labels, std::size_t room) const {
  constexpr const char* shades[] = {" ", "░", "▒", "▓", "█"};
  const std::size_t every = (c_.columns * 2 + room - 1) / room;
  std::string out;
  for (std::size_t row = 0; row < c_.rows; row += every) {
    out += row_label(row, labels);
    for (std::size_t column = 0; column < c_.columns; column += every) {
      const double strength = c_.strengths[row * c_.columns + column];
      const char* shade = std::isnan(strength) ? "?" : shades[std::lround(std::abs(strength) * 4)];
      out += std::string(shade) + (strength < 0 ? "-" : shade);
    }
    out += '\n';
  }
  return out;
}

}  // namespace

Figure cell_chart(Cells cells) { return Figure(std::make_shared<CellChart>(std::move(cells))); }

}  // namespace ktape::plot
