#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <functional>

namespace ktape::nn::saving {
namespace K = backend;
namespace {

/// Returns the number of gates of a kernel, recurrent kernel and bias of cuDNN; 0 for weights in another
/// layout.
std::int64_t gates_of(const Tensor& kernel, const Tensor& recurrent, const Tensor& bias) {
  if (kernel.shape().rank() != 2 || recurrent.shape().rank() != 2 || bias.shape().rank() != 1) return 0;
  const std::int64_t units = recurrent.shape()[0], width = recurrent.shape()[1];
  if (units == 0 || kernel.shape()[1] != width || bias.shape()[0] != 2 * width) return 0;
  return width == 3 * units || width == 4 * units ? width / units : 0;
}

/// Returns the kernels of the gates, each changed by f, side by side again.
Tensor by_gate(const Tensor& kernels, std::int64_t gates, const std::function<Tensor(const Tensor&)>& f) {
  std::vector<Tensor> changed;
  for (const Tensor& kernel : K::split(kernels, gates, 1)) changed.push_back(f(kernel));
  return K::concatenate(changed, 1);
}

}  // namespace

std::vector<Tensor> without_cudnn(const std::vector<Tensor>& weights) {
  std::vector<Tensor> converted = weights;
  if (weights.size() != 3 && weights.size() != 6) return converted;
  for (std::size_t i = 0; i + 2 < weights.size(); i += 3) {
    const Tensor &kernel = weights[i], &recurrent = weights[i + 1], &bias = weights[i + 2];
    const std::int64_t gates = gates_of(kernel, recurrent, bias);
    if (gates == 0) return weights;
    // The numbers of a kernel, read in order, are the rows of the kernel's transpose.
    converted[i] = by_gate(kernel, gates, [](const Tensor& k) {
      return K::transpose(K::reshape(k, {k.shape()[1], k.shape()[0]}));
    });
    converted[i + 1] = by_gate(recurrent, gates, [](const Tensor& k) { return K::transpose(k); });
    const std::vector<Tensor> biases = K::split(bias, 2, 0);
    converted[i + 2] = gates == 4 ? biases[0] + biases[1] : K::reshape(bias, {2, bias.shape()[0] / 2});
  }
  return converted;
}

}  // namespace ktape::nn::saving
