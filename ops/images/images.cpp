#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/images/images.hpp>
#include <ktape/ops/images/resampling.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <limits>

namespace ktape::backend {
namespace {

void expect_rank(const char* op, const Tensor& x, int rank) {
  if (x.ndim() != rank) fail("[", op, "] x must have rank ", rank, ": received x=", x.shape());
}

/// Returns the first spatial axis.
int spatial_axis(const char* op, const std::optional<std::string>& data_format) {
  return channels_first(op, data_format) ? 2 : 1;
}

std::int64_t scaled(const char* op, std::int64_t extent, std::int64_t factor) {
  std::int64_t out;
  if (factor < 1) fail("[", op, "] a factor must be at least 1: received ", factor);
  if (extent == None) return extent;
  if (__builtin_mul_overflow(extent, factor, &out))
    fail("[", op, "] the result must fit in memory: received factor=", factor);
  return out;
}

/// Makes an axis `factor` times as long by linear interpolation.
Tensor interpolate(const Tensor& x, int axis, std::int64_t factor) {
  Shape shape = x.shape();
  shape[axis] = where_known([factor](std::int64_t n) { return n * factor; }, shape[axis]);
  if (is_symbolic(x))
    return defer_described("resize_images", {shape, x.dtype()}, interpolate, x, axis, factor);
  return op_helpers::resampled(x, axis, shape[axis], "bilinear", false);
}

Tensor bilinear(const Tensor& x, int axis, std::int64_t height_factor, std::int64_t width_factor) {
  if (height_factor == 1 && width_factor == 1) return identity(x);
  if (x.dtype().is_bool())
    fail<TypeError>("[resize_images] bilinear interpolation takes numbers: received dtype=bool");
  if (x.dtype().is_integer()) return bilinear(cast(x, DType::Float32), axis, height_factor, width_factor);
  // The height is resized first, while the rows are still short.
  const Tensor tall = height_factor == 1 ? x : interpolate(x, axis, height_factor);
  return width_factor == 1 ? tall : interpolate(tall, axis + 1, width_factor);
}

/// Returns the padded shape; an extent that overflows becomes an extent that no tensor can have.
Shape padded_shape(Shape shape, const std::vector<PaddingPair>& pairs) {
  for (int d = 0; d < shape.rank(); ++d) {
    const auto& [before, after] = pairs[static_cast<std::size_t>(d)];
    std::int64_t& extent = shape[d];
    if (extent != None &&
        (__builtin_add_overflow(extent, before, &extent) || __builtin_add_overflow(extent, after, &extent)))
      extent = std::numeric_limits<std::int64_t>::max();
  }
  return shape;
}

Tensor padded(const char* op, const Tensor& x, int axis, const std::vector<PaddingPair>& padding) {
  const int dims = x.ndim() - 2;
  if (padding.size() != static_cast<std::size_t>(dims))
    fail("[", op, "] padding must be one for all ", dims, " spatial axes or one for each: received ",
         padding.size());
  for (const auto& [before, after] : padding)
    if (before < 0 || after < 0)
      fail("[", op, "] padding must be at least 0: received (", before, ", ", after, ')');
  std::vector<PaddingPair> pairs(static_cast<std::size_t>(x.ndim()), 0);
  std::copy(padding.begin(), padding.end(), pairs.begin() + axis);
  check_extents(op, padded_shape(x.shape(), pairs), x.dtype().size(), true);
  return pad(x, pairs);
}

}  // namespace

Tensor resize_images(const Tensor& x, std::int64_t height_factor, std::int64_t width_factor,
                     const std::string& data_format, const ResizeOptions& options) {
  expect_defined("resize_images", "x", x);
  expect_rank("resize_images", x, 4);
  const int axis = spatial_axis("resize_images", data_format);
  Shape shape = x.shape();
  shape[axis] = scaled("resize_images", shape[axis], height_factor);
  shape[axis + 1] = scaled("resize_images", shape[axis + 1], width_factor);
  check_extents("resize_images", shape, x.dtype().size(), true);
  for (const std::int64_t factor : {height_factor, width_factor})
    check_extents("resize_images", {factor}, x.dtype().size(), true);  // of axes whose extents are unknown
  if (options.interpolation == "bilinear") return bilinear(x, axis, height_factor, width_factor);
  if (options.interpolation != "nearest")
    fail("[resize_images] interpolation must be \"nearest\" or \"bilinear\": received interpolation=\"",
         options.interpolation, '"');
  return repeat_elements(repeat_elements(x, width_factor, axis + 1), height_factor, axis);
}

Tensor resize_volumes(const Tensor& x, std::int64_t depth_factor, std::int64_t height_factor,
                      std::int64_t width_factor, const std::string& data_format) {
  expect_defined("resize_volumes", "x", x);
  expect_rank("resize_volumes", x, 5);
  const int axis = spatial_axis("resize_volumes", data_format);
  const std::int64_t factors[] = {depth_factor, height_factor, width_factor};
  Shape shape = x.shape();
  for (int d = 0; d < 3; ++d) shape[axis + d] = scaled("resize_volumes", shape[axis + d], factors[d]);
  check_extents("resize_volumes", shape, x.dtype().size(), true);
  for (const std::int64_t factor : factors)
    check_extents("resize_volumes", {factor}, x.dtype().size(), true);  // of axes whose extents are unknown
  Tensor out = x;
  for (int d = 2; d >= 0; --d) out = repeat_elements(out, factors[d], axis + d);
  return out;
}

Tensor temporal_padding(const Tensor& x, const TemporalPaddingOptions& options) {
  expect_defined("temporal_padding", "x", x);
  expect_rank("temporal_padding", x, 3);
  return padded("temporal_padding", x, 1, {options.padding});
}

Tensor spatial_2d_padding(const Tensor& x, const SpatialPaddingOptions& options) {
  expect_defined("spatial_2d_padding", "x", x);
  expect_rank("spatial_2d_padding", x, 4);
  const int axis = spatial_axis("spatial_2d_padding", options.data_format);
  return padded("spatial_2d_padding", x, axis, options.padding.over(2));
}

Tensor spatial_3d_padding(const Tensor& x, const SpatialPaddingOptions& options) {
  expect_defined("spatial_3d_padding", "x", x);
  expect_rank("spatial_3d_padding", x, 5);
  const int axis = spatial_axis("spatial_3d_padding", options.data_format);
  return padded("spatial_3d_padding", x, axis, options.padding.over(3));
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

/// Makes an image longer along an axis by linear interpolation.
Tensor longer(const OperationCall& call) {
  const int axis = call.axis();
  const std::int64_t factor = call.integer("factor");
  const bool first_axis = axis == 1;
  return backend::resize_images(call.tensor("x"), first_axis ? factor : 1, first_axis ? 1 : factor,
                                axis == 3 ? "channels_first" : "channels_last",
                                {.interpolation = "bilinear"});
}

}  // namespace

Operations backend_image_operations() {
  static constexpr Operation rows[] = {
      {"resize_images", "", "x; axis, factor", longer},
  };
  return rows;
}

}  // namespace ktape::nn
