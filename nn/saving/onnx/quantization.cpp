#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Integers are exact in float64, in which the products of quantized tensors are computed.
Tensor exact(const Tensor& x) { return K::cast(x, DType::Float64); }

/// Returns the scale or the zero point of an axis, so that it broadcasts to x.
Tensor parameter(const Call& call, std::size_t i, const Tensor& x) {
  if (call[i].size() == 1) return exact(K::reshape(call[i], Shape()));
  return along_axis(exact(call[i]), axes_of({call.integer("axis", 1)}, x.ndim())[0], x.ndim());
}

/// Rounds to an integer dtype; numbers beyond its range become the nearest number of the range.
Tensor rounded(const Tensor& x, const Tensor& zero, DType dtype) {
  return K::cast(K::round(x) + zero, dtype);
}

Tensors quantize(const Call& call) {
  const Tensor& x = call[0];
  const bool has_zero = call.has(2);
  const Tensor zero = has_zero ? parameter(call, 2, x) : number(0, DType::Float64);
  const Tensor scaled = K::cast(x, DType::Float32) / K::cast(parameter(call, 1, x), DType::Float32);
  return {rounded(exact(scaled), zero, has_zero ? call[2].dtype() : DType::UInt8)};
}

Tensors dequantize(const Call& call) {
  const Tensor& x = call[0];
  const Tensor centered = call.has(2) ? exact(x) - parameter(call, 2, x) : exact(x);
  return {K::cast(centered * parameter(call, 1, x), call[1].dtype())};
}

Tensors dynamic_quantize(const Call& call) {
  const Tensor& x = call[0];
  const Tensor low = K::minimum(K::min(x), 0), high = K::maximum(K::max(x), 0);
  const Tensor scale = (high - low) / 255;
  const Tensor zero = K::clip(K::round(-low / scale), 0, 255);
  return {rounded(exact(x / scale), exact(zero), DType::UInt8), scale, K::cast(zero, DType::UInt8)};
}

/// Returns x minus its zero point, which is a scalar or has a number for each index of an axis.
Tensor centered(const Call& call, std::size_t x, std::size_t zero, int axis) {
  if (!call.has(zero)) return exact(call[x]);
  const Tensor& z = call[zero];
  if (z.size() == 1) return exact(call[x]) - exact(K::reshape(z, Shape()));
  return exact(call[x]) - (z.ndim() == 1 ? along_axis(exact(z), axis, call[x].ndim()) : exact(z));
}

Tensors matmul_integer(const Call& call) {
  return {
      K::cast(ops::matmul(centered(call, 0, 2, call[0].ndim() - 2), centered(call, 1, 3, call[1].ndim() - 1)),
              DType::Int32)};
}

Tensors conv_integer(const Call& call) {
  return {K::cast(convolved(call, centered(call, 0, 2, 1), centered(call, 1, 3, 0)), DType::Int32)};
}

/// Returns a scale so that it broadcasts along an axis of a result.
Tensor scale_of(const Call& call, std::size_t i, int axis, int rank) {
  const Tensor& s = call[i];
  return s.size() == 1   ? exact(K::reshape(s, Shape()))
         : s.ndim() == 1 ? along_axis(exact(s), axis, rank)
                         : exact(s);
}

Tensors qlinear_matmul(const Call& call) {  // a, scale, zero, b, scale, zero, scale and zero of y
  const Tensor y =
      ops::matmul(centered(call, 0, 2, call[0].ndim() - 2), centered(call, 3, 5, call[3].ndim() - 1));
  const Tensor scaled = y * scale_of(call, 1, y.ndim() - 2, y.ndim()) *
                        scale_of(call, 4, y.ndim() - 1, y.ndim()) / scale_of(call, 6, y.ndim() - 2, y.ndim());
  return {rounded(scaled, scale_of(call, 7, y.ndim() - 2, y.ndim()), call[7].dtype())};
}

Tensors qlinear_conv(const Call& call) {  // x, scale, zero, w, scale, zero, scale and zero of y, bias
  Tensor y = convolved(call, centered(call, 0, 2, 1), centered(call, 3, 5, 0));
  if (call.has(8)) y = y + along_axis(exact(call[8]), 1, y.ndim());
  const Tensor scaled =
      y * scale_of(call, 1, 1, y.ndim()) * scale_of(call, 4, 1, y.ndim()) / scale_of(call, 6, 1, y.ndim());
  return {rounded(scaled, scale_of(call, 7, 1, y.ndim()), call[7].dtype())};
}

}  // namespace

void add_quantization(OperatorTable& t) {
  t["QuantizeLinear"] = quantize, t["DequantizeLinear"] = dequantize,
  t["DynamicQuantizeLinear"] = dynamic_quantize;
  t["MatMulInteger"] = matmul_integer, t["ConvInteger"] = conv_integer;
  t["QLinearMatMul"] = qlinear_matmul, t["QLinearConv"] = qlinear_conv;
}

}  // namespace ktape::nn::onnx
