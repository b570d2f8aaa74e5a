#pragma once
#include <ktape/nn/plot/internal/frame.hpp>

/// A drawing of a large number of points. Internal: sources only.
namespace ktape::plot {

/// The number of points in each pixel of a frame. A pixel has the color of the series with most of its
/// points, and an opacity that grows with the logarithm of the number.
class Density {
 public:
  explicit Density(const Frame& frame);
  /// Counts a point at a place of the picture.
  void add(Point place, std::size_t color);
  void draw(Canvas& canvas) const;

 private:
  struct Pixel {
    std::uint32_t count = 0, votes = 0;
    std::uint16_t color = 0;
  };
  Tensor pixels(Theme theme) const;

  Box box_;
  int width_, height_;
  std::vector<Pixel> pixels_;
};

}  // namespace ktape::plot
