#include <ktape/nn/plot/internal/density.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::plot {
namespace {

constexpr double most_pixels = 1e6;

}  // namespace

Density::Density(const Frame& frame) : box_{frame.left(), frame.top(), frame.width(), frame.height()} {
  const double scale = std::min(1.0, std::sqrt(most_pixels / (box_.width * box_.height)));
  width_ = std::max(1, static_cast<int>(box_.width * scale));
  height_ = std::max(1, static_cast<int>(box_.height * scale));
  pixels_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
}

void Density::add(Point place, std::size_t color) {
  const double x = (place.x - box_.x) / box_.width * width_, y = (place.y - box_.y) / box_.height * height_;
  if (!(x >= 0 && x <= width_ && y >= 0 && y <= height_)) return;
  const int left = static_cast<int>(x - 0.5), top = static_cast<int>(y - 0.5);
  for (int row = std::max(top, 0); row <= std::min(top + 1, height_ - 1); ++row)
    for (int column = std::max(left, 0); column <= std::min(left + 1, width_ - 1); ++column) {
      Pixel& pixel = pixels_[static_cast<std::size_t>(row * width_ + column)];
      ++pixel.count;
      // The vote of Boyer and Moore: a series with more than half of the points wins.
      if (pixel.votes == 0) pixel.color = static_cast<std::uint16_t>(color), pixel.votes = 1;
      else if (pixel.color == color) ++pixel.votes;
      else --pixel.votes;
    }
}

Tensor Density::pixels(Theme theme) const {
  // PNG compresses the noise better with fewer levels.
  constexpr double levels = 10, least = 0.4;
  std::uint32_t most = 1;
  for (const Pixel& pixel : pixels_) most = std::max(most, pixel.count);
  const Tensor out = Tensor::empty({height_, width_, 4}, DType::UInt8);
  auto* at = out.pointer<unsigned char>();
  for (const Pixel& pixel : pixels_) {
    const double part = most > 1 && pixel.count > 0 ? std::log(pixel.count) / std::log(most) : 0;
    const double opacity = pixel.count == 0 ? 0 : least + (1 - least) * std::round(part * levels) / levels;
    const Color color = pixel.count == 0 ? Color() : color_of(Paint::of_series(pixel.color), theme);
    *at++ = color.red, *at++ = color.green, *at++ = color.blue;
    *at++ = static_cast<unsigned char>(std::lround(255 * opacity));
  }
  return out;
}

void Density::draw(Canvas& canvas) const {
  canvas.image(box_, pixels(Theme::Light), "", pixels(Theme::Dark));
}

}  // namespace ktape::plot
