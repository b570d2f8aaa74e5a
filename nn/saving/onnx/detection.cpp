#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

/// Operators whose results depend on values: chosen boxes, places of maxima, windows of a computed length. They
/// compute with values, without gradients.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;

// --- NonMaxSuppression ------------------------------------------------------------------------------------

struct Box {
  double top, left, bottom, right;

  Box(const double* b, bool center) {
    if (center) {
      left = b[0] - b[2] / 2, right = b[0] + b[2] / 2, top = b[1] - b[3] / 2, bottom = b[1] + b[3] / 2;
    } else {
      top = std::min(b[0], b[2]), bottom = std::max(b[0], b[2]);
      left = std::min(b[1], b[3]), right = std::max(b[1], b[3]);
    }
  }
  double area() const { return (bottom - top) * (right - left); }
};

/// Returns the intersection of two boxes over their union.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top),
               width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const double both = height * width, all = a.area() + b.area() - both;
  return all > 0 ? both / all : 0;
}

/// Returns the boxes that are chosen for a class, the best first.
Numbers chosen(const std::vector<Box>& boxes, const double* scores, std::int64_t most, double threshold,
               const double* least) {
  Numbers order, kept;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (!least || scores[i] > *least) order.push_back(static_cast<std::int64_t>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
  for (const std::int64_t i : order) {
    if (static_cast<std::int64_t>(kept.size()) >= most) break;
    const auto covers = [&](std::int64_t k) {
      return overlap(boxes[static_cast<std::size_t>(k)], boxes[static_cast<std::size_t>(i)]) > threshold;
    };
    if (std::none_of(kept.begin(), kept.end(), covers)) kept.push_back(i);
  }
  return kept;
}

Tensors non_max_suppression(const Call& call) {
  const Tensor boxes = doubles(call[0]), scores = doubles(call[1]);
  if (boxes.ndim() != 3 || scores.ndim() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != scores.shape()[0] || boxes.shape()[1] != scores.shape()[2])
    fail("[onnx] boxes must be (samples, boxes, 4) and scores (samples, classes, boxes): received shapes ",
         boxes.shape(), " and ", scores.shape());
  const std::int64_t most = call.has(2) ? single(call[2]) : 0, count = boxes.shape()[1],
                     classes = scores.shape()[1];
  const auto number = [&](std::size_t i, double otherwise) {
    if (!call.has(i)) return otherwise;
    const Tensor x = doubles(call[i]);
    if (x.size() != 1) fail("[onnx] a threshold must be one number: received shape=", x.shape());
    return *x.pointer<double>();
  };
  const double threshold = number(3, 0), least = number(4, 0);
  Numbers found;
  for (std::int64_t sample = 0; sample < boxes.shape()[0]; ++sample) {
    std::vector<Box> own;
    for (std::int64_t i = 0; i < count; ++i)
      own.emplace_back(boxes.pointer<double>() + (sample * count + i) * 4, call.flag("center_point_box"));
    for (std::int64_t c = 0; c < classes; ++c)
      for (const std::int64_t box : chosen(own, scores.pointer<double>() + (sample * classes + c) * count,
                                           most, threshold, call.has(4) ? &least : nullptr))
        found.insert(found.end(), {sample, c, box});
  }
  return {Tensor::from_buffer(found.data(), found.size() * sizeof(std::int64_t),
                              {static_cast<std::int64_t>(found.size() / 3), 3}, DType::Int64)};
}

// --- MaxUnpool --------------------------------------------------------------------------------------------

/// Returns the shape from which MaxPool made x.
Shape unpooled_shape(const Call& call, const Shape& x) {
  const Numbers kernel = call.integers("kernel_shape");
  const std::size_t axes = kernel.size();
  const Numbers strides = call.integers("strides", Numbers(axes, 1)),
                pads = call.integers("pads", Numbers(2 * axes, 0));
  if (static_cast<int>(axes) + 2 != x.rank() || strides.size() != axes || pads.size() != 2 * axes)
    fail("[onnx] kernel_shape, strides and pads must fit x: received shape=", x);
  Shape shape = x;
  for (std::size_t i = 0; i < axes; ++i)
    shape[static_cast<int>(i) + 2] =
        (x[static_cast<int>(i) + 2] - 1) * strides[i] - (pads[i] + pads[axes + i]) + kernel[i];
  check_extents("onnx", shape, sizeof(double));
  return shape;
}

Tensors max_unpool(const Call& call) {
  const Tensor x = doubles(call[0]);
  const Numbers places = whole(call[1]);
  const Shape from = unpooled_shape(call, x.shape()), to = call.has(2) ? Shape(whole(call[2])) : from;
  check_extents("onnx", to, sizeof(double));
  if (static_cast<std::int64_t>(places.size()) != x.size() || to.rank() != from.rank())
    fail("[onnx] the indices and output_shape must fit x: received shapes ", call[1].shape(), " and ", to);
  const Tensor out = K::zeros(to, {.dtype = DType::Float64});
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::int64_t rest = places[i], place = 0, step = 1;
    if (rest < 0 || rest >= from.count())
      fail("[onnx] an index must be in [0, ", from.count(), "): received ", rest);
    for (int axis = from.rank() - 1; axis >= 0; step *= to[axis], rest /= from[axis], --axis) {
      if (rest % from[axis] >= to[axis]) fail("[onnx] output_shape must hold all elements: received ", to);
      place += rest % from[axis] * step;
    }
    out.pointer<double>()[place] = x.pointer<double>()[i];
  }
  return {K::cast(out, call.dtype())};
}

// --- Windows ----------------------------------------------------------------------------------------------

/// Returns an operator for a window: a sum of cosines with these factors.
Operator window(const std::vector<double>& factors) {
  return [factors](const Call& call) -> Tensors {
    constexpr std::int64_t longest = 1 << 24;
    const std::int64_t size = single(call[0]);
    if (size < 0 || size > longest)
      fail("[onnx] the size must be in [0, ", longest, "]: received size=", size);
    const double period = static_cast<double>(call.flag("periodic", true) ? size : size - 1);
    const Tensor out = Tensor::empty({size}, DType::Float64);
    for (std::int64_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < factors.size(); ++k)
        sum += factors[k] *
               std::cos(2 * std::numbers::pi * static_cast<double>(k) * static_cast<double>(i) / period);
      out.pointer<double>()[i] = sum;
    }
    return {K::cast(out, dtype_of_code(call.integer("output_datatype", 1)))};
  };
}

}  // namespace

void add_detection(OperatorTable& t) {
  t["NonMaxSuppression"] = non_max_suppression, t["MaxUnpool"] = max_unpool;
  t["HannWindow"] = window({0.5, -0.5}), t["HammingWindow"] = window({25 / 46., -21 / 46.});
  t["BlackmanWindow"] = window({0.42, -0.5, 0.08});
}

}  // namespace ktape::nn::onnx
