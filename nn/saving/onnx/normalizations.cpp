#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <numeric>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

struct Normalized {
  Tensor value, mean, deviation_inverse;
};

/// Returns x with mean 0 and variance 1 over the axes.
Normalized normalized(const Tensor& x, const std::vector<int>& axes, double epsilon) {
  const Tensor mean = K::mean(x, axes, true), centered = x - mean;
  const Tensor inverse = 1 / K::sqrt(K::mean(centered * centered, axes, true) + epsilon);
  return {centered * inverse, mean, inverse};
}

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> axes;
  for (int i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

Tensors batch_normalization(const Call& call) {
  const Tensor& x = call[0];
  const double epsilon = call.real("epsilon", 1e-5), momentum = call.real("momentum", 0.9);
  const int axis = x.ndim() > 1 ? 1 : 0;
  if (!call.flag("training_mode"))
    return {ops::batch_normalization(x, K::cast(call[3], x.dtype()), K::cast(call[4], x.dtype()), axis,
                                     K::cast(call[2], x.dtype()), K::cast(call[1], x.dtype()), epsilon)};
  std::vector<int> axes = axes_from(2, x.ndim());
  axes.insert(axes.begin(), 0);
  const Tensor mean = K::mean(x, axes), variance = K::var(x, axes);
  return {ops::batch_normalization(x, mean, variance, axis, call[2], call[1], epsilon),
          call[3] * momentum + mean * (1 - momentum), call[4] * momentum + variance * (1 - momentum)};
}

Tensors instance_normalization(const Call& call) {
  const Tensor& x = call[0];
  return {normalized(x, axes_from(2, x.ndim()), call.real("epsilon", 1e-5)).value *
              along_axis(call[1], 1, x.ndim()) +
          along_axis(call[2], 1, x.ndim())};
}

Tensors layer_normalization(const Call& call) {
  const Tensor& x = call[0];
  const int axis = axes_of({call.integer("axis", -1)}, x.ndim())[0];
  const Normalized n = normalized(x, axes_from(axis, x.ndim()), call.real("epsilon", 1e-5));
  const Tensor y = n.value * call[1];
  return {call.has(2) ? y + call[2] : y, n.mean, n.deviation_inverse};
}

/// Returns a vector for each channel; a vector for each group, as in opset 18, is repeated.
Tensor per_channel(const Tensor& vector, std::int64_t channels, int rank) {
  const std::int64_t times = vector.size() > 0 ? channels / vector.size() : 1;
  return along_axis(times == 1 ? vector : K::repeat_elements(vector, times, 0), 1, rank);
}

Tensors group_normalization(const Call& call) {
  const Tensor& x = call[0];
  const std::int64_t groups = call.integer("num_groups", 0), channels = x.shape()[1];
  if (groups < 1 || channels % groups != 0)
    fail("[onnx] num_groups must divide the channels, ", channels, ": received num_groups=", groups);
  const Tensor parts = K::reshape(x, {x.shape()[0], groups, -1});
  const Tensor y = K::reshape(normalized(parts, {2}, call.real("epsilon", 1e-5)).value, x.shape());
  return {y * per_channel(call[1], channels, x.ndim()) + per_channel(call[2], channels, x.ndim())};
}

Tensors mean_variance_normalization(const Call& call) {
  const Tensor& x = call[0];
  const std::vector<int> axes = axes_of(call.integers("axes", {0, 2, 3}), x.ndim());
  const Tensor centered = x - K::mean(x, axes, true);
  return {centered / (K::sqrt(K::mean(centered * centered, axes, true)) + 1e-9)};
}

Tensors local_response_normalization(const Call& call) {
  const Tensor& x = call[0];
  const std::int64_t size = call.integer("size", 0);
  if (x.ndim() < 2) fail("[onnx] x must have channels: received shape=", x.shape());
  if (size < 1 || size > (1 << 20)) fail("[onnx] size must be 1 or more: received size=", size);
  std::vector<K::PaddingPair> pairs(static_cast<std::size_t>(x.ndim()), K::PaddingPair(0));
  pairs[1] = {(size - 1) / 2, size / 2};
  const Tensor squares = K::pad(x * x, pairs);
  Tensor sum;
  for (std::int64_t i = 0; i < size; ++i) {
    const Tensor part = strided(squares, 1, i, x.shape()[1]);
    sum = sum.defined() ? sum + part : part;
  }
  const Tensor scale = call.real("bias", 1) + call.real("alpha", 1e-4) / static_cast<double>(size) * sum;
  return {x / K::pow(scale, call.real("beta", 0.75))};
}

Tensors lp_normalization(const Call& call) {
  const int axis = axes_of({call.integer("axis", -1)}, call[0].ndim())[0];
  const Tensor& x = call[0];
  return {x /
          (call.integer("p", 2) == 1 ? K::sum(K::abs(x), axis, true) : K::sqrt(K::sum(x * x, axis, true)))};
}

}  // namespace

void add_normalizations(OperatorTable& t) {
  t["BatchNormalization"] = batch_normalization, t["InstanceNormalization"] = instance_normalization;
  t["LayerNormalization"] = layer_normalization, t["GroupNormalization"] = group_normalization;
  t["MeanVarianceNormalization"] = mean_variance_normalization, t["LRN"] = local_response_normalization;
  t["LpNormalization"] = lp_normalization;
}

}  // namespace ktape::nn::onnx
