#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

Tensors matmul(const Call& call) { return {ops::matmul(call[0], call[1])}; }

Tensors gemm(const Call& call) {
  const Tensor a = call.flag("transA") ? K::transpose(call[0]) : call[0];
  const Tensor b = call.flag("transB") ? K::transpose(call[1]) : call[1];
  if (a.ndim() != 2 || b.ndim() != 2)
    fail("[onnx] A and B must be matrices: received shapes ", a.shape(), " and ", b.shape());
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  Tensor y = ops::matmul(a, b);
  if (alpha != 1) y = y * alpha;
  if (call.has(2) && beta != 0) y = y + (beta == 1 ? call[2] : call[2] * beta);
  return {y};
}

Tensors einsum(const Call& call) { return {ops::einsum(call.text("equation", ""), TensorList(call.inputs))}; }
Tensors determinant(const Call& call) { return {ops::det(call[0])}; }

}  // namespace

void add_products(OperatorTable& t) {
  t["MatMul"] = matmul, t["Gemm"] = gemm, t["Einsum"] = einsum, t["Det"] = determinant;
}

}  // namespace ktape::nn::onnx
