#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/keras/image/internal/image_batch.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <limits>
#include <map>

/// Resampling along axes with scales and translations that may be learned.
namespace ktape::ops {

namespace K = backend;

namespace {

/// The weight of a sample at a distance that is not negative.
using Kernel = Tensor (*)(const Tensor& distance);

Tensor triangle(const Tensor& t) { return K::maximum(1 - t, 0); }

Tensor cubic(const Tensor& t) {
  const Tensor near = (t * 1.5 - 2.5) * t * t + 1, far = ((2.5 - t * 0.5) * t - 4) * t + 2;
  return K::where(t < 1, near, K::where(t < 2, far, 0));
}

template <int lobes>
Tensor lanczos(const Tensor& t) {
  return K::where(t < lobes, sinc(t) * sinc(t / lobes), 0);
}

Kernel kernel_of(const std::string& method) {
  static const std::map<std::string, Kernel> kernels{
      {"linear", triangle},   {"bilinear", triangle},   {"trilinear", triangle},
      {"triangle", triangle}, {"cubic", cubic},         {"bicubic", cubic},
      {"tricubic", cubic},    {"lanczos3", lanczos<3>}, {"lanczos5", lanczos<5>},
  };
  const auto found = kernels.find(method);
  if (found == kernels.end())
    fail(
        "[scale_and_translate] method must be \"linear\", \"cubic\" (with \"bi\" or \"tri\" before, too), "
        "\"triangle\", \"lanczos3\" or \"lanczos5\": received method=\"",
        method, '"');
  return found->second;
}

/// Returns the weights of n samples for each of m results, (n, m). Results beyond the samples have weights 0.
Tensor weights_of(std::int64_t n, std::int64_t m, const Tensor& scale, const Tensor& translation,
                  Kernel kernel, bool antialias) {
  const K::ArangeOptions dtype{.dtype = scale.dtype()};
  const Tensor ratio = 1 / scale, at = (K::arange(m, dtype) + 0.5 - translation) * ratio - 0.5;
  const Tensor distance = K::abs(at - K::expand_dims(K::arange(n, dtype), -1));
  const Tensor weights = kernel(antialias ? distance / K::maximum(ratio, 1) : distance);
  const Tensor sum = K::sum(weights, 0, true);
  const Tensor seen = (at >= -0.5) & (at <= static_cast<double>(n) - 0.5) &
                      (K::abs(sum) > 1000. * std::numeric_limits<float>::epsilon());
  return K::where(seen, weights / K::where(seen, sum, 1), 0);
}

void expect_vector(const char* name, const Tensor& x, std::size_t size) {
  if (x.ndim() != 1 || x.shape()[0] != static_cast<std::int64_t>(size))
    fail("[scale_and_translate] ", name, " must have a number for each of spatial_dims, of which there are ",
         size, ": received ", name, '=', x.shape());
}

}  // namespace

Tensor scale_and_translate(const Tensor& images, const Shape& output_shape, const ArrayLike& scale,
                           const ArrayLike& translation, const std::vector<int>& spatial_dims,
                           const std::string& method, bool antialias) {
  const CalledOp called("scale_and_translate");
  const char* const op = "scale_and_translate";
  expect_defined(op, "images", images);
  scale.expect_defined(op, "scale"), translation.expect_defined(op, "translation");
  const Kernel kernel = kernel_of(method);
  const DType dtype = op_helpers::dtype_of_computation(images.dtype());
  const auto numbers = [&](const ArrayLike& given) {
    const Tensor& tensor = given.given();
    return tensor.defined() ? K::as_dtype(tensor, dtype) : given.tensor(dtype, dtype, op);
  };
  const Tensor scales = numbers(scale), translations = numbers(translation);
  expect_vector("scale", scales, spatial_dims.size());
  expect_vector("translation", translations, spatial_dims.size());
  if (output_shape.rank() != images.ndim())
    fail("[scale_and_translate] output_shape must have the rank of images: received images=", images.shape(),
         ", output_shape=", output_shape);
  Shape rest = output_shape;
  Tensor out = K::as_dtype(images, dtype);
  for (std::size_t i = 0; i < spatial_dims.size(); ++i) {
    const int axis = canonical_axis(op, spatial_dims[i], images.ndim());
    const std::int64_t n = images.shape()[axis], m = output_shape[axis];
    if (n < 1 || m < 0)
      fail("[scale_and_translate] the extents of spatial_dims must be known and at least 1: received images=",
           images.shape(), ", output_shape=", output_shape);
    const auto number = static_cast<int>(i);
    const Tensor weights = weights_of(n, m, scales[number], translations[number], kernel, antialias);
    out = moveaxis(tensordot(out, weights, DotAxes({axis}, {0})), -1, axis);
    rest[axis] = n;
  }
  if (rest != images.shape())
    fail(
        "[scale_and_translate] output_shape must have the extents of images outside of spatial_dims: "
        "received ",
        "images=", images.shape(), ", output_shape=", output_shape);
  return op_helpers::rounded_within(images, out);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations image_scaling_operations() {
  static constexpr Operation rows[] = {
      {"ScaleAndTranslate", "image",
       "images, output_shape!, scale, translation; spatial_dims, method, antialias=true",
       calls<ops::scale_and_translate>},
  };
  return rows;
}

}  // namespace ktape::nn
