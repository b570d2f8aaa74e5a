#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/chart.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ktape::plot {
namespace {

constexpr double margin = 14;
constexpr int least_columns = 38;  ///< the least width of figures beside each other

/// Returns the width of a line in a terminal, which does not show escape sequences.
std::size_t shown_width(const std::string& line) {
  std::string shown;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') i = std::min(line.find('m', i), line.size());
    else shown += line[i];
  }
  return nn::text_width(shown);
}

/// Returns the lines of the texts beside each other, in columns of this width.
std::string beside(const std::vector<std::string>& texts, std::size_t width) {
  std::vector<std::istringstream> streams;
  for (const std::string& text : texts) streams.emplace_back(text);
  std::string out;
  for (;;) {
    std::string row;
    bool any = false;
    std::size_t used = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      std::string line;
      if (!std::getline(streams[i], line)) continue;
      any = true;
      row += std::string(i * width - used, ' ') + line;
      used = i * width + shown_width(line);
    }
    if (!any) return out;
    out += row + '\n';
  }
}

class Grid final : public Chart {
 public:
  Grid(std::vector<Figure> figures, const GridOptions& options, std::size_t columns)
      : figures_(std::move(figures)), options_(options) {
    const std::size_t rows = (figures_.size() + columns - 1) / columns;
    widths_.resize(columns), heights_.resize(rows);
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      const auto [width, height] = figures_[i].chart().size();
      widths_[i % columns] = std::max(widths_[i % columns], width);
      heights_[i / columns] = std::max(heights_[i / columns], height);
    }
    for (const double width : widths_) size_.width += width;
    top_ = options.title.empty() ? 0 : margin + title_height(options.title, size_.width - 2 * margin) - 7;
    size_.height = top_;
    for (const double height : heights_) size_.height += height;
  }

  Size size() const override { return size_; }
  std::string description() const override { return options_.title.empty() ? "charts" : options_.title; }

  void draw(Canvas& canvas) const override {
    draw_title(canvas, options_.title, margin, margin, size_.width - 2 * margin);
    double y = top_;
    for (std::size_t row = 0; row < heights_.size(); y += heights_[row++]) {
      double x = 0;
      for (std::size_t column = 0; column < widths_.size(); x += widths_[column++]) {
        const std::size_t i = row * widths_.size() + column;
        if (i >= figures_.size()) return;
        const Chart& chart = figures_[i].chart();
        canvas.open({x, y, chart.size().width, chart.size().height}, {0, 0});
        chart.draw(canvas);
        canvas.close();
      }
    }
  }

  std::string text(const TextOptions& options) const override {
    const int room = std::max(options.columns / static_cast<int>(widths_.size()) - 2, 1);
    const bool together = room >= least_columns;
    TextOptions each = options;
    if (together) each.columns = room;
    std::string out = wrapped_lines(options_.title, options.columns);
    for (std::size_t first = 0; first < figures_.size(); first += widths_.size()) {
      std::vector<std::string> row;
      for (std::size_t i = first; i < std::min(first + widths_.size(), figures_.size()); ++i)
        row.push_back(figures_[i].chart().text(each));
      if (together) out += beside(row, static_cast<std::size_t>(room) + 2);
      else
        for (const std::string& text : row) out += text;
    }
    return out;
  }

 private:
  std::vector<Figure> figures_;
  GridOptions options_;
  std::vector<double> widths_ = {}, heights_ = {};  ///< the sizes of columns and rows
  Size size_ = {0, 0};
  double top_ = 0;
};

}  // namespace

Figure grid(const std::vector<Figure>& figures, const GridOptions& options) {
  if (figures.empty()) fail("[grid] there must be figures: received none");
  if (options.columns < 0)
    fail("[grid] columns must be at least 1, or 0: received columns=", options.columns);
  const std::size_t count = figures.size();
  std::size_t columns = static_cast<std::size_t>(options.columns);
  if (columns == 0)
    columns = count <= 3 ? 1 : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  return Figure(std::make_shared<Grid>(figures, options, std::min(columns, count)));
}

}  // namespace ktape::plot
