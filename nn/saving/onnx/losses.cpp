#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns -weight[class] * log probability of the class, reduced as the node says.
Tensor likelihood(const Call& call, const Tensor& log_probability) {
  const Tensor target = K::cast(call[1], DType::Int64);
  const std::int64_t classes = log_probability.shape()[1], ignored = call.integer("ignore_index", -1);
  const Tensor counted =
      call.find("ignore_index") ? K::not_equal(target, ignored) : K::greater_equal(target, -classes);
  const Tensor safe = K::where(counted, from_zero(target, classes), 0);
  for (const std::int64_t i : whole(safe))
    if (i < 0 || i >= classes) fail("[onnx] a class must be in [0, ", classes, "): received ", i);
  Tensor weight = K::cast(counted, log_probability.dtype());
  if (call.has(2)) weight = weight * ops::take(call[2], safe, 0);
  const Tensor chosen = K::squeeze(ops::take_along_axis(log_probability, K::expand_dims(safe, 1), 1), 1);
  const Tensor loss = -chosen * weight;
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return loss;
  return reduction == "sum" ? K::sum(loss) : K::sum(loss) / K::sum(weight);
}

Tensors negative_log_likelihood(const Call& call) { return {likelihood(call, call[0])}; }

Tensors softmax_cross_entropy(const Call& call) {
  const Tensor log_probability = K::log_softmax(call[0], 1);
  return {likelihood(call, log_probability), log_probability};
}

}  // namespace

void add_losses(OperatorTable& t) {
  t["NegativeLogLikelihoodLoss"] = negative_log_likelihood,
  t["SoftmaxCrossEntropyLoss"] = softmax_cross_entropy;
}

}  // namespace ktape::nn::onnx
