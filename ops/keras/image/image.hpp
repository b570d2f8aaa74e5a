#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

#include <optional>
#include <string>
#include <vector>

/// Images of keras.ops.image: (height, width, channels) or a batch of them, or with the data_format "channels_first" (channels, height,
/// width); image_data_format() when not given. Results have the dtype of the images, also integers and bools; a comment says where
/// they are rounded. Extents of images must be known in graphs. Differentiable to any order; shapes and names that do not fit are a
/// ValueError.
///
///     ops::resize(images, {32, 32}, {.interpolation = "bicubic", .antialias = true});
///     ops::gaussian_blur(images, {3, 5}, {1., 2.}), ops::rgb_to_grayscale(images), ops::extract_patches(images, 8);
///     ops::rgb_to_hsv(images), ops::hsv_to_rgb(images), ops::sobel_edges(images), ops::ssim(images, images);
///     ops::extract_patches_3d(volumes, 2), ops::reconstruct_patches(patches, 8, {32, 32});
///     ops::crop_images(images, {.top = 1, .left = 2, .target_height = 8, .target_width = 8});
///     ops::pad_images(images, {.top = 1, .left = 1, .bottom = 1, .right = 1});
///     ops::map_coordinates(x, places, 1, "reflect"), ops::affine_transform(images, transform);
///     ops::perspective_transform(images, from, to);
namespace ktape::ops {

using ImageSize = backend::PerAxis<std::int64_t>;
using Deviations = backend::PerAxis<double>;

/// Returns 0.2989 r + 0.587 g + 0.114 b with one channel (integers are cut off; gray images are returned unchanged); or hue, saturation
/// and value, in [0, 1], of colors in [0, 1]; or the inverse. The latter two take floating images (TypeError otherwise).
///
///     std::cout << ops::ravel(
///         ops::rgb_to_grayscale(K::constant({{{{1., 0., 0.}, {0., 1., 0.}}}}))) << "\n";
///     Tensor red = K::constant({{{{1., 0., 0.}}}});
///     std::cout << ops::ravel(ops::rgb_to_hsv(red)) << " "
///               << ops::ravel(ops::hsv_to_rgb(ops::rgb_to_hsv(red)));
Tensor rgb_to_grayscale(const Tensor& images, const std::optional<std::string>& data_format = {});
Tensor rgb_to_hsv(const Tensor& images, const std::optional<std::string>& data_format = {});
Tensor hsv_to_rgb(const Tensor& images, const std::optional<std::string>& data_format = {});

/// Options of `resize`.
///
///     std::cout << ops::resize(ops::ones({1, 4, 4, 1}), {8, 8},
///                              {.interpolation = "bicubic", .antialias = true})
///                      .shape();
struct ResizeOptions {
  std::string interpolation = "bilinear";  ///< "nearest", "bilinear", "bicubic", "lanczos3" or "lanczos5"
  bool antialias = false;                  ///< a smaller image averages over wider kernels
  bool crop_to_aspect_ratio = false;       ///< cuts the image in the middle to the ratio of the size first
  bool pad_to_aspect_ratio = false;  ///< puts `fill_value` around the image to the ratio of the size first
  std::string fill_mode =
      "constant";  ///< how the border of `pad_to_aspect_ratio` is filled: always "constant"
  double fill_value = 0;
  std::optional<std::string> data_format = {};
};

/// Returns images of the size (height, width). Pixels have their centers at i + 1/2; weights outside of the image are left out. Integers
/// are rounded to numbers between the least and the largest of the images.
///
///     std::cout << ops::resize(ops::ones({1, 4, 4, 3}), {8, 6}).shape();
Tensor resize(const Tensor& images, const ImageSize& size, const ResizeOptions& options = {});

/// Returns images blurred with Gaussian weights; the first entries of kernel_size and sigma belong to the width. Outside of the image
/// are zeros. Integers are rounded.
///
///     Tensor x = ops::ones({1, 5, 5, 1});
///     std::cout << ops::gaussian_blur(x, {3, 3}, {1., 1.}).shape();
Tensor gaussian_blur(const Tensor& images, const ImageSize& kernel_size = 3, const Deviations& sigma = 1.,
                     const std::optional<std::string>& data_format = {});
/// Returns the vertical and the horizontal differences of Sobel along a new last axis, of a batch of images with reflected borders.
/// Differences that the dtype cannot hold become the nearest number: those of uint8 images need `K::cast(images, "int32")`.
///
///     std::cout << ops::sobel_edges(ops::ones({1, 4, 4, 1})).shape();
Tensor sobel_edges(const Tensor& images, const std::optional<std::string>& data_format = {});

/// Returns images resampled along spatial_dims to output_shape: a position y of the result shows the images at
/// (y - translation) / scale, where pixel i has its center at i + 1/2, and 0 beyond the images. The methods are "linear", "cubic"
/// (with "bi" or "tri" before, too), "triangle", "lanczos3" and "lanczos5"; antialias averages a smaller image over wider kernels.
/// `scale` and `translation` have a number for each of spatial_dims and gradients; images have any rank, and integers are rounded as
/// by `resize`.
///
///     ops::scale_and_translate(images, {8, 6, 6, 3}, {1.5, 2.}, {0., 0.25}, {1, 2}, "linear");
///
/// For example:
///
///     std::cout << ops::scale_and_translate(ops::ones({1, 4, 4, 1}), {1, 8, 8, 1},
///                                           {2., 2.}, {0., 0.}, {1, 2}, "linear")
///                      .shape();
Tensor scale_and_translate(const Tensor& images, const Shape& output_shape, const ArrayLike& scale,
                           const ArrayLike& translation, const std::vector<int>& spatial_dims,
                           const std::string& method, bool antialias = true);

/// Options of `extract_patches` and `extract_patches_3d`.
///
///     std::cout << ops::extract_patches(ops::ones({1, 6, 6, 1}), 3,
///                                       {.strides = 1, .padding = "same"})
///                      .shape();
struct PatchOptions {
  std::optional<ImageSize> strides = {};  ///< the size of a patch when not given
  ImageSize dilation_rate = 1;
  std::string padding = "valid";
  std::optional<std::string> data_format = {};
};

/// Options of `reconstruct_patches`, with the meaning that they had for `extract_patches`.
///
///     Tensor patches = ops::extract_patches(ops::ones({1, 3, 4, 1}), 2, {.padding = "same"});
///     std::cout << ops::reconstruct_patches(patches, 2, {3, 4}, {.padding = "same"}).shape();
struct ReconstructOptions {
  std::optional<ImageSize> strides = {};  ///< the size of a patch, which is the only one
  std::string padding = "valid";
  std::optional<std::string> data_format = {};
};

/// Returns the windows of images (two numbers, or one) or volumes (three numbers) as channels in the order (row, column, channel);
/// the inverse for patches that do not overlap. With "valid", the output size is that of all patches together; with "same", up to
/// the size of a patch less, of which one half is cut off before and the rest after.
///
///     Tensor x = ops::ones({1, 4, 4, 3}), patches = ops::extract_patches(x, 2);
///     std::cout << patches.shape() << " "
///               << ops::reconstruct_patches(patches, 2, {4, 4}).shape() << "\n";
///     std::cout << ops::extract_patches_3d(ops::ones({1, 4, 4, 4, 1}), 2).shape();
Tensor extract_patches(const Tensor& images, const ImageSize& size, const PatchOptions& options = {});
Tensor extract_patches_3d(const Tensor& volumes, const ImageSize& size, const PatchOptions& options = {});
Tensor reconstruct_patches(const Tensor& patches, const ImageSize& size, const ImageSize& output_size,
                           const ReconstructOptions& options = {});

struct BorderOptions {
  std::optional<std::int64_t> top = {}, left = {}, bottom = {}, right = {}, target_height = {},
                              target_width = {};
  std::optional<std::string> data_format = {};
};

/// Returns images without some rows and columns at their borders, or with zeros around. Two of the three numbers for each axis
/// are given; borders that follow from a target alone are the rest.
///
///     Tensor x = ops::ones({1, 4, 4, 3});
///     std::cout << ops::pad_images(
///                      x, {.top = 1, .left = 2, .target_height = 8, .target_width = 8})
///                      .shape()
///               << " ";
///     std::cout << ops::crop_images(
///                      x, {.top = 1, .left = 1, .target_height = 2, .target_width = 2})
///                      .shape();
Tensor crop_images(const Tensor& images, const BorderOptions& options);
Tensor pad_images(const Tensor& images, const BorderOptions& options);

/// Options of `ssim`.
///
///     std::cout << ops::ssim(ops::ones({1, 16, 16, 1}), ops::ones({1, 16, 16, 1}), 1,
///                            {.filter_size = 7});
struct SsimOptions {
  int filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
  std::optional<std::string> data_format = {};
};

/// Returns the structural similarity of two images, or of each two in two batches: the mean over the positions of a Gaussian window
/// and the channels, in a floating dtype.
Tensor ssim(const Tensor& image1, const Tensor& image2, double max_val = 1, const SsimOptions& options = {});

/// Returns the elements of the inputs at coordinates, (rank, ...), between elements by linear interpolation (order 1) or of the nearest
/// element (order 0). Beyond the border: "constant" (fill_value), "nearest", "wrap", "mirror" (without the border) or "reflect". The
/// result has the dtype of the inputs: integers are rounded, halves away from 0, and the fill_value is cut off.
///
///     Tensor x = K::constant({{0., 1.}, {2., 3.}});
///     std::cout << ops::map_coordinates(x, K::constant({{0.5}, {0.5}}), 1);
Tensor map_coordinates(const Tensor& inputs, const Tensor& coordinates, int order,
                       const std::string& fill_mode = "constant", double fill_value = 0);

/// Options of `affine_transform` and `perspective_transform`.
///
///     Tensor x = ops::ones({1, 3, 3, 1});
///     std::cout << ops::ravel(
///         ops::affine_transform(x, K::constant({{1., 0., 1., 0., 1., 0., 0., 0.}}),
///                               {.fill_mode = "constant", .fill_value = 9}));
struct TransformOptions {
  std::string interpolation = "bilinear";  ///< "nearest" or "bilinear"
  std::string fill_mode = "constant";      ///< as in `map_coordinates`
  double fill_value = 0;
  std::optional<std::string> data_format = {};
};

/// Returns images whose pixel (x, y) is read at (a0 x + a1 y + a2, b0 x + b1 y + b2), for a transform (a0, a1, a2, b0, b1, b2, c0, c1),
/// (8,) or (batch, 8); c0 and c1 are not used. Integers are cut off.
///
///     Tensor x = ops::reshape(ops::arange(0., 9.), {1, 3, 3, 1});
///     std::cout << ops::reshape(
///         ops::affine_transform(x, K::constant({{1., 0., 1., 0., 1., 0., 0., 0.}})),
///         {3, 3});
Tensor affine_transform(const Tensor& images, const Tensor& transform, const TransformOptions& options = {});
/// Returns images in which the four end points, (4, 2) or (batch, 4, 2) of x and y, show what the start points show in the given images;
/// beyond the border is fill_value. Integers are rounded as by `map_coordinates`.
///
///     Tensor x = ops::ones({1, 4, 4, 1}),
///            corners = K::constant({{{0., 0.}, {3., 0.}, {0., 3.}, {3., 3.}}});
///     std::cout << ops::perspective_transform(x, corners, corners).shape();
Tensor perspective_transform(const Tensor& images, const Tensor& start_points, const Tensor& end_points,
                             const TransformOptions& options = {});

struct ElasticOptions {
  ArrayLike alpha = 20;  ///< scales the displacements; an array broadcasts to (batch, height, width)
  ArrayLike sigma = 5;   ///< the deviation of the noise and of its Gaussian blur: one number above 0
  std::string interpolation = "bilinear";  ///< "nearest" or "bilinear"
  std::string fill_mode = "reflect";       ///< as in `map_coordinates`
  double fill_value = 0;
  std::optional<std::int64_t> seed = {};  ///< a call with a seed always draws the same numbers
  std::optional<std::string> data_format = {};
};

/// Returns images whose pixels are read at displaced positions: alpha times normal noise of the deviation sigma, blurred with Gaussian
/// weights over int(6 sigma) | 1 pixels. All channels of an image have one displacement. Differentiable with respect to the images and
/// an array of alpha; integers are rounded as by `map_coordinates`.
///
///     ops::elastic_transform(images, {.alpha = 10, .sigma = 2, .seed = 1});
///
/// For example:
///
///     std::cout << ops::elastic_transform(ops::ones({1, 8, 8, 1}),
///                                         {.alpha = 10, .sigma = 2, .seed = 1})
///                      .shape();
Tensor elastic_transform(const Tensor& images, const ElasticOptions& options = {});

}  // namespace ktape::ops

/// The functions of keras.ops.image.
///
///     std::cout << ops::image::resize(ops::ones({4, 4, 3}), 2).shape();
namespace ktape::ops::image {
using ops::affine_transform, ops::crop_images, ops::elastic_transform, ops::extract_patches,
    ops::extract_patches_3d, ops::gaussian_blur, ops::hsv_to_rgb, ops::map_coordinates, ops::pad_images,
    ops::perspective_transform, ops::reconstruct_patches, ops::resize, ops::rgb_to_grayscale, ops::rgb_to_hsv,
    ops::scale_and_translate, ops::sobel_edges, ops::ssim;
}  // namespace ktape::ops::image
