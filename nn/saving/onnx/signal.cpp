#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/fft/fft.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

/// Fourier transforms.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns the last axis cut, or filled with zeros, to n elements.
Tensor with_length(const Tensor& x, std::int64_t n) {
  const std::int64_t given = x.shape()[-1];
  if (given >= n) return K::index(x, {Ellipsis, Slice(0, n)});
  std::vector<K::PaddingPair> paddings(static_cast<std::size_t>(x.ndim()), 0);
  paddings.back() = {0, n - given};
  return K::pad(x, paddings);
}

Tensors dft(const Call& call) {
  const Tensor& x = call[0];
  const std::int64_t numbers = x.ndim() < 2 ? 0 : x.shape()[-1];
  if (numbers != 1 && numbers != 2)
    fail("[onnx] the last axis must have the real and the imaginary part: received shape=", x.shape());
  const std::int64_t given_axis = call.opset < 20 ? call.integer("axis", 1)
                                  : call.has(2)   ? single(call[2])
                                                  : std::int64_t{-2};
  const int axis = axes_of({given_axis}, x.ndim())[0];
  if (axis == x.ndim() - 1) fail("[onnx] axis must not be the last axis: received axis=", given_axis);
  const auto part = [&](int i) { return ops::moveaxis(K::index(x, {Ellipsis, i}), axis, -1); };
  Tensor real = part(0), imag = numbers == 2 ? part(1) : K::zeros_like(real);
  const std::int64_t n = call.has(1) ? single(call[1]) : real.shape()[-1];
  if (n < 1) fail("[onnx] dft_length must be 1 or more: received dft_length=", n);
  real = with_length(real, n), imag = with_length(imag, n);
  if (call.flag("inverse")) {
    const auto [other, sum] = ops::fft({imag, real});
    real = sum / static_cast<double>(n), imag = other / static_cast<double>(n);
  } else {
    const auto found = ops::fft({real, imag});
    real = found.first, imag = found.second;
  }
  const auto back = [&](const Tensor& y) {
    return ops::moveaxis(call.flag("onesided") ? with_length(y, n / 2 + 1) : y, -1, axis);
  };
  return {K::stack({back(real), back(imag)}, -1)};
}

}  // namespace

void add_signal(OperatorTable& t) { t["DFT"] = dft; }

}  // namespace ktape::nn::onnx
