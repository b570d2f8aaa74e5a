#include <ktape/nn/core/text.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/scale.hpp>
#include <ktape/nn/plot/pixels.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ktape::plot {
namespace {

constexpr std::int64_t most_images = 4096;

/// Returns the shape as (n, height, width, channels); empty for a shape that is not a shape of images.
Shape image_shape(const Shape& shape) {
  const auto channels = [](std::int64_t count) { return count == 1 || count == 3 || count == 4; };
  switch (shape.rank()) {
    case 2:
      return {1, shape[0], shape[1], 1};
    case 3:
      if (channels(shape[2])) return {1, shape[0], shape[1], shape[2]};
      return {shape[0], shape[1], shape[2], 1};
    case 4:
      return channels(shape[3]) ? shape : Shape();
    default:
      return {};
  }
}

/// Returns the number of images in a row.
int columns_of(std::int64_t count, int wanted) {
  if (wanted > 0) return wanted;
  return count <= 6 ? static_cast<int>(count)
                    : static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count) * 1.8)));
}

constexpr double margin = 14, gap = 8, label_size = 11, title_row = 22;

class ImageGrid final : public Chart {
 public:
  ImageGrid(const Tensor& pixels, const ImageGridOptions& options, int columns)
      : pixels_(pixels), options_(options), count_(pixels.shape()[0]), columns_(columns) {
    double labels = 0;
    for (const std::string& label : options.row_labels)
      labels = std::max(labels, std::min(text_length(label, label_size) + 1, 0.3 * options.width));
    left_ = margin + (labels > 0 ? labels + gap : 0);
    width_ = std::max(std::min((options.width - left_ - margin + gap) / columns_ - gap, 200.0), 1.0);
    height_ = width_ * static_cast<double>(pixels.shape()[1]) / static_cast<double>(pixels.shape()[2]);
    top_ = margin + title_height(options.title, options.width - 2 * margin) +
           (options.column_labels.empty() ? 0 : 18);
  }

  Size size() const override {
    const auto rows = static_cast<double>((count_ + columns_ - 1) / columns_);
    return {static_cast<double>(options_.width), top_ + rows * (height_ + below()) + margin - gap};
  }
  std::string description() const override { return options_.title.empty() ? "images" : options_.title; }

  void draw(Canvas& canvas) const override {
    draw_title(canvas, options_.title, margin, margin, options_.width - 2 * margin);
    for (std::int64_t i = 0; i < count_; ++i) {
      const double x = left_ + static_cast<double>(i % columns_) * (width_ + gap),
                   y = top_ + static_cast<double>(i / columns_) * (height_ + below());
      canvas.image({x, y, width_, height_}, pixels_at(pixels_, i), title(i));
      const auto label = [&](double base, const std::string& text) {
        canvas.text({x + width_ / 2, base}, fitted(text, width_ + gap, label_size),
                    {.anchor = "middle", .size = label_size});
      };
      if (!options_.titles.empty()) label(y + height_ + 13, title(i));
      if (i < columns_ && !options_.column_labels.empty())
        label(top_ - 7, options_.column_labels[static_cast<std::size_t>(i)]);
      if (i % columns_ == 0 && !options_.row_labels.empty())
        canvas.text({left_ - gap, y + height_ / 2 + 4},
                    fitted(options_.row_labels[static_cast<std::size_t>(i / columns_)], left_ - gap - margin,
                           label_size),
                    {.anchor = "end", .size = label_size});
    }
  }

  std::string text(const TextOptions& options) const override;

 private:
  /// The height that titles, or the gap, take below each image.
  double below() const { return options_.titles.empty() ? gap : title_row; }
  std::string title(std::int64_t i) const {
    return options_.titles.empty() ? std::to_string(i) : options_.titles[static_cast<std::size_t>(i)];
  }
  std::string text_line(std::int64_t image, std::int64_t line, std::int64_t lines, std::int64_t width,
                        bool color) const;

  Tensor pixels_;
  ImageGridOptions options_;
  std::int64_t count_;
  int columns_;
  double left_ = 0, top_ = 0, width_ = 0, height_ = 0;
};

std::string cell(const std::string& text, std::int64_t width) {
  const std::string part = nn::shortened(text, static_cast<std::size_t>(width));
  return part + std::string(static_cast<std::size_t>(width) - nn::text_width(part), ' ');
}

/// Draws two rows of pixels in each line of characters. The labels of rows are drawn only if the terminal has
/// room for all images of a row.
std::string ImageGrid::text(const TextOptions& options) const {
  std::string out = wrapped_lines(options_.title, options.columns);
  const std::int64_t whole_row = std::min<std::int64_t>(columns_, count_);
  std::int64_t labels = 0;
  for (const std::string& label : options_.row_labels)
    labels = std::max(labels, std::min<std::int64_t>(static_cast<std::int64_t>(nn::text_width(label)) + 1,
                                                     options.columns / 3));
  const std::int64_t per_row =
      std::min<std::int64_t>(whole_row, std::max<std::int64_t>(1, (options.columns - labels) / 6));
  if (per_row < whole_row) labels = 0;
  const std::int64_t width = std::min(pixels_.shape()[2], (options.columns - labels) / per_row - 1);
  const std::int64_t lines =
      std::max<std::int64_t>(1, (pixels_.shape()[1] * width / pixels_.shape()[2] + 1) / 2);
  if (per_row == whole_row && !options_.column_labels.empty()) {
    out += std::string(static_cast<std::size_t>(labels), ' ');
    for (const std::string& label : options_.column_labels) out += cell(label, width) + ' ';
    out += '\n';
  }
  for (std::int64_t first = 0; first < count_; first += per_row) {
    const std::int64_t last = std::min(first + per_row, count_);
    for (std::int64_t line = 0; line < lines; ++line, out += '\n') {
      const bool named = labels > 0 && line == lines / 2;
      if (labels > 0)
        out += cell(named ? options_.row_labels[static_cast<std::size_t>(first / per_row)] : "", labels - 1) +
               ' ';
      for (std::int64_t i = first; i < last; ++i)
        out += text_line(i, line, lines, width, options.color) + ' ';
    }
    if (options_.titles.empty()) continue;
    out += std::string(static_cast<std::size_t>(labels), ' ');
    for (std::int64_t i = first; i < last; ++i) out += cell(title(i), width) + ' ';
    out += '\n';
  }
  return out;
}

std::string ImageGrid::text_line(std::int64_t image, std::int64_t line, std::int64_t lines,
                                 std::int64_t width, bool color) const {
  constexpr const char* shades[] = {" ", "░", "▒", "▓", "█"};
  const std::int64_t height = pixels_.shape()[1], columns = pixels_.shape()[2], channels = pixels_.shape()[3];
  const auto at = [&](std::int64_t half, std::int64_t x) {
    const std::int64_t row = (2 * line + half) * height / (2 * lines), column = x * columns / width;
    return pixels_.pointer<unsigned char>() + ((image * height + row) * columns + column) * channels;
  };
  const auto rgb = [&](const unsigned char* pixel) {
    std::string text;
    for (int part = 0; part < 3; ++part) text += ';' + std::to_string(pixel[channels < 3 ? 0 : part]);
    return text + 'm';
  };
  std::string out;
  for (std::int64_t x = 0; x < width; ++x) {
    const unsigned char *upper = at(0, x), *lower = at(1, x);
    if (color) out += "\x1b[38;2" + rgb(upper) + "\x1b[48;2" + rgb(lower) + "▀\x1b[0m";
    else out += shades[(upper[0] + lower[0]) * 4 / (2 * 255)];
  }
  return out;
}

}  // namespace

Tensor pixels_of(const char* op, const Tensor& images) {
  expect_defined(op, "images", images);
  expect_value(op, images);
  const Shape shape = image_shape(images.shape());
  if (shape.rank() != 4 || images.size() <= 0)
    fail("[", op,
         "] images must be (n, height, width) or (n, height, width, channels) with 1, 3 or 4 channels: "
         "received shape ",
         images.shape());
  const Tensor out = Tensor::empty(shape, DType::UInt8);
  if (images.dtype() == DType::UInt8) {
    std::memcpy(out.raw(), images.raw(), static_cast<std::size_t>(images.size()));
    return out;
  }
  std::vector<double> numbers(static_cast<std::size_t>(images.size()));
  convert(numbers.data(), DType::Float64, images.raw(), images.dtype(), images.size());
  Range range;
  for (const double number : numbers) range.include(number);
  const bool bytes = range.max > 1 || images.dtype().is_integer();
  double low = 0, high = bytes ? 255 : 1;
  if (range.min < 0 || range.max > 255) low = range.min, high = std::max(range.max, range.min + 1e-300);
  auto* pixel = out.pointer<unsigned char>();
  for (const double number : numbers) {
    const double part =
        std::isnan(number) ? 0 : std::clamp((number / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0);
    *pixel++ = static_cast<unsigned char>(std::lround(part * 255));
  }
  return out;
}

Tensor pixels_at(const Tensor& pixels, std::int64_t i) {
  const Shape& shape = pixels.shape();
  const Tensor out = Tensor::empty({shape[1], shape[2], shape[3]}, DType::UInt8);
  const auto bytes = static_cast<std::size_t>(out.size());
  std::memcpy(out.raw(), pixels.pointer<unsigned char>() + static_cast<std::size_t>(i) * bytes, bytes);
  return out;
}

Figure image_grid(const Tensor& images, const ImageGridOptions& options) {
  check_size("image_grid", options.width);
  if (options.columns < 0)
    fail("[image_grid] columns must be at least 1, or 0: received columns=", options.columns);
  const Tensor pixels = pixels_of("image_grid", images);
  const std::int64_t count = pixels.shape()[0];
  if (count > most_images)
    fail("[image_grid] there must be at most ", most_images, " images: received ", count);
  if (!options.titles.empty() && static_cast<std::int64_t>(options.titles.size()) != count)
    fail("[image_grid] there must be a title for each image: received ", options.titles.size(), " for ",
         count);
  const int columns = columns_of(count, options.columns);
  const auto check = [&](const char* name, const std::vector<std::string>& labels, std::int64_t wanted) {
    if (!labels.empty() && static_cast<std::int64_t>(labels.size()) != wanted)
      fail("[image_grid] ", name, " must have a label for each: received ", labels.size(), " for ", wanted);
  };
  check("row_labels", options.row_labels, (count + columns - 1) / columns);
  check("column_labels", options.column_labels, std::min<std::int64_t>(columns, count));
  return Figure(std::make_shared<ImageGrid>(pixels, options, columns));
}

}  // namespace ktape::plot
