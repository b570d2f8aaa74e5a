#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/image/internal/image_batch.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

namespace ktape::op_helpers {

namespace K = backend;

ImageBatch::ImageBatch(const char* op, const char* name, const Tensor& given,
                       const std::optional<std::string>& data_format, int axes)
    : images(given), first(K::channels_first(op, data_format)) {
  expect_defined(op, name, given);
  if (given.ndim() != axes + 1 && given.ndim() != axes + 2)
    fail("[", op, "] ", name, " must have rank ", axes + 1, " or ", axes + 2, ": received ", name, '=',
         given.shape());
  single = given.ndim() == axes + 1;
  if (single) images = K::expand_dims(images, 0);
  if (first) images = ops::moveaxis(images, 1, -1);
}

Tensor ImageBatch::restored(const Tensor& x) const {
  const Tensor out = first ? ops::moveaxis(x, images.ndim() - 1, 1) : x;
  return single ? K::squeeze(out, 0) : out;
}

std::vector<std::int64_t> image_extents(const char* op, const char* name,
                                        const K::PerAxis<std::int64_t>& size, int axes) {
  const std::vector<std::int64_t> out = size.over(axes);
  if (static_cast<int>(out.size()) != axes)
    fail("[", op, "] ", name, " must have ", axes, " numbers: received ", out.size());
  for (const std::int64_t n : out)
    if (n < 1 || n > largest_extent)
      fail("[", op, "] ", name, " must be in [1, ", largest_extent, "]: received ", name, '=', n);
  return out;
}

Tensor on_batch(const char* op, const Tensor& images, const std::optional<std::string>& data_format,
                const std::function<Tensor(const Tensor&)>& f) {
  const ImageBatch batch(op, "images", images, data_format);
  return batch.restored(f(batch.images));
}

DType dtype_of_computation(DType images) {
  return images.is_floating() ? images : common_dtype(floating_dtype(images), DType::Float32);
}

Tensor rounded_to(DType dtype, const Tensor& result) {
  return K::as_dtype(dtype.is_floating() ? result : K::round(result), dtype);
}

Tensor rounded_within(const Tensor& images, const Tensor& result) {
  if (!images.dtype().is_integer()) return rounded_to(images.dtype(), result);
  const auto bound = [&](const Tensor& number) { return K::cast(number, result.dtype()); };
  return rounded_to(images.dtype(),
                    K::minimum(K::maximum(result, bound(K::min(images))), bound(K::max(images))));
}

}  // namespace ktape::op_helpers
