#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/nn/patches.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn::onnx {

namespace K = backend;

namespace {

/// Returns numbers for each spatial axis. Throws ValueError for another length, and for numbers outside of [least, 2^31).
Numbers per_axis(const Call& call, const char* name, std::size_t axes, std::int64_t otherwise,
                 std::int64_t least) {
  const Numbers list = call.integers(name, Numbers(axes, otherwise));
  const auto outside = [&](std::int64_t n) { return n < least || n >= (std::int64_t{1} << 31); };
  if (list.size() != axes || std::any_of(list.begin(), list.end(), outside))
    fail("[onnx] ", name, " must have a number from ", least, " on for each of ", axes, " axes: received ",
         numbers(list));
  return list;
}

/// Moves the filters and channels of (a, b, spatial...) to the end, as (spatial..., b, a).
Tensor channels_last_kernel(const Tensor& kernel) {
  Shape order;
  for (int i = 2; i < kernel.ndim(); ++i) order.push_back(i);
  order.push_back(1);
  order.push_back(0);
  return K::permute_dimensions(kernel, order);
}

}  // namespace

Windows windows_of(const Call& call, const Tensor& x, const Numbers& kernel) {
  if (x.ndim() < 3) fail("[onnx] x must have spatial axes: received shape=", x.shape());
  const std::size_t axes = static_cast<std::size_t>(x.ndim() - 2);
  Windows w;
  w.kernel = kernel.empty() ? per_axis(call, "kernel_shape", axes, 0, 1) : kernel;
  if (w.kernel.size() != axes)
    fail("[onnx] the kernel must have ", axes, " axes: received ", numbers(w.kernel));
  w.strides = per_axis(call, "strides", axes, 1, 1), w.dilations = per_axis(call, "dilations", axes, 1, 1);
  const Numbers pads = per_axis(call, "pads", 2 * axes, 0, 0);
  w.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  const std::string automatic = call.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t n = x.shape()[static_cast<int>(i) + 2], reach = w.reach(i), stride = w.strides[i];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t count = (n + stride - 1) / stride;
      const std::int64_t both = std::max<std::int64_t>((count - 1) * stride + reach - n, 0);
      w.before[i] = automatic == "SAME_UPPER" ? both / 2 : both - both / 2, w.after[i] = both - w.before[i];
    } else if (automatic == "VALID") {
      w.before[i] = w.after[i] = 0;
    }
    const std::int64_t room = n + w.before[i] + w.after[i] - reach;
    if (n >= 0 && room < 0)
      fail("[onnx] a window must fit into x: received shape=", x.shape(), ", kernel ", numbers(w.kernel));
    std::int64_t count = room / stride + 1;
    if (call.flag("ceil_mode") && room % stride != 0 && count * stride < n + w.before[i]) {
      w.after[i] += count * stride - room;
      ++count;
    }
    w.outputs.push_back(count);
  }
  return w;
}

Tensor padded(const Tensor& x, const Numbers& before, const Numbers& after, double value) {
  std::vector<K::PaddingPair> pairs(2, K::PaddingPair(0));
  bool any = false;
  for (std::size_t i = 0; i < before.size(); ++i)
    pairs.emplace_back(before[i], after[i]), any = any || before[i] || after[i];
  return any ? K::pad(x, pairs, {.constant_values = value}) : x;
}

Tensor convolved(const Call& call, const Tensor& x, const Tensor& kernel) {
  if (x.ndim() != kernel.ndim() || x.ndim() < 3 || x.ndim() > 5)
    fail("[onnx] x and the kernel must have 1 to 3 spatial axes: received shapes ", x.shape(), " and ",
         kernel.shape());
  const std::int64_t groups = call.integer("group", 1);
  if (groups < 1 || kernel.shape()[0] % groups != 0 || kernel.shape()[1] * groups != x.shape()[1])
    fail("[onnx] the channels must fit the groups: received shapes ", x.shape(), " and ", kernel.shape(),
         ", group=", groups);
  const Numbers extents(kernel.shape().begin() + 2, kernel.shape().end());
  const Windows w = windows_of(call, x, extents);
  return ops::conv(padded(x, w.before, w.after), call.weights.of(call.node, kernel, channels_last_kernel),
                   {.strides = w.strides, .data_format = "channels_first", .dilation_rate = w.dilations});
}

namespace {

Tensors conv(const Call& call) {
  const Tensor y = convolved(call, call[0], call[1]);
  return {call.has(2) ? y + along_axis(call[2], 1, y.ndim()) : y};
}

/// Cuts the result of a transposed convolution without padding to the extents that the node wants.
Tensor cut(const Call& call, Tensor y, const Tensor& x, const Windows& w) {
  const std::size_t axes = w.kernel.size();
  const Numbers extra = per_axis(call, "output_padding", axes, 0, 0), wanted = call.integers("output_shape");
  const std::string automatic = call.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < axes; ++i) {
    const int axis = static_cast<int>(i) + 2;
    const std::int64_t n = x.shape()[axis], all = (n - 1) * w.strides[i] + w.reach(i) + extra[i];
    std::int64_t begin = w.before[i], out = all - w.before[i] - w.after[i];
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted.empty() || same) {
      out = wanted.empty() ? n * w.strides[i] : wanted[wanted.size() == axes ? i : i + wanted.size() - axes];
      const std::int64_t both = std::max<std::int64_t>(all - out, 0);
      begin = automatic == "SAME_UPPER" ? both / 2 : both - both / 2;
    }
    if (out < 0) fail("[onnx] pads must leave elements: received ", numbers(w.before));
    if (const std::int64_t missing = begin + out - y.shape()[axis]; missing > 0) {
      Numbers none(axes, 0), after(axes, 0);
      after[i] = missing;
      y = padded(y, none, after);
    }
    y = strided(y, axis, begin, out);
  }
  return y;
}

Windows transposed_windows(const Call& call, const Tensor& kernel) {
  const std::size_t axes = static_cast<std::size_t>(kernel.ndim() - 2);
  Windows w;
  w.kernel.assign(kernel.shape().begin() + 2, kernel.shape().end());
  w.strides = per_axis(call, "strides", axes, 1, 1), w.dilations = per_axis(call, "dilations", axes, 1, 1);
  const Numbers pads = per_axis(call, "pads", 2 * axes, 0, 0);
  w.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  return w;
}

/// Returns the kernel with zeros between its elements: a kernel with dilation 1 that computes the same result.
Tensor dilated(Tensor kernel, const Windows& w) {
  for (std::size_t i = 0; i < w.dilations.size(); ++i) {
    const std::int64_t d = w.dilations[i], n = w.kernel[i];
    if (d == 1 || n == 1) continue;
    const int axis = static_cast<int>(i) + 2;
    const Tensor wide = K::expand_dims(kernel, axis + 1);
    std::vector<K::PaddingPair> pairs(static_cast<std::size_t>(wide.ndim()), K::PaddingPair(0));
    pairs[static_cast<std::size_t>(axis) + 1] = {0, d - 1};
    Shape shape = kernel.shape();
    shape[axis] = n * d;
    kernel = strided(K::reshape(K::pad(wide, pairs), shape), axis, 0, w.reach(i));
  }
  return kernel;
}

Tensors conv_transpose(const Call& call) {
  const Tensor &x = call[0], &kernel = call[1];
  if (x.ndim() != kernel.ndim() || x.ndim() < 3 || x.ndim() > 5)
    fail("[onnx] x and the kernel must have 1 to 3 spatial axes: received shapes ", x.shape(), " and ",
         kernel.shape());
  const std::int64_t groups = call.integer("group", 1), channels = x.shape()[1];
  if (groups < 1 || channels % groups != 0 || kernel.shape()[0] != channels)
    fail("[onnx] the channels must fit the groups: received shapes ", x.shape(), " and ", kernel.shape(),
         ", group=", groups);
  const Windows w = transposed_windows(call, kernel);
  const bool dense =
      std::all_of(w.dilations.begin(), w.dilations.end(), [](std::int64_t d) { return d == 1; });
  const Tensor full = dense ? call.weights.of(call.node, kernel, channels_last_kernel)
                            : channels_last_kernel(dilated(kernel, w));
  Tensors parts;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t each = channels / groups;
    const Tensor part = groups == 1 ? full : strided(full, full.ndim() - 1, g * each, each);
    parts.push_back(ops::conv_transpose(groups == 1 ? x : strided(x, 1, g * each, each), part,
                                        {.strides = w.strides, .data_format = "channels_first"}));
  }
  const Tensor y = cut(call, groups == 1 ? parts[0] : K::concatenate(parts, 1), x, w);
  return {call.has(2) ? y + along_axis(call[2], 1, y.ndim()) : y};
}

/// Adds the columns of patches up to images with their padding, which is cut off.
Tensors col2im(const Call& call) {
  const Numbers size = whole(call[1]), block = whole(call[2]);
  if (size.size() != 2 || block.size() != 2)
    fail("[onnx] Col2Im must have two spatial axes: received ", size.size(), " and ", block.size());
  const Numbers pads = per_axis(call, "pads", 4, 0, 0);
  const std::vector<std::int64_t> padded{size[0] + pads[0] + pads[2], size[1] + pads[1] + pads[3]};
  const Tensor y = ops::fold(
      call[0], padded, block,
      {.dilation = per_axis(call, "dilations", 2, 1, 1), .stride = per_axis(call, "strides", 2, 1, 1)});
  return {strided(strided(y, 2, pads[0], size[0]), 3, pads[1], size[1])};
}

}  // namespace

void add_convolutions(OperatorTable& t) {
  t["Conv"] = conv, t["ConvTranspose"] = conv_transpose, t["Col2Im"] = col2im;
}

}  // namespace ktape::nn::onnx
