#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/keras/image/internal/image_batch.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>
#include <functional>

/// Transforms of the coordinates of images.
namespace ktape::ops {

template <class F>
void fields(TransformOptions& options, F&& field) {
  field("interpolation", options.interpolation);
  field("fill_mode", options.fill_mode);
  field("fill_value", options.fill_value);
  field("data_format", options.data_format);
}

namespace K = backend;
using op_helpers::ImageBatch;

namespace {

/// Returns the dtype of positions of pixels, which half precision cannot number.
DType dtype_of_positions(const Tensor& images) {
  return op_helpers::common_dtype(op_helpers::floating_dtype(images.dtype()), DType::Float32);
}

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
  const ImageBatch batch(op, "images", given, o.data_format);
  const Tensor& images = batch.images;
  const Shape& shape = images.shape();
  if (shape.count() < 1)
    fail("[", op,
         "] the shape of the images must be known and hold a pixel: received images=", given.shape());
  const DType dtype = dtype_of_positions(images);
  const auto [x, y] = mapping(numbers_along(shape, 2, dtype), numbers_along(shape, 1, dtype));
  const Tensor whole = K::zeros(shape, {.dtype = dtype});
  const Tensor places = K::stack(
      {numbers_along(shape, 0, dtype) + whole, y + whole, x + whole, numbers_along(shape, 3, dtype) + whole},
      0);
  return batch.restored(
      map_coordinates(images, places, o.interpolation == "nearest" ? 0 : 1, fill_mode, o.fill_value));
}

/// Returns whether all extents of a batch of images are known but their number.
bool waits_for_batch(const Tensor& images) {
  return images.ndim() == 4 && images.shape()[0] == None && images.shape().count(1) != None;
}

}  // namespace

Tensor affine_transform(const Tensor& images, const Tensor& transform, const TransformOptions& o) {
  const CalledOp called("affine_transform");
  expect_defined("affine_transform", "images, transform", images, transform);
  const Tensor rows = transform.ndim() == 1 ? K::expand_dims(transform, 0) : transform;
  if (rows.ndim() != 2 || rows.shape()[1] != 8 || images.ndim() < 3 ||
      (images.ndim() == 4 && rows.shape()[0] != 1 && !compatible(rows.shape()[0], images.shape()[0])))
    fail("[affine_transform] transform must be (8,) or (batch, 8): received images=", images.shape(),
         ", transform=", transform.shape());
  if (waits_for_batch(images))
    return defer_described("affine_transform", {images.shape(), images.dtype()}, affine_transform, images,
                           transform, o);
  const Tensor a = K::as_dtype(rows, dtype_of_positions(images)), x = K::as_dtype(images, a.dtype());
  const Tensor moved = read_at("affine_transform", x, o, o.fill_mode, [&](const Tensor& x, const Tensor& y) {
    const auto c = [&](int i) { return coefficient(a, i); };
    return std::pair{c(0) * x + c(1) * y + c(2), c(3) * x + c(4) * y + c(5)};
  });
  return K::as_dtype(moved, images.dtype());
}

Tensor perspective_transform(const Tensor& images, const Tensor& start_points, const Tensor& end_points,
                             const TransformOptions& o) {
  const CalledOp called("perspective_transform");
  expect_defined("perspective_transform", "images, start_points, end_points", images, start_points,
                 end_points);
  const auto points = [&](const Tensor& given, const char* name) {
    const Tensor batch = given.ndim() == 2 ? K::expand_dims(given, 0) : given;
    if (batch.ndim() != 3 || batch.shape()[1] != 4 || batch.shape()[2] != 2)
      fail("[perspective_transform] ", name, " must be (4, 2) or (batch, 4, 2): received ", name, '=',
           given.shape());
    return K::as_dtype(batch, dtype_of_positions(images));
  };
  const Tensor start = points(start_points, "start_points"), end = points(end_points, "end_points");
  if (waits_for_batch(images))
    return defer_described("perspective_transform", {images.shape(), images.dtype()}, perspective_transform,
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

/// Returns the noise, not yet scaled, that displaces a batch of images along one axis, (batch, height, width, 1). A pair of draws has
/// two seeds.
Tensor displacements(const Shape& shape, double sigma, std::optional<std::int64_t> seed, std::int64_t draw,
                     DType dtype) {
  K::RandomNormalOptions options{.mean = 0, .stddev = sigma, .dtype = dtype};
  if (seed) options.seed = *seed * 2 + draw;
  const Tensor noise = K::random_normal({shape[0], shape[1], shape[2], 1}, options);
  return gaussian_blur(noise, static_cast<std::int64_t>(6 * sigma) | 1, sigma, "channels_last");
}

/// Moves the pixels of images; alpha is a number, or a tensor that broadcasts to (batch, height, width).
template <class Alpha>
Tensor elastic_values(const Tensor& images, const Alpha& alpha, double sigma,
                      const std::string& interpolation, const std::string& fill_mode, double fill_value,
                      std::optional<std::int64_t> seed, const std::string& data_format) {
  bool waits = is_symbolic(images);
  if constexpr (std::is_same_v<Alpha, Tensor>) waits = waits || is_symbolic(alpha);
  if (waits)
    return defer_described(impure("elastic_transform"), info_of(images), elastic_values<Alpha>, images, alpha,
                           sigma, interpolation, fill_mode, fill_value, seed, data_format);
  const TransformOptions reading{interpolation, fill_mode, fill_value, data_format};
  const Shape shape = ImageBatch("elastic_transform", "images", images, data_format).images.shape();
  return read_at("elastic_transform", images, reading, fill_mode, [&](const Tensor& x, const Tensor& y) {
    const auto moved = [&](const Tensor& at, std::int64_t draw) {
      const Tensor noise = displacements(shape, sigma, seed, draw, at.dtype());
      if constexpr (std::is_same_v<Alpha, double>) return at + noise * alpha;
      else return at + noise * K::as_dtype(alpha.ndim() > 0 ? K::expand_dims(alpha, -1) : alpha, at.dtype());
    };
    return std::pair{moved(x, 0), moved(y, 1)};
  });
}

/// Returns the only number of an array.
double number_of(const char* name, const ArrayLike& given) {
  given.expect_defined("elastic_transform", name);
  if (given.number()) return given.number()->real();
  const Tensor tensor = given.tensor(DType::Float64, DType::Float64, "elastic_transform");
  if (tensor.size() != 1)
    fail("[elastic_transform] ", name, " must be one number: received ", name, '=', tensor.shape());
  return tensor.item<double>();
}

}  // namespace

Tensor elastic_transform(const Tensor& images, const ElasticOptions& o) {
  const CalledOp called("elastic_transform");
  const char* const op = "elastic_transform";
  const std::string format = K::channels_first(op, o.data_format) ? "channels_first" : "channels_last";
  const Shape shape = ImageBatch(op, "images", images, format).images.shape();
  const double sigma = number_of("sigma", o.sigma);
  // Offsets of pixels must remain numbers, and a kernel an extent.
  if (!(sigma > 0 && sigma <= 1e6))
    fail("[elastic_transform] sigma must be above 0 and at most 1e6: received sigma=", sigma);
  const auto moved = [&](const auto& alpha) {
    return elastic_values(images, alpha, sigma, o.interpolation, o.fill_mode, o.fill_value, o.seed, format);
  };
  o.alpha.expect_defined(op, "alpha");
  if (const auto number = o.alpha.number()) {
    if (!std::isfinite(number->real()))
      fail("[elastic_transform] alpha must be finite: received alpha=", number->real());
    return moved(number->real());
  }
  const Tensor given = o.alpha.given(),
               alpha = given.defined() ? given : o.alpha.tensor({}, DType::Float32, op);
  if (!broadcasts_to(alpha.shape(), {shape[0], shape[1], shape[2]}))
    fail("[elastic_transform] alpha must broadcast to (batch, height, width) of images=", images.shape(),
         ": received alpha=", alpha.shape());
  return moved(alpha);
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(ElasticOptions& options, F&& field) {
  field("alpha", options.alpha);
  field("sigma", options.sigma);
  field("interpolation", options.interpolation);
  field("fill_mode", options.fill_mode);
  field("fill_value", options.fill_value);
  field("seed", options.seed);
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::nn {

Operations image_transform_operations() {
  static constexpr Operation rows[] = {
      {"AffineTransform", "image",
       "images, transform; interpolation=\"bilinear\", fill_mode=\"constant\", fill_value=0.0, "
       "data_format=null",
       calls<ops::affine_transform>},
      {"PerspectiveTransform", "image",
       "images, start_points, end_points; interpolation=\"bilinear\", fill_value=0.0, data_format=null",
       calls<ops::perspective_transform>, "", "images, start_points, end_points, -fill_mode"},
      {"ElasticTransform", "image",
       "images; alpha=20.0, sigma=5.0, interpolation=\"bilinear\", fill_mode=\"reflect\", fill_value=0.0, "
       "seed=null, data_format=null",
       calls<ops::elastic_transform>},
  };
  return rows;
}

}  // namespace ktape::nn
