#include <ktape/nn/core/text.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/scale.hpp>
#include <ktape/nn/plot/pixels.hpp>
#include <ktape/nn/plot/svg.hpp>

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

class ImageGrid final : public Chart {
 public:
  ImageGrid(const Tensor& pixels, const ImageGridOptions& options) : pixels_(pixels), options_(options) {
    count_ = pixels.shape()[0];
    columns_ = options.columns > 0 ? options.columns
               : count_ <= 6       ? static_cast<int>(count_)
                             : static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count_) * 1.8)));
  }

  std::string svg() const override {
    constexpr double margin = 14, gap = 8;
    const double side = std::min((options_.width - 2 * margin + gap) / columns_ - gap, 200.0);
    const double width = std::max(side, 1.0), height = width * static_cast<double>(pixels_.shape()[1]) /
                                                       static_cast<double>(pixels_.shape()[2]);
    const double below = options_.titles.empty() ? gap : 22, top = margin + (options_.title.empty() ? 0 : 26);
    const auto rows = static_cast<double>((count_ + columns_ - 1) / columns_);
    Svg out(options_.width, top + rows * (height + below) + margin - gap,
            options_.title.empty() ? "images" : options_.title);
    if (!options_.title.empty())
      out.text(margin, margin + 12, options_.title, {.size = 15, .bold = true, .paint = Role::Ink});
    for (std::int64_t i = 0; i < count_; ++i) {
      const double x = margin + static_cast<double>(i % columns_) * (width + gap),
                   y = top + static_cast<double>(i / columns_) * (height + below);
      out.image({x, y, width, height}, data::encode_png(pixels_at(pixels_, i)), title(i));
      if (!options_.titles.empty())
        out.text(x + width / 2, y + height + 13,
                 nn::shortened(title(i), static_cast<std::size_t>(width / 6) + 1),
                 {.anchor = "middle", .size = 11});
    }
    return out.str();
  }

  /// Draws two rows of pixels in each line of characters.
  std::string text(const TextOptions& options) const override {
    std::string out = options_.title.empty() ? "" : options_.title + '\n';
    const std::int64_t per_row =
        std::min<std::int64_t>(std::min<std::int64_t>(columns_, count_), std::max(1, options.columns / 10));
    const std::int64_t width = std::min(pixels_.shape()[2], options.columns / per_row - 1);
    const std::int64_t lines =
        std::max<std::int64_t>(1, (pixels_.shape()[1] * width / pixels_.shape()[2] + 1) / 2);
    for (std::int64_t first = 0; first < count_; first += per_row) {
      const std::int64_t last = std::min(first + per_row, count_);
      for (std::int64_t line = 0; line < lines; ++line, out += '\n')
        for (std::int64_t i = first; i < last; ++i)
          out += text_line(i, line, lines, width, options.color) + ' ';
      if (options_.titles.empty()) continue;
      for (std::int64_t i = first; i < last; ++i) {
        const std::string name = nn::shortened(title(i), static_cast<std::size_t>(width));
        out += name + std::string(static_cast<std::size_t>(width) + 1 - nn::text_width(name), ' ');
      }
      out += '\n';
    }
    return out;
  }

 private:
  std::string title(std::int64_t i) const {
    return options_.titles.empty() ? std::to_string(i) : options_.titles[static_cast<std::size_t>(i)];
  }

  std::string text_line(std::int64_t image, std::int64_t line, std::int64_t lines, std::int64_t width,
                        bool color) const {
    constexpr const char* shades[] = {" ", "░", "▒", "▓", "█"};
    const std::int64_t height = pixels_.shape()[1], columns = pixels_.shape()[2],
                       channels = pixels_.shape()[3];
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

  Tensor pixels_;
  ImageGridOptions options_;
  std::int64_t count_ = 0;
  int columns_ = 0;
};

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
  return Figure(std::make_shared<ImageGrid>(pixels, options));
}

}  // namespace ktape::plot
