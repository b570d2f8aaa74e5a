#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/internal/text_frame.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

std::string blanks(std::size_t width) { return std::string(width, ' '); }

}  // namespace

Dots::Dots(int columns, int rows, bool letters)
    : columns_(columns), rows_(rows), letters_(letters), cells_(static_cast<std::size_t>(columns * rows)) {}

void Dots::dot(double x, double y, std::size_t series) {
  if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return;
  const int across = std::min(static_cast<int>(x * 2 * columns_), 2 * columns_ - 1);
  const int down = std::min(static_cast<int>((1 - y) * 4 * rows_), 4 * rows_ - 1);
  // The bits of Unicode's braille patterns.
  constexpr unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  Cell& cell = cells_[static_cast<std::size_t>(down / 4 * columns_ + across / 2)];
  cell.dots |= bits[down % 4][across % 2];
  cell.series = series;
}

void Dots::line(double x1, double y1, double x2, double y2, std::size_t series) {
  const double steps = std::max({std::abs(x2 - x1) * 2 * columns_, std::abs(y2 - y1) * 4 * rows_, 1.0});
  if (!(steps < 1e5)) return;  // a line that leads far outside of the axes is not drawn
  for (int i = 0; i <= std::ceil(steps); ++i) {
    const double part = std::min(i / steps, 1.0);
    dot(x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, series);
  }
}

void Dots::rule_across(double y) {
  if (!(y >= 0 && y <= 1)) return;
  const int row = std::min(static_cast<int>((1 - y) * rows_), rows_ - 1);
  for (int column = 0; column < columns_; ++column)
    cells_[static_cast<std::size_t>(row * columns_ + column)].rule = "┄";
}

void Dots::rule_up(double x) {
  if (!(x >= 0 && x <= 1)) return;
  const int column = std::min(static_cast<int>(x * columns_), columns_ - 1);
  for (int row = 0; row < rows_; ++row) cells_[static_cast<std::size_t>(row * columns_ + column)].rule = "┊";
}

std::string Dots::row(int row, bool color) const {
  std::string text;
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[static_cast<std::size_t>(row * columns_ + column)];
    const char pattern[] = {'\xe2', static_cast<char>(0xa0 | cell.dots >> 6),
                            static_cast<char>(0x80 | (cell.dots & 0x3f)), '\0'};
    const std::string mark = letters_ ? std::string(1, letter_of(cell.series)) : pattern;
    text += cell.dots ? colored(mark, cell.series, color) : cell.rule;
  }
  return text;
}

std::string colored(const std::string& text, std::size_t series, bool color) {
  return color ? "\x1b[" + std::to_string(terminal_color(series)) + 'm' + text + "\x1b[0m" : text;
}

void check_text(const TextOptions& options) {
  if (options.columns < 20 || options.columns > 1000)
    fail("[Figure] columns must be from 20 to 1000: received columns=", options.columns);
}

TextFrame::TextFrame(const FrameSpec& spec, const TextOptions& options)
    : spec_(spec),
      options_(options),
      ticks_(spec.y.ticks(4)),
      letters_(spec.legend.size() > (options.color ? series_colors : 1)) {
  for (const Scale::Tick& tick : ticks_) label_width_ = std::max(label_width_, nn::text_width(tick.label));
  columns_ = std::max(options.columns - static_cast<int>(label_width_) - 2, 5);
  if (!spec.equal) return;
  // A character is about twice as high as wide.
  const double ratio = (spec.y.max() - spec.y.min()) / (spec.x.max() - spec.x.min());
  rows_ = static_cast<int>(std::clamp(std::round(columns_ * ratio / 2), 4.0, 30.0));
  columns_ = static_cast<int>(std::clamp(std::round(2 * rows_ / ratio), 5.0, static_cast<double>(columns_)));
}

/// Returns lines with the signs and names of the series.
std::string TextFrame::legend() const {
  std::string out;
  std::size_t used = 0;
  const auto room = static_cast<std::size_t>(options_.columns);
  for (std::size_t i = 0; i < spec_.legend.size(); ++i) {
    const std::string name = nn::shortened(spec_.legend[i].name, room - 2);
    const std::size_t width = 2 + nn::text_width(name);
    if (used > 0 && used + 2 + width > room) out += '\n', used = 0;
    if (used > 0) out += "  ", used += 2;
    const std::string sign = letters_ ? std::string(1, letter_of(i)) : "■";
    out += colored(sign + ' ', i, options_.color) + name;
    used += width;
  }
  return out + '\n';
}

std::string TextFrame::x_axis() const {
  std::string rule, labels;
  for (int column = 0; column < columns_; ++column) rule += "─";
  for (const Scale::Tick& tick : spec_.x.ticks(columns_ / 10, spec_.whole_x)) {
    const auto at = static_cast<std::size_t>(std::clamp(spec_.x.at(tick.number), 0.0, 1.0) * (columns_ - 1));
    const std::size_t width = nn::text_width(tick.label), begin = at > width / 2 ? at - width / 2 : 0;
    if (begin < nn::text_width(labels) + !labels.empty() ||
        begin + width > static_cast<std::size_t>(columns_))
      continue;
    labels += blanks(begin - nn::text_width(labels)) + tick.label;
  }
  return blanks(label_width_) + " └" + rule + '\n' + blanks(label_width_ + 2) + labels + '\n';
}

std::string TextFrame::str(const Dots& dots) const {
  std::string out = wrapped_lines(spec_.title, options_.columns);
  if (has_legend(spec_)) out += legend();
  out += wrapped_lines(spec_.y_label, options_.columns);
  for (int row = 0; row < rows_; ++row) {
    std::string label;
    for (const Scale::Tick& tick : ticks_)
      if (std::min(static_cast<int>((1 - spec_.y.at(tick.number)) * rows_), rows_ - 1) == row)
        label = tick.label;
    out += blanks(label_width_ - nn::text_width(label)) + label + (label.empty() ? " │" : " ┤") +
           dots.row(row, options_.color) + '\n';
  }
  out += x_axis();
  for (const std::string& text : {spec_.x_label, spec_.note}) {
    const std::size_t indent = label_width_ + 2;
    for (const std::string& line : wrapped(text, 4, [&](const std::string& part) {
           return nn::text_width(part) + indent <= static_cast<std::size_t>(options_.columns);
         }))
      out += blanks(indent) + line + '\n';
  }
  return out;
}

}  // namespace ktape::plot
