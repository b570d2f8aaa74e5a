#include <ktape/autograd/described_call.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>
#include <functional>

/// Transforms of the coordinates of images.
namespace ktape::ops {

namespace K = backend;
using op_helpers::floating;

namespace {

/// Returns the numbers 0, 1, ... along an axis of a batch of images.
Tensor numbers_along(const Shape& shape, int axis, DType dtype) {
  std::vector<std::int64_t> extents(4, 1);
  extents[static_cast<std::size_t>(axis)] = shape[axis];
  return K::reshape(K::arange(shape[axis], {.dtype = dtype}), Shape(extents));
}

/// Returns a matrix with a row of coefficients for each image, as columns that broadcast to the images.
Tensor coefficient(const Tensor& rows, int i) { return K::reshape(K::index(rows, {All, i}), {-1, 1, 1, 1}); }

/// A function that maps the positions (x, y) of the result to positions of the images.
using Mapping = std::function<std::pair<Tensor, Tensor>(const Tensor& x, const Tensor& y)>;

Tensor read_at(const char* op, const Tensor& given, const TransformOptions& o, const std::string& fill_mode,
               const Mapping& mapping) {
  if (o.interpolation != "nearest" && o.interpolation != "bilinear")
    fail("[", op, "] interpolation must be \"nearest\" or \"bilinear\": received interpolation=\"",
         o.interpolation, '"');
  if (o.data_format != "channels_last" && o.data_format != "channels_first")
    fail("[", op, "] data_format must be \"channels_first\" or \"channels_last\": received data_format=\"",
         o.data_format, '"');
  Tensor images = floating(op, given, "images");
  if (images.ndim() != 3 && images.ndim() != 4)
    fail("[", op, "] images must have rank 3 or 4: received images=", images.shape());
  const bool single = images.ndim() == 3, first = o.data_format == "channels_first";
  if (single) images = K::expand_dims(images, 0);
  if (first) images = moveaxis(images, 1, -1);
  const Shape& shape = images.shape();
  if (shape.count() < 1)
    fail("[", op,
         "] the shape of the images must be known and hold a pixel: received images=", given.shape());
  const DType dtype = images.dtype();
  const auto [x, y] = mapping(numbers_along(shape, 2, dtype), numbers_along(shape, 1, dtype));
  const Tensor whole = K::zeros(shape, {.dtype = dtype});
  const Tensor places = K::stack(
      {numbers_along(shape, 0, dtype) + whole, y + whole, x + whole, numbers_along(shape, 3, dtype) + whole},
      0);
  Tensor out = map_coordinates(images, places, o.interpolation == "nearest" ? 0 : 1, fill_mode, o.fill_value);
  if (first) out = moveaxis(out, -1, 1);
  return single ? K::squeeze(out, 0) : out;
}

}  // namespace

namespace {

/// Returns whether all extents of a batch of images are known but their number.
bool waits_for_batch(const Tensor& images) {
  return images.ndim() == 4 && images.shape()[0] == None && images.shape().count(1) != None;
}

}  // namespace

Tensor affine_transform(const Tensor& images, const Tensor& transform, const TransformOptions& o) {
  expect_defined("affine_transform", "images, transform", images, transform);
  const Tensor rows = transform.ndim() == 1 ? K::expand_dims(transform, 0) : transform;
  if (rows.ndim() != 2 || rows.shape()[1] != 8 || images.ndim() < 3 ||
      (images.ndim() == 4 && rows.shape()[0] != 1 && !compatible(rows.shape()[0], images.shape()[0])))
    fail("[affine_transform] transform must be (8,) or (batch, 8): received images=", images.shape(),
         ", transform=", transform.shape());
  const DType dtype = op_helpers::floating_dtype(images.dtype());
  if (waits_for_batch(images))
    return defer_described("affine_transform", {images.shape(), dtype}, affine_transform, images, transform,
                           o);
  const Tensor a = K::as_dtype(rows, dtype);
  return read_at("affine_transform", images, o, o.fill_mode, [&](const Tensor& x, const Tensor& y) {
    const auto c = [&](int i) { return coefficient(a, i); };
    return std::pair{c(0) * x + c(1) * y + c(2), c(3) * x + c(4) * y + c(5)};
  });
}

Tensor perspective_transform(const Tensor& images, const Tensor& start_points, const Tensor& end_points,
                             const TransformOptions& o) {
  expect_defined("perspective_transform", "images, start_points, end_points", images, start_points,
                 end_points);
  const auto points = [&](const Tensor& given, const char* name) {
    const Tensor batch = given.ndim() == 2 ? K::expand_dims(given, 0) : given;
    if (batch.ndim() != 3 || batch.shape()[1] != 4 || batch.shape()[2] != 2)
      fail("[perspective_transform] ", name, " must be (4, 2) or (batch, 4, 2): received ", name, '=',
           given.shape());
    return K::as_dtype(batch, op_helpers::floating_dtype(images.dtype()));
  };
  const Tensor start = points(start_points, "start_points"), end = points(end_points, "end_points");
  if (waits_for_batch(images))
    return defer_described("perspective_transform", {images.shape(), start.dtype()}, perspective_transform,
                           images, start_points, end_points, o);
  const auto column = [](const Tensor& p, int i) { return K::index(p, {All, All, i}); };
  const Tensor x = column(end, 0), y = column(end, 1), u = column(start, 0), v = column(start, 1);
  const Tensor one = K::ones_like(x), zero = K::zeros_like(x);
  // u (g x + h y + 1) = a x + b y + c, and alike for v: eight equations for each image.
  const Tensor equations = K::concatenate({K::stack({x, y, one, zero, zero, zero, -x * u, -y * u}, -1),
                                           K::stack({zero, zero, zero, x, y, one, -x * v, -y * v}, -1)},
                                          1);
  const Tensor a = K::squeeze(solve(equations, K::expand_dims(K::concatenate({u, v}, 1), -1)), -1);
  return read_at("perspective_transform", images, o, "constant", [&](const Tensor& x, const Tensor& y) {
    const auto c = [&](int i) { return coefficient(a, i); };
    const Tensor depth = c(6) * x + c(7) * y + 1;
    return std::pair{(c(0) * x + c(1) * y + c(2)) / depth, (c(3) * x + c(4) * y + c(5)) / depth};
  });
}

namespace {

/// Returns the displacements of a batch of images along one axis, (batch, height, width, 1). A pair of draws has two seeds.
Tensor displacements(const Shape& shape, const ElasticOptions& o, std::int64_t draw, DType dtype) {
  const auto size = static_cast<std::int64_t>(6 * o.sigma) | 1;
  K::RandomNormalOptions options{.mean = 0, .stddev = o.sigma, .dtype = dtype};
  if (o.seed) options.seed = *o.seed * 2 + draw;
  const Tensor noise = K::random_normal({shape[0], shape[1], shape[2], 1}, options);
  return gaussian_blur(noise, size, o.sigma) * o.alpha;
}

Tensor elastic_values(const Tensor& images, double alpha, double sigma, const std::string& interpolation,
                      const std::string& fill_mode, double fill_value, std::optional<std::int64_t> seed,
                      const std::string& data_format) {
  const ElasticOptions o{alpha, sigma, interpolation, fill_mode, fill_value, seed, data_format};
  const TransformOptions reading{interpolation, fill_mode, fill_value, data_format};
  const Tensor batch = images.ndim() == 3 ? K::expand_dims(images, 0) : images;
  const Shape shape = data_format == "channels_first" && batch.ndim() == 4
                          ? Shape{batch.shape()[0], batch.shape()[2], batch.shape()[3]}
                          : batch.shape();
  return read_at("elastic_transform", images, reading, fill_mode, [&](const Tensor& x, const Tensor& y) {
    return std::pair{x + displacements(shape, o, 0, x.dtype()), y + displacements(shape, o, 1, x.dtype())};
  });
}

}  // namespace

Tensor elastic_transform(const Tensor& given, const ElasticOptions& o) {
  const Tensor images = floating("elastic_transform", given, "images");
  // Offsets of pixels must remain numbers, and a kernel an extent.
  if (!(o.sigma > 0 && o.sigma <= 1e6))
    fail("[elastic_transform] sigma must be above 0 and at most 1e6: received sigma=", o.sigma);
  if (!std::isfinite(o.alpha)) fail("[elastic_transform] alpha must be finite: received alpha=", o.alpha);
  if (is_symbolic(images))
    return defer_described("elastic_transform", {images.shape(), images.dtype()}, elastic_values, images,
                           o.alpha, o.sigma, o.interpolation, o.fill_mode, o.fill_value, o.seed,
                           o.data_format);
  return elastic_values(images, o.alpha, o.sigma, o.interpolation, o.fill_mode, o.fill_value, o.seed,
                        o.data_format);
}

}  // namespace ktape::ops
