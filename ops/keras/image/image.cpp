#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/keras/image/internal/image_batch.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <functional>
#include <limits>
#include <numbers>

namespace ktape::ops {

namespace K = backend;
using op_helpers::dtype_of_computation, op_helpers::image_extents, op_helpers::ImageBatch,
    op_helpers::largest_extent, op_helpers::on_batch;

namespace {

Tensor channel(const Tensor& x, int i) { return K::index(x, {Ellipsis, i}); }

/// Throws TypeError unless images are floating, ValueError unless they have 3 channels.
void expect_colors(const char* op, const Tensor& x) {
  if (!x.dtype().is_floating())
    fail<TypeError>("[", op, "] images must be floating: received images=", x.dtype());
  if (x.shape()[-1] != 3) fail("[", op, "] images must have 3 channels: received ", x.shape()[-1]);
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& images, const std::optional<std::string>& data_format) {
  const CalledOp called("rgb_to_grayscale");
  return on_batch("rgb_to_grayscale", images, data_format, [](const Tensor& given) {
    if (given.shape()[-1] == 1) return K::identity(given);
    if (given.shape()[-1] != 3)
      fail("[rgb_to_grayscale] images must have 1 or 3 channels: received ", given.shape()[-1]);
    const Tensor x = K::as_dtype(given, dtype_of_computation(given.dtype())),
                 gray = channel(x, 0) * 0.2989 + channel(x, 1) * 0.587 + channel(x, 2) * 0.114;
    return K::as_dtype(K::expand_dims(gray, -1), given.dtype());
  });
}

Tensor rgb_to_hsv(const Tensor& images, const std::optional<std::string>& data_format) {
  const CalledOp called("rgb_to_hsv");
  return on_batch("rgb_to_hsv", images, data_format, [](const Tensor& x) {
    expect_colors("rgb_to_hsv", x);
    const Tensor r = channel(x, 0), g = channel(x, 1), b = channel(x, 2), value = K::max(x, -1),
                 range = value - K::min(x, -1);
    const Tensor sixth = divide_no_nan(K::ones_like(range), range * 6);
    const Tensor hue =
        K::where(K::equal(r, value), (g - b) * sixth,
                 K::where(K::equal(g, value), (b - r) * sixth + 1 / 3., (r - g) * sixth + 2 / 3.));
    const Tensor turned = K::where(range > 0, K::where(hue < 0, hue + 1, hue), 0);
    return K::stack({turned, divide_no_nan(range, value), value}, -1);
  });
}

Tensor hsv_to_rgb(const Tensor& images, const std::optional<std::string>& data_format) {
  const CalledOp called("hsv_to_rgb");
  return on_batch("hsv_to_rgb", images, data_format, [](const Tensor& x) {
    expect_colors("hsv_to_rgb", x);
    const Tensor h = channel(x, 0) * 6, s = channel(x, 1), v = channel(x, 2);
    const auto shade = [&](const Tensor& distance) { return v * (1 - s * (1 - K::clip(distance, 0, 1))); };
    return K::stack({shade(K::abs(h - 3) - 1), shade(2 - K::abs(h - 2)), shade(2 - K::abs(h - 4))}, -1);
  });
}

namespace {

double sinc_of(double t) { return t == 0 ? 1 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t); }

/// Returns the weight of a pixel at the distance t by the method.
double kernel_weight(const std::string& method, double t) {
  t = std::fabs(t);
  if (method == "bilinear") return std::max(0., 1 - t);
  if (method == "bicubic") {
    constexpr double a = -0.5;
    if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
  }
  const double lobes = method == "lanczos3" ? 3 : 5;
  return t < lobes ? sinc_of(t) * sinc_of(t / lobes) : 0;
}

/// Returns the weights of n pixels for each of m pixels, (m, n).
Tensor resize_weights(std::int64_t n, std::int64_t m, const ResizeOptions& o, DType dtype) {
  check_extents("resize", {m, n}, sizeof(double));
  std::vector<double> weights(static_cast<std::size_t>(n * m), 0);
  const double ratio = static_cast<double>(n) / static_cast<double>(m),
               width = o.antialias ? std::max(1., ratio) : 1;
  for (std::int64_t row = 0; row < m; ++row) {
    double* const at = weights.data() + row * n;
    const double center = (static_cast<double>(row) + 0.5) * ratio;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      sum += at[i] = kernel_weight(o.interpolation, (static_cast<double>(i) + 0.5 - center) / width);
    for (std::int64_t i = 0; i < n; ++i) at[i] /= sum;
  }
  return K::constant(weights, {.dtype = dtype, .shape = {m, n}});
}

/// Returns the pixels of an axis that are nearest to those of m pixels.
Tensor nearest(const Tensor& x, int axis, std::int64_t m) {
  check_extents("resize", {m}, sizeof(std::int64_t));
  const std::int64_t n = x.shape()[axis];
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < m; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * static_cast<double>(n) / static_cast<double>(m);
    places.push_back(std::min(n - 1, static_cast<std::int64_t>(std::floor(center))));
  }
  return take(x, op_helpers::int64_tensor(places), axis);
}

/// Returns images cut or padded to the ratio of the size.
Tensor with_ratio(const Tensor& x, const std::vector<std::int64_t>& size, const ResizeOptions& o) {
  const std::int64_t h = x.shape()[1], w = x.shape()[2];
  if (o.crop_to_aspect_ratio) {
    const std::int64_t rows = std::min(h, std::max<std::int64_t>(1, w * size[0] / size[1])),
                       columns = std::min(w, std::max<std::int64_t>(1, h * size[1] / size[0]));
    const std::int64_t top = (h - rows) / 2, left = (w - columns) / 2;
    return K::index(x, {All, Slice(top, top + rows), Slice(left, left + columns)});
  }
  if (!o.pad_to_aspect_ratio) return x;
  const std::int64_t rows = std::max(h, w * size[0] / size[1]) - h,
                     columns = std::max(w, h * size[1] / size[0]) - w;
  return K::pad(x, {0, {rows / 2, rows - rows / 2}, {columns / 2, columns - columns / 2}, 0},
                {.constant_values = o.fill_value});
}

}  // namespace

Tensor resize(const Tensor& images, const ImageSize& size, const ResizeOptions& o) {
  const CalledOp called("resize");
  const std::vector<std::int64_t> wanted = image_extents("resize", "size", size);
  if (o.interpolation != "nearest" && o.interpolation != "bilinear" && o.interpolation != "bicubic" &&
      o.interpolation != "lanczos3" && o.interpolation != "lanczos5")
    fail(
        "[resize] interpolation must be \"nearest\", \"bilinear\", \"bicubic\", \"lanczos3\" or "
        "\"lanczos5\": received "
        "interpolation=\"",
        o.interpolation, '"');
  if (o.crop_to_aspect_ratio && o.pad_to_aspect_ratio)
    fail("[resize] one of crop_to_aspect_ratio and pad_to_aspect_ratio may be true: received both");
  if (o.fill_mode != "constant")
    fail("[resize] fill_mode must be \"constant\": received fill_mode=\"", o.fill_mode, '"');
  return on_batch("resize", images, o.data_format, [&](const Tensor& given) {
    const Tensor x = with_ratio(given, wanted, o);
    if (x.shape()[1] < 1 || x.shape()[2] < 1)
      fail("[resize] height and width must be known and at least 1: received images=", images.shape());
    if (o.interpolation == "nearest") return nearest(nearest(x, 1, wanted[0]), 2, wanted[1]);
    const DType dtype = dtype_of_computation(x.dtype());
    const Tensor out = einsum("ph,qw,nhwc->npqc",
                              {resize_weights(x.shape()[1], wanted[0], o, dtype),
                               resize_weights(x.shape()[2], wanted[1], o, dtype), K::as_dtype(x, dtype)});
    return op_helpers::rounded_within(x, out);
  });
}

namespace {

/// Returns Gaussian weights for n pixels, of sum 1.
Tensor gaussian(std::int64_t n, double sigma, DType dtype) {
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = (static_cast<double>(i) - static_cast<double>(n - 1) / 2) / sigma;
    weights.push_back(std::exp(-t * t / 2)), sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return K::constant(weights, {.dtype = dtype});
}

/// Returns each channel convolved with one matrix.
Tensor filtered(const Tensor& x, const Tensor& matrix, const std::string& padding) {
  const Tensor kernel = K::reshape(matrix, {matrix.shape()[0], matrix.shape()[1], 1, 1});
  return depthwise_conv(x, K::tile(kernel, {1, 1, x.shape()[-1], 1}),
                        {.padding = padding, .data_format = "channels_last"});
}

}  // namespace

Tensor gaussian_blur(const Tensor& images, const ImageSize& kernel_size, const Deviations& sigma,
                     const std::optional<std::string>& data_format) {
  const CalledOp called("gaussian_blur");
  const auto size = image_extents("gaussian_blur", "kernel_size", kernel_size);
  const std::vector<double> deviation = sigma.over(2);
  if (deviation.size() != 2 || !(deviation[0] > 0) || !(deviation[1] > 0))
    fail("[gaussian_blur] sigma must be one or two numbers above 0: received ", deviation.size(), " numbers");
  check_extents("gaussian_blur", {size[0], size[1]}, sizeof(double));
  return on_batch("gaussian_blur", images, data_format, [&](const Tensor& given) {
    const Tensor x = K::as_dtype(given, dtype_of_computation(given.dtype()));
    const Tensor window =
        outer(gaussian(size[1], deviation[1], x.dtype()), gaussian(size[0], deviation[0], x.dtype()));
    return op_helpers::rounded_to(given.dtype(), filtered(x, window, "same"));
  });
}

Tensor sobel_edges(const Tensor& given, const std::optional<std::string>& data_format) {
  const CalledOp called("sobel_edges");
  const ImageBatch batch("sobel_edges", "images", given, data_format);
  if (batch.single) fail("[sobel_edges] images must be a batch, of rank 4: received images=", given.shape());
  const Tensor x = K::as_dtype(batch.images, dtype_of_computation(given.dtype()));
  const Tensor vertical = K::constant({{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}}, {.dtype = x.dtype()});
  const Tensor padded = K::pad(x, {0, 1, 1, 0}, {.mode = "reflect"});
  const Tensor edges =
      K::stack({filtered(padded, vertical, "valid"), filtered(padded, K::transpose(vertical), "valid")}, -1);
  return batch.restored(K::as_dtype(edges, given.dtype()));
}

namespace {

/// Returns a number that `border` refuses if it refuses the given one, and that leaves room for sums.
std::int64_t limited(std::int64_t n) { return std::clamp(n, -4 * largest_extent, 4 * largest_extent); }

/// Returns the numbers of rows before and after, whose sum is `total`.
K::PaddingPair border(const char* op, std::optional<std::int64_t> before, std::optional<std::int64_t> after,
                      std::optional<std::int64_t> total) {
  for (std::optional<std::int64_t>* n : {&before, &after})
    if (*n) **n = limited(**n);
  if (static_cast<int>(before.has_value()) + after.has_value() + total.has_value() != 2)
    fail("[", op,
         "] two of the border before, the border after and the target must be given for each axis: received ",
         static_cast<int>(before.has_value()) + after.has_value() + total.has_value());
  for (const std::optional<std::int64_t>& n : {before, after, total})
    if (n && std::abs(*n) > largest_extent)
      fail("[", op, "] borders and targets must be at most ", largest_extent, ": received ", *n);
  const K::PaddingPair out(before ? *before : *total - *after, after ? *after : *total - *before);
  if (out.before < 0 || out.after < 0)
    fail("[", op, "] borders must be at least 0: received ", out.before, " and ", out.after);
  return out;
}

}  // namespace

Tensor crop_images(const Tensor& images, const BorderOptions& o) {
  const CalledOp called("crop_images");
  return on_batch("crop_images", images, o.data_format, [&](const Tensor& x) {
    const std::int64_t h = x.shape()[1], w = x.shape()[2];
    const auto total = [](std::int64_t n, std::optional<std::int64_t> target) {
      return target ? std::optional(n - limited(*target)) : std::nullopt;
    };
    const auto rows = border("crop_images", o.top, o.bottom, total(h, o.target_height)),
               columns = border("crop_images", o.left, o.right, total(w, o.target_width));
    if (rows.before + rows.after >= h || columns.before + columns.after >= w)
      fail("[crop_images] a part of the image must remain: received images=", images.shape());
    return K::index(x, {All, Slice(rows.before, h - rows.after), Slice(columns.before, w - columns.after)});
  });
}

Tensor pad_images(const Tensor& images, const BorderOptions& o) {
  const CalledOp called("pad_images");
  return on_batch("pad_images", images, o.data_format, [&](const Tensor& x) {
    const auto total = [](std::int64_t n, std::optional<std::int64_t> target) {
      return target ? std::optional(limited(*target) - n) : std::nullopt;
    };
    return K::pad(x, {0, border("pad_images", o.top, o.bottom, total(x.shape()[1], o.target_height)),
                      border("pad_images", o.left, o.right, total(x.shape()[2], o.target_width)), 0});
  });
}

Tensor ssim(const Tensor& image1, const Tensor& image2, double max_val, const SsimOptions& o) {
  const CalledOp called("ssim");
  const auto [given_x, given_y] = op_helpers::promoted_floating("ssim", image1, image2);
  if (o.filter_size < 1 || !(o.filter_sigma > 0))
    fail("[ssim] filter_size must be at least 1 and filter_sigma above 0: received filter_size=",
         o.filter_size, ", filter_sigma=", o.filter_sigma);
  const ImageBatch first("ssim", "image1", given_x, o.data_format),
      second("ssim", "image2", given_y, o.data_format);
  const Tensor &x = first.images, &y = second.images;
  if (first.single != second.single || !compatible(x.shape(), y.shape()) || x.shape()[1] < o.filter_size ||
      x.shape()[2] < o.filter_size)
    fail("[ssim] both images must have one shape, of at least the filter size: received image1=",
         image1.shape(), ", image2=", image2.shape());
  const Tensor line = gaussian(o.filter_size, o.filter_sigma, x.dtype()), window = outer(line, line);
  const auto mean = [&](const Tensor& t) { return filtered(t, window, "valid"); };
  const double c1 = o.k1 * max_val * o.k1 * max_val, c2 = o.k2 * max_val * o.k2 * max_val;
  const Tensor mx = mean(x), my = mean(y), squares = mx * mx + my * my, product = mx * my;
  const Tensor luminance = (2 * product + c1) / (squares + c1);
  const Tensor contrast = (2 * (mean(x * y) - product) + c2) / (mean(x * x + y * y) - squares + c2);
  const Tensor similarity = K::mean(K::mean(luminance * contrast, {1, 2}), -1);
  return first.single ? K::squeeze(similarity, 0) : similarity;
}

namespace {

/// Returns whole coordinates inside of n elements for coordinates of any size; 0 for NaN.
Tensor inside(const Tensor& given, std::int64_t n, const std::string& mode) {
  const double size = static_cast<double>(n);
  const Tensor at = K::where(K::is_nan(given), 0, K::clip(given, -1e15, 1e15));
  if (mode == "wrap") return mod(at, size);
  if (mode == "reflect") {
    const Tensor m = mod(at, 2 * size);
    return K::minimum(m, 2 * size - 1 - m);
  }
  if (mode == "mirror" && n > 1) {
    const Tensor m = mod(at, 2 * size - 2);
    return K::minimum(m, 2 * size - 2 - m);
  }
  return K::clip(at, 0, size - 1);
}

}  // namespace

namespace {

/// Returns a number of a floating dtype in the dtype of images: integers are rounded, halves away from 0.
Tensor rounded_away(const Tensor& x, DType dtype) {
  return K::as_dtype(dtype.is_floating() ? x : x + K::sign(x) * 0.5, dtype);
}

}  // namespace

Tensor map_coordinates(const Tensor& given, const Tensor& given_coordinates, int order,
                       const std::string& mode, double fill_value) {
  const CalledOp called("map_coordinates");
  expect_defined("map_coordinates", "inputs, coordinates", given, given_coordinates);
  const auto [inputs, coordinates] = op_helpers::together(given, given_coordinates);
  if (order != 0 && order != 1) fail("[map_coordinates] order must be 0 or 1: received order=", order);
  if (mode != "constant" && mode != "nearest" && mode != "wrap" && mode != "mirror" && mode != "reflect")
    fail(
        "[map_coordinates] fill_mode must be \"constant\", \"nearest\", \"wrap\", \"mirror\" or \"reflect\": "
        "received fill_mode=\"",
        mode, '"');
  const int rank = inputs.ndim();
  if (coordinates.ndim() == 0 || coordinates.shape()[0] != rank || inputs.size() < 1)
    fail("[map_coordinates] coordinates must have one slice for each axis of inputs=", inputs.shape(),
         ": received coordinates=", coordinates.shape());
  // Half precision cannot number the pixels of an image, float32 cannot hold all integers.
  const DType wide = inputs.dtype().is_floating() ? op_helpers::common_dtype(inputs.dtype(), DType::Float32)
                                                  : DType(DType::Float64);
  const DType dtype = op_helpers::common_dtype(wide, op_helpers::floating_dtype(coordinates.dtype()));
  const Tensor places = K::as_dtype(coordinates, dtype), elements = K::reshape(inputs, {-1}),
               fill = K::cast(K::full({}, fill_value, DType::Float64), inputs.dtype());
  Tensor out;
  for (int corner = 0; corner < (order == 0 ? 1 : 1 << rank); ++corner) {
    Tensor weight, place, valid;
    for (int d = 0; d < rank; ++d) {
      const Tensor at = places[d], low = floor(K::stop_gradient(order == 0 ? at + 0.5 : at));
      const bool upper = corner >> d & 1;
      const Tensor node = upper ? low + 1 : low, share = upper ? at - low : 1 - (at - low);
      const Tensor seen = (node >= 0) & (node <= inputs.shape()[d] - 1);
      const Tensor offset =
          K::cast(inside(node, inputs.shape()[d], mode), DType::Int64) * inputs.shape().count(d + 1);
      place = place.defined() ? place + offset : offset;
      weight = weight.defined() ? weight * share : share;
      valid = valid.defined() ? valid & seen : seen;
    }
    Tensor value = take(elements, place, 0);
    if (mode == "constant") value = K::where(valid, value, fill);
    if (order == 0) return value;
    value = K::as_dtype(value, dtype) * weight;
    out = out.defined() ? out + value : value;
  }
  return rounded_away(out, inputs.dtype());
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(ResizeOptions& options, F&& field) {
  field("interpolation", options.interpolation);
  field("antialias", options.antialias);
  field("crop_to_aspect_ratio", options.crop_to_aspect_ratio);
  field("pad_to_aspect_ratio", options.pad_to_aspect_ratio);
  field("fill_mode", options.fill_mode);
  field("fill_value", options.fill_value);
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(SsimOptions& options, F&& field) {
  field("filter_size", options.filter_size);
  field("filter_sigma", options.filter_sigma);
  field("k1", options.k1);
  field("k2", options.k2);
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::nn {
namespace {

ops::BorderOptions borders(const OperationCall& call, const std::string& kind) {
  const auto extent = [&](const std::string& name) {
    return call.value(name.c_str()).as<std::optional<std::int64_t>>(call.what(name.c_str()));
  };
  return {.top = extent("top_" + kind),
          .left = extent("left_" + kind),
          .bottom = extent("bottom_" + kind),
          .right = extent("right_" + kind),
          .target_height = extent("target_height"),
          .target_width = extent("target_width"),
          .data_format = call.value("data_format").as<std::optional<std::string>>(call.what("data_format"))};
}

}  // namespace

Operations image_operations() {
  static constexpr Operation rows[] = {
      {"RGBToGrayscale", "image", "images; data_format=null", calls<ops::rgb_to_grayscale>,
       "rgb_to_grayscale"},
      {"RGBToHSV", "image", "images; data_format=null", calls<ops::rgb_to_hsv>, "rgb_to_hsv"},
      {"HSVToRGB", "image", "images; data_format=null", calls<ops::hsv_to_rgb>, "hsv_to_rgb"},
      {"Resize", "image",
       "images; size, interpolation=\"bilinear\", antialias=false, crop_to_aspect_ratio=false, "
       "pad_to_aspect_ratio=false, fill_mode=\"constant\", fill_value=0.0, data_format=null",
       calls<ops::resize>},
      {"GaussianBlur", "image", "images; kernel_size=3, sigma=1.0, data_format=null",
       calls<ops::gaussian_blur>},
      {"SobelEdges", "image", "images; data_format=null", calls<ops::sobel_edges>},
      {"PadImages", "image",
       "images; top_padding=null, left_padding=null, bottom_padding=null, right_padding=null, "
       "target_height=null, target_width=null, data_format=null",
       [](const OperationCall& call) {
         return ops::pad_images(call.tensor("images"), borders(call, "padding"));
       }},
      {"CropImages", "image",
       "images; top_cropping=null, left_cropping=null, bottom_cropping=null, right_cropping=null, "
       "target_height=null, target_width=null, data_format=null",
       [](const OperationCall& call) {
         return ops::crop_images(call.tensor("images"), borders(call, "cropping"));
       }},
      {"MapCoordinates", "image", "inputs, coordinates; order, fill_mode=\"constant\", fill_value=0.0",
       calls<ops::map_coordinates>},
      {"SSIM", "image",
       "image1, image2; max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, data_format=null",
       calls<ops::ssim>, "ssim"},
  };
  return rows;
}

}  // namespace ktape::nn
