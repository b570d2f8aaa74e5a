#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns the smallest number of a dtype: the padding that never wins.
double lowest(DType dtype) {
  switch (dtype.kind()) {
    case DType::Bool:
    case DType::UInt8:
      return 0;
    case DType::Int8:
      return -128;
    case DType::Int16:
      return -32768;
    case DType::Int32:
      return std::numeric_limits<std::int32_t>::min();
    case DType::Int64:
      return static_cast<double>(std::numeric_limits<std::int64_t>::min());
    default:
      return -std::numeric_limits<double>::infinity();
  }
}

/// Calls f, for each place in a window, with the elements at this place of all windows over padded x.
template <class F>
void each_place(const Tensor& x, const Windows& w, F f) {
  const std::size_t axes = w.kernel.size();
  Numbers place(axes, 0);
  const std::int64_t count =
      std::accumulate(w.kernel.begin(), w.kernel.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t k = 0; k < count; ++k) {
    Tensor part = x;
    for (std::size_t i = 0; i < axes; ++i)
      part = strided(part, static_cast<int>(i) + 2, place[i] * w.dilations[i], w.outputs[i], w.strides[i]);
    f(part);
    for (std::size_t i = axes; i-- > 0;) {
      if (++place[i] < w.kernel[i]) break;
      place[i] = 0;
    }
  }
}

bool plain(const Windows& w, const Tensor& x) {
  return x.dtype().is_floating() && x.ndim() <= 5 &&
         std::all_of(w.dilations.begin(), w.dilations.end(), [](std::int64_t d) { return d == 1; });
}

/// Returns the flat place of each element of x within its sample and channel axes, counted over all of x.
Tensor flat_places(const Call& call) {
  const Tensor& x = call[0];
  const Tensor counted = K::reshape(K::arange(0, x.size(), 1, {.dtype = DType::Int64}), x.shape());
  if (call.integer("storage_order", 0) == 0) return counted;
  Shape order{0, 1};  // column-major: the last axis varies slowest
  Shape reversed{x.shape()[0], x.shape()[1]};
  for (int i = x.ndim() - 1; i >= 2; --i) order.push_back(i), reversed.push_back(x.shape()[i]);
  return K::permute_dimensions(K::reshape(counted, reversed), order);
}

Tensors max_pool(const Call& call) {
  const Tensor& x = call[0];
  const Windows w = windows_of(call, x, {});
  const Tensor wide = padded(x, w.before, w.after, lowest(x.dtype()));
  if (plain(w, x) && !call.wants(1))
    return {ops::max_pool(wide, w.kernel, {.strides = w.strides, .data_format = "channels_first"})};
  Tensors values, places;
  each_place(wide, w, [&](const Tensor& part) { values.push_back(part); });
  if (call.wants(1))
    each_place(padded(flat_places(call), w.before, w.after), w,
               [&](const Tensor& part) { places.push_back(part); });
  Tensor best = values[0], at = call.wants(1) ? places[0] : Tensor();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Tensor better = K::greater(values[i], best);
    best = K::where(better, values[i], best);
    if (call.wants(1)) at = K::where(better, places[i], at);
  }
  return {best, at};
}

Tensor window_sum(const Tensor& x, const Windows& w) {
  if (plain(w, x)) {
    const double count = std::accumulate(w.kernel.begin(), w.kernel.end(), 1., std::multiplies<>());
    return ops::average_pool(x, w.kernel, {.strides = w.strides, .data_format = "channels_first"}) * count;
  }
  Tensor sum;
  each_place(x, w, [&](const Tensor& part) { sum = sum.defined() ? sum + part : part; });
  return sum;
}

Tensors average_pool(const Call& call) {
  const Tensor& x = call[0];
  const Windows w = windows_of(call, x, {});
  const auto is_zero = [](std::int64_t n) { return n == 0; };
  const bool inside = std::all_of(w.before.begin(), w.before.end(), is_zero) &&
                      std::all_of(w.after.begin(), w.after.end(), is_zero);
  if (inside && plain(w, x))
    return {ops::average_pool(x, w.kernel, {.strides = w.strides, .data_format = "channels_first"})};
  const bool include = call.flag("count_include_pad");
  Shape shape = x.shape();
  shape[0] = shape[1] = 1;
  Numbers before = w.before, after = w.after, none(w.kernel.size(), 0);
  Tensor ones = K::ones(shape, {.dtype = x.dtype()});
  if (include) {  // elements that only ceil_mode adds are never counted
    const Numbers pads = call.integers("pads", Numbers(2 * w.kernel.size(), 0));
    const bool automatic = call.text("auto_pad", "NOTSET").starts_with("SAME");
    Numbers given = automatic
                        ? w.after
                        : Numbers(pads.begin() + static_cast<std::ptrdiff_t>(w.kernel.size()), pads.end());
    ones = padded(ones, w.before, given, 1);
    before = none;
    for (std::size_t i = 0; i < given.size(); ++i) after[i] -= given[i];
  }
  return {window_sum(padded(x, w.before, w.after), w) / window_sum(padded(ones, before, after), w)};
}

Axes spatial(const Tensor& x) {
  std::vector<int> axes;
  for (int i = 2; i < x.ndim(); ++i) axes.push_back(i);
  if (axes.empty()) fail("[onnx] x must have spatial axes: received shape=", x.shape());
  return axes;
}

Tensors lp_pool(const Call& call) {
  const Windows w = windows_of(call, call[0], {});
  const double p = static_cast<double>(call.integer("p", 2));
  return {K::pow(window_sum(padded(K::pow(K::abs(call[0]), p), w.before, w.after), w), 1 / p)};
}
Tensors global_lp_pool(const Call& call) {
  const double p = static_cast<double>(call.integer("p", 2));
  return {K::pow(K::sum(K::pow(K::abs(call[0]), p), spatial(call[0]), true), 1 / p)};
}

}  // namespace

void add_pooling(OperatorTable& t) {
  t["MaxPool"] = max_pool, t["AveragePool"] = average_pool, t["LpPool"] = lp_pool,
  t["GlobalLpPool"] = global_lp_pool;
  t["GlobalAveragePool"] = [](const Call& call) { return Tensors{K::mean(call[0], spatial(call[0]), true)}; };
  t["GlobalMaxPool"] = [](const Call& call) { return Tensors{K::max(call[0], spatial(call[0]), true)}; };
}

}  // namespace ktape::nn::onnx
