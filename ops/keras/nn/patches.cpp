#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/keras/deferred.hpp>
#include <ktape/ops/keras/nn/patches.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>

namespace ktape::ops {

template <class F>
void fields(UnfoldOptions& options, F&& field) {
  field("dilation", options.dilation);
  field("padding", options.padding);
  field("stride", options.stride);
}

namespace K = backend;

namespace {

/// Windows over two axes.
struct Windows {
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int64_t> kernel, dilation, padding, stride;

  Windows(const char* op, const K::PerAxis<std::int64_t>& kernel_size, const UnfoldOptions& o)
      : kernel(kernel_size.over(2)),
        dilation(o.dilation.over(2)),
        padding(o.padding.over(2)),
        stride(o.stride.over(2)) {
    const auto expect = [op](const char* name, const std::vector<std::int64_t>& list, std::int64_t least) {
      if (list.size() != 2) fail("[", op, "] ", name, " must be one or two numbers: received ", list.size());
      for (const std::int64_t n : list)
        if (n < least || n > most)
          fail("[", op, "] ", name, " must be in [", least, ", ", most, "]: received ", name, '=', n);
    };
    expect("kernel_size", kernel, 1), expect("dilation", dilation, 1), expect("stride", stride, 1);
    expect("padding", padding, 0);
  }
  /// Returns the number of windows along an axis of n elements.
  std::int64_t count(const char* op, std::size_t axis, std::int64_t n) const {
    const std::int64_t room = n + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1;
    if (room < 0) fail("[", op, "] a window must fit into the image: received an extent of ", n);
    return room / stride[axis] + 1;
  }
};

}  // namespace

Tensor unfold(const Tensor& given, const K::PerAxis<std::int64_t>& kernel_size,
              const UnfoldOptions& options) {
  const CalledOp called("unfold");
  const Tensor x = op_helpers::floating("unfold", given);
  if (x.ndim() != 4) fail("[unfold] x must be (batch, channels, height, width): received x=", x.shape());
  const Windows w("unfold", kernel_size, options);
  const auto compute = [w](const std::vector<Tensor>& v) {
    const Shape& shape = v[0].shape();
    const std::int64_t rows = w.count("unfold", 0, shape[2]), columns = w.count("unfold", 1, shape[3]);
    const Tensor padded = K::pad(v[0], {0, 0, w.padding[0], w.padding[1]});
    std::vector<Tensor> places;
    for (std::int64_t i = 0; i < w.kernel[0]; ++i)
      for (std::int64_t j = 0; j < w.kernel[1]; ++j) {
        const op_helpers::Window window{{0, 0, i * w.dilation[0], j * w.dilation[1]},
                                        {1, 1, w.stride[0], w.stride[1]},
                                        {shape[0], shape[1], rows, columns}};
        places.push_back(op_helpers::take("unfold", padded, window));
      }
    return std::vector{
        K::reshape(K::stack(places, 2), {shape[0], shape[1] * w.kernel[0] * w.kernel[1], rows * columns})};
  };
  return is_symbolic(x) ? op_helpers::defer_by_trace("unfold", {x}, compute, kernel_size, options.dilation,
                                                     options.padding, options.stride)[0]
                        : compute({x})[0];
}

Tensor fold(const Tensor& given, const K::PerAxis<std::int64_t>& output_size,
            const K::PerAxis<std::int64_t>& kernel_size, const UnfoldOptions& options) {
  const CalledOp called("fold");
  const Tensor x = op_helpers::floating("fold", given);
  const Windows w("fold", kernel_size, options);
  const std::vector<std::int64_t> size = output_size.over(2);
  if (size.size() != 2) fail("[fold] output_size must be one or two numbers: received ", size.size());
  for (const std::int64_t n : size)
    if (n < 1 || n > Windows::most)
      fail("[fold] output_size must be in [1, ", Windows::most, "]: received output_size=", n);
  const std::int64_t rows = w.count("fold", 0, size[0]), columns = w.count("fold", 1, size[1]);
  const std::int64_t places = w.kernel[0] * w.kernel[1];
  if (x.ndim() != 3 || !compatible(x.shape()[2], rows * columns) ||
      (x.shape()[1] != None && x.shape()[1] % places != 0))
    fail("[fold] x must be (batch, channels * ", places, ", ", rows * columns, "): received x=", x.shape());
  const auto compute = [=](const std::vector<Tensor>& v) {
    const std::int64_t batch = v[0].shape()[0], channels = v[0].shape()[1] / places;
    const Tensor split = K::reshape(v[0], {batch, channels, places, rows, columns});
    const Shape padded{batch, channels, size[0] + 2 * w.padding[0], size[1] + 2 * w.padding[1]};
    Tensor out;
    for (std::int64_t p = 0; p < places; ++p) {
      const op_helpers::Window window{
          {0, 0, p / w.kernel[1] * w.dilation[0], p % w.kernel[1] * w.dilation[1]},
          {1, 1, w.stride[0], w.stride[1]},
          {batch, channels, rows, columns}};
      const Tensor part = op_helpers::place("fold", K::index(split, {All, All, p}), padded, window);
      out = out.defined() ? out + part : part;
    }
    return std::vector{
        K::slice(out, {0, 0, w.padding[0], w.padding[1]}, {batch, channels, size[0], size[1]})};
  };
  if (!is_symbolic(x)) return compute({x})[0];
  const std::int64_t given_channels = x.shape()[1],
                     channels = given_channels == None ? given_channels : given_channels / places;
  const auto later = [](const Tensor& x, const K::PerAxis<std::int64_t>& output_size,
                        const K::PerAxis<std::int64_t>& kernel_size,
                        const UnfoldOptions& options) { return fold(x, output_size, kernel_size, options); };
  return defer_described("fold", {{x.shape()[0], channels, size[0], size[1]}, x.dtype()}, later, x,
                         output_size, kernel_size, options);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations patch_operations() {
  static constexpr Operation rows[] = {
      {"Unfold", "nn", "x; kernel_size, dilation=1, padding=0, stride=1", calls<ops::unfold>},
      {"Fold", "nn", "x; output_size, kernel_size, dilation=1, padding=0, stride=1", calls<ops::fold>},
  };
  return rows;
}

}  // namespace ktape::nn
