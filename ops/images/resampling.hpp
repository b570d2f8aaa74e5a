#pragma once
#include <ktape/autograd/tensor.hpp>

#include <array>
#include <string>
#include <vector>

/// Resizing and affine transformation of images. Differentiable with respect to the image, to any order.
/// Internal: the tensors have values, and are floating.
namespace ktape::op_helpers {

/// Throws ValueError, naming the layer, unless `resampled` knows the interpolation.
void expect_interpolation(const char* layer, const std::string& interpolation);

/// Resizes x along the axis from n to `extent` pixels. The centre of output pixel i is at c = (i + 0.5) * n /
/// extent on the input axis, the centre of input pixel j at j + 0.5.
///
/// - "nearest": the input pixel floor(c).
/// - "area": the mean of the input from i * n / extent to (i + 1) * n / extent.
/// - The others: the sum of w(j + 0.5 - c) * x[j], divided by the sum of the w; "bilinear" has
///   w(t) = 1 - |t| up to 1, "bicubic" the cubic of Keys with a = -0.5 up to 2, "mitchellcubic" that of
///   Mitchell and Netravali, "gaussian" exp(-2 t^2) up to 1.5, "lanczos3" and "lanczos5" sinc(t) sinc(t / r)
///   up to r. With `antialias`, w is n / extent times as wide where the axis becomes shorter.
Tensor resampled(const Tensor& x, int axis, std::int64_t extent, const std::string& interpolation,
                 bool antialias);
/// Resamples along the first axis, then along the second. Throws ValueError at once where no memory holds the
/// result.
Tensor resampled(const Tensor& x, const std::array<int, 2>& axes, const std::array<std::int64_t, 2>& extents,
                 const std::string& interpolation, bool antialias);

/// The map from a pixel (column, row) of the output to a position in the input: (a * column + b * row + c, d
/// * column + e * row + f).
struct AffineMap {
  double a, b, c, d, e, f;
};

enum class FillMode { Constant, Reflect, Wrap, Nearest };

struct WarpOptions {
  FillMode fill_mode = FillMode::Reflect;
  bool bilinear = true;  ///< the weighted mean of the four pixels around a position, else the nearest pixel
  double fill_value = 0;
  bool channels_first = false;
};

/// Transforms each image of a batch, (batch, height, width, channels) or with the channels first, by the map
/// of its index. The mode defines the pixels outside of an image: with the value (k k | a b c | k k),
/// mirrored (b a | a b c | c b), repeated (b c | a b c | a b), or with its border (a a | a b c | c c).
Tensor warped(const Tensor& x, std::vector<AffineMap> maps, const WarpOptions& options);

}  // namespace ktape::op_helpers
