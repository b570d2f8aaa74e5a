#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/internal/frame.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

constexpr double margin = 14, tick_size = 11, letter = 6.6, gap = 6;
constexpr std::size_t longest_label = 18;

bool any_name(const std::vector<std::string>& legend) {
  return std::any_of(legend.begin(), legend.end(), [](const std::string& name) { return !name.empty(); });
}

double widest(const std::vector<Scale::Tick>& ticks) {
  std::size_t width = 0;
  for (const Scale::Tick& tick : ticks) width = std::max(width, nn::text_width(tick.label));
  return static_cast<double>(std::min(width, longest_label)) * letter;
}

}  // namespace

Frame::Frame(FrameSpec spec)
    : spec_(std::move(spec)), svg_(spec_.width, spec_.height, spec_.title.empty() ? "chart" : spec_.title) {
  top_ = margin;
  if (!spec_.title.empty()) {
    svg_.text(margin, top_ + 12, nn::shortened(spec_.title, static_cast<std::size_t>(spec_.width / 9)),
              {.size = 15, .bold = true, .paint = Role::Ink});
    top_ += 26;
  }
  if (any_name(spec_.legend)) draw_legend();
  if (!spec_.y_label.empty()) {
    svg_.text(margin, top_ + 10, spec_.y_label, {.size = tick_size});
    top_ += 16;
  }
  top_ += gap;

  // Space below the axes; then the ticks of y, whose number depends on the height, and whose width determines
  // the space for x.
  const double below = margin + 16 + (spec_.x_label.empty() ? 0 : 17) + (spec_.note.empty() ? 0 : 15);
  height_ = std::max(20.0, spec_.height - top_ - below);
  const std::vector<Scale::Tick> y_ticks = spec_.y.ticks(static_cast<int>(height_ / 34) + 1);
  left_ = margin + widest(y_ticks) + gap;
  width_ = std::max(20.0, spec_.width - left_ - margin - 4);
  const std::vector<Scale::Tick> x_ticks =
      spec_.x_ticks.empty() ? spec_.x.ticks(static_cast<int>(width_ / 60), spec_.whole_x) : spec_.x_ticks;
  const bool turned =
      x_ticks.size() > 1 && widest(x_ticks) + gap > width_ / static_cast<double>(x_ticks.size());
  if (turned) height_ = std::max(20.0, height_ - widest(x_ticks) * 0.7);
  draw_y_axis(y_ticks);
  draw_x_axis(x_ticks, turned);
  if (!spec_.note.empty())
    svg_.text(spec_.width - margin, spec_.height - margin + 4, spec_.note,
              {.anchor = "end", .size = tick_size, .paint = Role::Ink});
  svg_.open({left_ - 4, top_ - 4, width_ + 8, height_ + 8});
}

std::string Frame::str() {
  svg_.close();
  return svg_.str();
}

void Frame::draw_legend() {
  double x = margin;
  for (std::size_t i = 0; i < spec_.legend.size(); ++i) {
    const std::string name = nn::shortened(spec_.legend[i], 40);
    const double width = 18 + text_length(name) + 12;
    if (x + width > spec_.width && x > margin) x = margin, top_ += 18;
    svg_.rect({x, top_ + 1, 12, 10}, " rx=\"2\"" + painted(Paint::of_series(i)));
    svg_.text(x + 18, top_ + 10, name, {});
    x += width;
  }
  top_ += 20;
}

void Frame::draw_y_axis(const std::vector<Scale::Tick>& ticks) {
  for (const Scale::Tick& tick : ticks) {
    svg_.line(left_, y(tick.number), left_ + width_, y(tick.number),
              painted({}, tick.number == 0 && spec_.y.min() < 0 ? Role::Frame : Role::Grid));
    svg_.text(left_ - gap, y(tick.number) + 4, tick.label, {.anchor = "end", .size = tick_size});
  }
}

void Frame::draw_x_axis(const std::vector<Scale::Tick>& ticks, bool turned) {
  svg_.line(left_, bottom(), left_ + width_, bottom(), painted({}, Role::Frame));
  const auto every = static_cast<std::size_t>(
      std::ceil(static_cast<double>(ticks.size()) * (turned ? 14 : 1) / std::max(width_, 1.0)));
  for (std::size_t i = 0; i < ticks.size(); i += std::max<std::size_t>(every, 1)) {
    const double at = x(ticks[i].number), base = bottom() + (turned ? 12 : 16);
    svg_.line(at, bottom(), at, bottom() + 4, painted({}, Role::Frame));
    svg_.text(at, base, nn::shortened(ticks[i].label, longest_label),
              {.anchor = turned ? "end" : "middle", .size = tick_size, .turned = turned ? -40.0 : 0});
  }
  if (!spec_.x_label.empty())
    svg_.text(left_ + width_ / 2, spec_.height - margin - (spec_.note.empty() ? 0 : 15) + 4, spec_.x_label,
              {.anchor = "middle", .size = tick_size});
}

// --- With characters --------------------------------------------------------------------------------------

Dots::Dots(int columns, int rows)
    : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}

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

std::string Dots::row(int row, bool color) const {
  std::string text;
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[static_cast<std::size_t>(row * columns_ + column)];
    const char pattern[] = {'\xe2', static_cast<char>(0xa0 | cell.dots >> 6),
                            static_cast<char>(0x80 | (cell.dots & 0x3f)), '\0'};
    text += cell.dots ? colored(pattern, cell.series, color) : " ";
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
    : spec_(spec), options_(options), ticks_(spec.y.ticks(4)) {
  for (const Scale::Tick& tick : ticks_) label_width_ = std::max(label_width_, nn::text_width(tick.label));
  columns_ = std::max(options.columns - static_cast<int>(label_width_) - 2, 5);
}

std::string TextFrame::str(const Dots& dots) const {
  std::string out = spec_.title.empty() ? "" : spec_.title + '\n';
  const auto pad = [](std::size_t width) { return std::string(width, ' '); };
  if (any_name(spec_.legend)) {
    for (std::size_t i = 0; i < spec_.legend.size(); ++i)
      out += (i > 0 ? "  " : "") + colored("■ ", i, options_.color) + spec_.legend[i];
    out += '\n';
  }
  if (!spec_.y_label.empty()) out += spec_.y_label + '\n';
  for (int row = 0; row < rows; ++row) {
    std::string label;
    for (const Scale::Tick& tick : ticks_)
      if (std::min(static_cast<int>((1 - spec_.y.at(tick.number)) * rows), rows - 1) == row)
        label = tick.label;
    out += pad(label_width_ - nn::text_width(label)) + label + (label.empty() ? " │" : " ┤") +
           dots.row(row, options_.color) + '\n';
  }
  std::string rule, labels;
  for (int column = 0; column < columns_; ++column) rule += "─";
  for (const Scale::Tick& tick : spec_.x.ticks(columns_ / 10, spec_.whole_x)) {
    const auto at = static_cast<std::size_t>(std::clamp(spec_.x.at(tick.number), 0.0, 1.0) * (columns_ - 1));
    const std::size_t width = nn::text_width(tick.label), begin = at > width / 2 ? at - width / 2 : 0;
    if (begin < nn::text_width(labels) + !labels.empty() ||
        begin + width > static_cast<std::size_t>(columns_))
      continue;
    labels += pad(begin - nn::text_width(labels)) + tick.label;
  }
  out += pad(label_width_) + " └" + rule + '\n' + pad(label_width_ + 2) + labels + '\n';
  for (const std::string& line : {spec_.x_label, spec_.note})
    if (!line.empty()) out += pad(label_width_ + 2) + line + '\n';
  return out;
}

}  // namespace ktape::plot
