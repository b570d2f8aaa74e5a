#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// How one axis is resized.
struct Axis {
  std::int64_t from, to;
  double scale;
  double begin = 0, end = 1;  ///< the part of the axis that is shown, with "tf_crop_and_resize"
};

/// The attributes of a Resize.
struct Style {
  std::string mode, coordinates, rounding;
  double cubic;
  bool exclude_outside;
};

/// Returns the position in the axis that position i of the result shows.
double source_of(std::int64_t i, const Axis& a, const std::string& coordinates) {
  const double x = static_cast<double>(i), from = static_cast<double>(a.from), length = a.scale * from;
  if (coordinates == "asymmetric") return x / a.scale;
  if (coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (coordinates == "align_corners") return length == 1 ? 0 : x * (from - 1) / (length - 1);
  if (coordinates == "pytorch_half_pixel") return length > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
  if (coordinates == "tf_crop_and_resize") {
    if (a.to <= 1) return 0.5 * (a.begin + a.end) * (from - 1);
    return a.begin * (from - 1) + x * (a.end - a.begin) * (from - 1) / static_cast<double>(a.to - 1);
  }
  if (coordinates == "half_pixel_symmetric")
    return from / 2 * (1 - static_cast<double>(a.to) / length) + (x + 0.5) / a.scale - 0.5;
  if (coordinates != "half_pixel")
    fail(
        "[onnx] coordinate_transformation_mode must be half_pixel, half_pixel_symmetric, pytorch_half_pixel, "
        "align_corners, asymmetric or tf_crop_and_resize: received coordinate_transformation_mode=",
        coordinates);
  return (x + 0.5) / a.scale - 0.5;
}

std::int64_t nearest(double x, const std::string& rounding) {
  const double at = rounding == "floor"               ? std::floor(x)
                    : rounding == "ceil"              ? std::ceil(x)
                    : rounding == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                      : std::ceil(x - 0.5);
  return static_cast<std::int64_t>(at);
}

/// Returns the weights of the elements from floor(x) - taps / 2 + 1 on.
std::vector<double> weights_at(double fraction, const Style& style) {
  if (style.mode == "linear") return {1 - fraction, fraction};
  const double a = style.cubic, r = fraction, s = 1 - r;
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(1 + r), near(r), near(s), far(1 + s)};
}

/// Returns the matrix (to, from) that resizes an axis.
Tensor matrix_of(const Axis& a, const Style& style) {
  const Tensor matrix = Tensor::empty({a.to, a.from}, DType::Float64);
  double* row = matrix.pointer<double>();
  std::fill(row, row + matrix.size(), 0);
  for (std::int64_t i = 0; i < a.to; ++i, row += a.from) {
    const double x = source_of(i, a, style.coordinates), first = std::floor(x);
    std::vector<double> weights = weights_at(x - first, style);
    const double begin = first - static_cast<double>(weights.size()) / 2 + 1;
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double at = begin + static_cast<double>(k), last = static_cast<double>(a.from - 1);
      if (style.exclude_outside && (at < 0 || at > last)) continue;
      row[static_cast<std::int64_t>(std::clamp(at, 0., last))] += weights[k];
      sum += weights[k];
    }
    if (style.exclude_outside)
      for (std::int64_t k = 0; k < a.from; ++k) row[k] /= sum;
  }
  return matrix;
}

Tensor resized_axis(const Tensor& x, int axis, const Axis& a, const Style& style) {
  if (style.mode == "nearest") {
    Numbers places;
    for (std::int64_t i = 0; i < a.to; ++i)
      places.push_back(std::clamp<std::int64_t>(nearest(source_of(i, a, style.coordinates), style.rounding),
                                                0, a.from - 1));
    return ops::take(x, indices_of(places), axis);
  }
  const Tensor matrix = K::cast(K::transpose(matrix_of(a, style)), x.dtype());
  return ops::moveaxis(ops::matmul(ops::moveaxis(x, axis, -1), matrix), -1, axis);
}

/// Replaces what "tf_crop_and_resize" shows from outside of x.
Tensor extrapolated(const Tensor& y, const std::vector<Axis>& axes, const Style& style, double value) {
  Tensor result = y;
  for (int i = 0; i < y.ndim(); ++i) {
    const Axis& a = axes[static_cast<std::size_t>(i)];
    Numbers outside;
    for (std::int64_t k = 0; k < a.to; ++k) {
      const double x = source_of(k, a, style.coordinates);
      outside.push_back(x < 0 || x > static_cast<double>(a.from - 1));
    }
    const Tensor mask = K::cast(along_axis(indices_of(outside), i, y.ndim()), DType::Bool);
    result = K::where(mask, number(value, y.dtype()), result);
  }
  return result;
}

std::vector<double> reals(const Tensor& x) {
  const Tensor wide = doubles(x);
  return {wide.pointer<double>(), wide.pointer<double>() + wide.size()};
}

std::vector<double> scales_of(const Call& call) {
  const Attribute* const given = call.find("scales");
  if (given) return {given->reals.begin(), given->reals.end()};
  const std::size_t input = call.opset >= 11 && call.node.op == "Resize" ? 2 : 1;
  return call.has(input) ? reals(call[input]) : std::vector<double>();
}

std::vector<Axis> axes_of_call(const Call& call) {
  const Tensor& x = call[0];
  const std::vector<double> scales = scales_of(call);
  const Numbers sizes = call.has(3) ? whole(call[3]) : Numbers();
  std::vector<Axis> all;
  for (const std::int64_t extent : x.shape()) all.push_back({extent, extent, 1});
  Numbers names = call.integers("axes");
  if (names.empty())
    for (int i = 0; i < x.ndim(); ++i) names.push_back(i);
  const std::vector<int> axes = axes_of(names, x.ndim());
  if ((sizes.empty() ? scales.size() : sizes.size()) != axes.size())
    fail("[onnx] scales or sizes must have a number for each of ", axes.size(), " axes: received ",
         sizes.empty() ? scales.size() : sizes.size());
  double common = 1;
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  for (std::size_t i = 0; !sizes.empty() && policy != "stretch" && i < axes.size(); ++i) {
    const double ratio =
        static_cast<double>(sizes[i]) / static_cast<double>(all[static_cast<std::size_t>(axes[i])].from);
    common = i == 0 ? ratio : policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
  }
  const std::vector<double> roi =
      call.opset >= 11 && call.has(1) &&
              call.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
          ? reals(call[1])
          : std::vector<double>();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis& a = all[static_cast<std::size_t>(axes[i])];
    const double from = static_cast<double>(a.from);
    if (sizes.empty()) {
      if (!(scales[i] > 0 && scales[i] * from < 2e9))
        fail("[onnx] a scale must be positive: received ", scales[i]);
      a.scale = scales[i], a.to = static_cast<std::int64_t>(std::floor(from * scales[i]));
    } else {
      if (sizes[i] < 0 || sizes[i] > 2'000'000'000)
        fail("[onnx] a size must be 0 to 2e9: received ", sizes[i]);
      a.to = policy == "stretch" ? sizes[i] : static_cast<std::int64_t>(std::floor(common * from + 0.5));
      a.scale = policy == "stretch" ? static_cast<double>(sizes[i]) / from : common;
    }
    if (roi.size() == 2 * axes.size()) a.begin = roi[i], a.end = roi[i + axes.size()];
  }
  return all;
}

Tensors resize(const Call& call) {
  const bool first = call.opset < 11 || call.node.op == "Upsample";
  const Style style{call.text("mode", "nearest"),
                    call.text("coordinate_transformation_mode", first ? "asymmetric" : "half_pixel"),
                    call.text("nearest_mode", first ? "floor" : "round_prefer_floor"),
                    call.real("cubic_coeff_a", -0.75), call.flag("exclude_outside")};
  if (call.flag("antialias")) fail("[onnx] a resize must be without antialias: received antialias=1");
  if (style.mode != "nearest" && style.mode != "linear" && style.mode != "cubic")
    fail("[onnx] the mode must be nearest, linear or cubic: received mode=", style.mode);
  const std::vector<Axis> axes = axes_of_call(call);
  Tensor y = call[0];
  for (int i = 0; i < y.ndim(); ++i) {
    const Axis& a = axes[static_cast<std::size_t>(i)];
    if (a.from == 0) fail("[onnx] an axis must have elements: received shape=", call[0].shape());
    if (a.to != a.from || a.scale != 1 || a.begin != 0 || a.end != 1) y = resized_axis(y, i, a, style);
  }
  if (style.coordinates == "tf_crop_and_resize")
    y = extrapolated(y, axes, style, call.real("extrapolation_value", 0));
  return {y};
}

}  // namespace

void add_resizing(OperatorTable& t) { t["Resize"] = resize, t["Upsample"] = resize; }

}  // namespace ktape::nn::onnx
