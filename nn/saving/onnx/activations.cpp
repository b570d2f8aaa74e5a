#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/prelu.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

template <class F>
Operator activation(F f) {
  return [f](const Call& call) { return Tensors{f(call[0])}; };
}

/// Applies f along an axis. Before opset 13 the axes from `axis` on count as one axis.
template <class F>
Operator along(F f) {
  return [f](const Call& call) -> Tensors {
    const Tensor& x = call[0];
    const int rank = x.ndim(),
              axis = axes_of({call.integer("axis", call.opset < 13 ? 1 : -1)}, rank + (rank == 0))[0];
    if (rank == 0) return {K::reshape(f(K::reshape(x, {1}), 0), Shape())};
    if (call.opset >= 13) return {f(x, axis)};
    return {K::reshape(f(K::reshape(x, {x.shape().count(0, axis), x.shape().count(axis)}), 1), x.shape())};
  };
}

Tensor hardmax(const Tensor& x, int axis) {
  const Tensor largest = ops::argmax(x, axis, true);
  Shape shape;
  for (int i = 0; i < x.ndim(); ++i) shape.push_back(i == axis ? x.shape()[axis] : 1);
  const Tensor places = K::reshape(K::arange(0, x.shape()[axis], 1, {.dtype = DType::Int64}), shape);
  return K::cast(ops::equal(K::cast(largest, DType::Int64), places), x.dtype());
}

Tensor exp_linear(const Tensor& x, double alpha, double gamma) {
  const Tensor low = ops::minimum(x, 0);
  return gamma * ops::where(x > 0, x, alpha * (K::exp(low) - 1));
}

Tensors hard_sigmoid(const Call& call) {
  return {ops::minimum(ops::maximum(call.real("alpha", 0.2) * call[0] + call.real("beta", 0.5), 0), 1)};
}
Tensors hard_swish(const Call& call) {
  return {call[0] * ops::minimum(ops::maximum(call[0] / 6 + 0.5, 0), 1)};
}
Tensors leaky(const Call& call) {
  const double slope = call.real("alpha", 0.01);
  if (call[0].dtype().is_floating()) return {ops::leaky_relu(call[0], slope)};
  return {ops::where(call[0] < 0, slope * call[0], call[0])};
}
Tensors thresholded(const Call& call) { return {ops::where(call[0] > call.real("alpha", 1), call[0], 0)}; }
Tensors prelu(const Call& call) {
  const Tensor& x = call[0];
  const bool of_channels = call.opset < 7 && call[1].ndim() == 1 && x.ndim() > 1;
  const Tensor slope = of_channels && call[1].size() > 1 ? along_axis(call[1], 1, x.ndim()) : call[1];
  if (x.dtype().is_floating()) return {op_helpers::prelu(x, slope)};
  return {ops::where(x < 0, x * slope, x)};
}
Tensors shrink(const Call& call) {
  const double lambda = call.real("lambd", 0.5), bias = call.real("bias", 0);
  const Tensor& x = call[0];
  const auto shifted = [&](double by) { return K::cast(K::cast(x, DType::Float64) + by, x.dtype()); };
  return {ops::where(x < -lambda, shifted(bias), ops::where(x > lambda, shifted(-bias), 0))};
}
Tensors elu(const Call& call) { return {ops::elu(call[0], call.real("alpha", 1))}; }
Tensors selu(const Call& call) {
  return {exp_linear(call[0], call.real("alpha", 1.67326319217681884765625),
                     call.real("gamma", 1.05070102214813232421875))};
}
Tensors celu(const Call& call) { return {ops::celu(call[0], call.real("alpha", 1))}; }
Tensors gelu(const Call& call) { return {ops::gelu(call[0], call.text("approximate", "none") == "tanh")}; }
Tensors mish(const Call& call) { return {call[0] * K::tanh(K::softplus(call[0]))}; }

}  // namespace

void add_activations(OperatorTable& t) {
  t["Relu"] = activation([](const Tensor& x) { return ops::maximum(x, 0); });
  t["Sigmoid"] = activation(K::sigmoid), t["Softplus"] = activation(K::softplus);
  t["Softsign"] = activation(K::softsign);
  t["HardSigmoid"] = hard_sigmoid, t["HardSwish"] = hard_swish, t["LeakyRelu"] = leaky;
  t["ThresholdedRelu"] = thresholded, t["PRelu"] = prelu, t["Shrink"] = shrink;
  t["Elu"] = elu, t["Selu"] = selu, t["Celu"] = celu, t["Gelu"] = gelu, t["Mish"] = mish;
  t["Softmax"] = along([](const Tensor& x, int axis) { return K::softmax(x, axis); });
  t["LogSoftmax"] = along([](const Tensor& x, int axis) { return K::log_softmax(x, axis); });
  t["Hardmax"] = along(hardmax);
}

}  // namespace ktape::nn::onnx
