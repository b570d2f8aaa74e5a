#include <ktape/nn/core/text.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/cells.hpp>
#include <ktape/nn/plot/svg.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

constexpr std::size_t most_rectangles = 4096;  ///< more cells are drawn as the pixels of an image
constexpr double margin = 14, size = 11, letter = 6.6;

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts)
    width = std::max(width, std::min<std::size_t>(nn::text_width(text), 18));
  return width;
}

class CellChart final : public Chart {
 public:
  explicit CellChart(Cells cells) : c_(std::move(cells)) { measure(); }

  std::string svg() const override {
    Svg out(c_.width, height_, c_.title.empty() ? "cells" : c_.title);
    if (!c_.title.empty())
      out.text(margin, margin + 12, c_.title, {.size = 15, .bold = true, .paint = Role::Ink});
    if (c_.strengths.size() <= most_rectangles) draw_rectangles(out);
    else out.image({left_, top_, across_ * columns(), down_ * rows()}, pixels(), c_.title);
    draw_labels(out);
    draw_legend(out);
    return out.str();
  }

  std::string text(const TextOptions& options) const override {
    std::string out = c_.title.empty() ? "" : c_.title + '\n';
    if (!c_.y_label.empty() || !c_.x_label.empty()) out += c_.y_label + " ↓  " + c_.x_label + " →\n";
    const std::size_t labels = longest(c_.y_ticks) + 1,
                      room = static_cast<std::size_t>(options.columns) - labels;
    std::size_t widest = longest(c_.x_ticks);
    if (c_.columns * 2 <= room && c_.strengths.size() <= most_rectangles)
      for (std::size_t i = 0; i < c_.strengths.size(); ++i)
        widest = std::max(widest, nn::text_width(c_.number(i)));
    const bool numbers = (widest + 1) * c_.columns <= room && c_.strengths.size() <= most_rectangles;
    out += numbers ? number_rows(labels, widest + 1) : shaded_rows(labels, room);
    if (!numbers && !c_.most.empty()) out += "  " + c_.least + " ░▒▓█ " + c_.most + '\n';
    return c_.note.empty() ? out : out + c_.note + '\n';
  }

 private:
  double rows() const { return static_cast<double>(c_.rows); }
  double columns() const { return static_cast<double>(c_.columns); }

  void measure() {
    left_ = margin + static_cast<double>(longest(c_.y_ticks)) * letter + 6 + (c_.y_label.empty() ? 0 : 18);
    top_ = margin + (c_.title.empty() ? 0 : 26);
    const double room = std::max(40.0, c_.width - left_ - margin);
    across_ = std::min(room / columns(), 72.0);
    down_ = std::min({across_, 48.0, 1.2 * room / rows()});
    if (columns() * across_ > 4 * rows() * down_) down_ = std::max(down_, std::min(18.0, room / 4 / rows()));
    turned_ = static_cast<double>(longest(c_.x_ticks)) * letter + 4 > across_;
    below_ = c_.x_ticks.empty() ? 4
             : turned_          ? 10 + static_cast<double>(longest(c_.x_ticks)) * letter * 0.7
                                : 18;
    height_ = top_ + rows() * down_ + below_ + (c_.x_label.empty() ? 0 : 17) + (c_.most.empty() ? 0 : 24) +
              (c_.note.empty() ? 0 : 17) + margin;
  }

  static Paint paint(double strength) { return Paint::of_series(strength < 0 ? 1 : 0); }

  void draw_rectangles(Svg& out) const {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < c_.strengths.size(); ++i)
      widest = std::max(widest, nn::text_width(c_.number(i)));
    const bool room = static_cast<double>(widest) * letter + 4 <= across_ && down_ >= 14;
    const double gap = across_ > 8 && down_ > 8 ? 1 : 0;
    for (std::size_t i = 0; i < c_.strengths.size(); ++i) {
      const double x = left_ + static_cast<double>(i % c_.columns) * across_,
                   y = top_ + static_cast<double>(i / c_.columns) * down_, strength = c_.strengths[i];
      const Svg::Box box{x, y, across_ - gap, down_ - gap};
      if (std::isnan(strength)) {
        out.rect(box, painted(Role::Grid), c_.hint(i));
      } else {
        out.rect(box, painted(Role::Panel));
        out.rect(box, painted(paint(strength)) + " fill-opacity=\"" + coordinate(std::abs(strength)) + '"',
                 c_.hint(i));
      }
      if (c_.annotate.value_or(room))
        out.text(x + (across_ - gap) / 2, y + down_ / 2 + 4, c_.number(i),
                 {.anchor = "middle",
                  .size = size,
                  .paint = std::abs(strength) > 0.6 ? Role::OnAccent
                           : strength == 0          ? Role::Muted
                                                    : Role::Ink});
    }
  }

  /// Returns an image in the colors of the first two series, whose opacity is the strength of the cell.
  std::string pixels() const {
    constexpr unsigned char colors[2][3] = {{0x25, 0x63, 0xeb}, {0xea, 0x58, 0x0c}};
    const Tensor image = Tensor::empty(
        {static_cast<std::int64_t>(c_.rows), static_cast<std::int64_t>(c_.columns), 4}, DType::UInt8);
    auto* at = image.pointer<unsigned char>();
    for (const double strength : c_.strengths) {
      for (const unsigned char part : colors[strength < 0]) *at++ = part;
      *at++ = std::isnan(strength) ? 0 : static_cast<unsigned char>(std::lround(std::abs(strength) * 255));
    }
    return data::encode_png(image);
  }

  void draw_labels(Svg& out) const {
    const auto step = [](double cell, double least) {
      return static_cast<std::size_t>(std::max(1.0, std::ceil(least / cell)));
    };
    for (std::size_t i = 0; i < c_.y_ticks.size(); i += step(down_, 12))
      out.text(left_ - 6, top_ + (static_cast<double>(i) + 0.5) * down_ + 4, nn::shortened(c_.y_ticks[i], 18),
               {.anchor = "end", .size = size});
    const double bottom = top_ + rows() * down_;
    for (std::size_t i = 0; i < c_.x_ticks.size(); i += turned_ ? step(across_, 14) : 1)
      out.text(left_ + (static_cast<double>(i) + 0.5) * across_, bottom + (turned_ ? 12 : 14),
               nn::shortened(c_.x_ticks[i], 18),
               {.anchor = turned_ ? "end" : "middle", .size = size, .turned = turned_ ? -40.0 : 0});
    const double middle = top_ + rows() * down_ / 2;
    if (!c_.y_label.empty())
      out.text(margin + 8, middle, c_.y_label, {.anchor = "middle", .size = size, .turned = -90});
    if (!c_.x_label.empty())
      out.text(left_ + columns() * across_ / 2, bottom + below_ + 12, c_.x_label,
               {.anchor = "middle", .size = size});
  }

  void draw_legend(Svg& out) const {
    double base = height_ - margin + 2;
    if (!c_.note.empty()) {
      out.text(left_, base, c_.note, {.size = size, .paint = Role::Ink});
      base -= 17;
    }
    if (c_.most.empty()) return;
    const bool both = std::any_of(c_.strengths.begin(), c_.strengths.end(), [](double s) { return s < 0; });
    double x = left_;
    out.text(x, base, c_.least, {.size = size});
    x += static_cast<double>(nn::text_width(c_.least)) * letter + 6;
    for (int part = both ? -4 : 0; part <= 4; ++part, x += 14)
      out.rect({x, base - 10, 14, 12},
               painted(paint(part)) + " fill-opacity=\"" + coordinate(std::abs(part) / 4.0) + '"');
    out.text(x + 6, base, c_.most, {.size = size});
  }

  static std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::string part = nn::shortened(text, width), space(width - nn::text_width(part), ' ');
    return right ? space + part : part + space;
  }
  std::string row_label(std::size_t row, std::size_t width) const {
    return padded(row < c_.y_ticks.size() ? c_.y_ticks[row] : "", width, false);
  }

  std::string number_rows(std::size_t labels, std::size_t width) const {
    std::string out;
    if (!c_.x_ticks.empty()) {
      out += std::string(labels, ' ');
      for (const std::string& tick : c_.x_ticks) out += padded(tick, width, true);
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
  std::string shaded_rows(std::size_t labels, std::size_t room) const {
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

  Cells c_;
  double left_ = 0, top_ = 0, across_ = 0, down_ = 0, below_ = 0, height_ = 0;
  bool turned_ = false;
};

}  // namespace

Figure cell_chart(Cells cells) { return Figure(std::make_shared<CellChart>(std::move(cells))); }

}  // namespace ktape::plot
