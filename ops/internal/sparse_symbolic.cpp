#include <ktape/ops/internal/sparse_symbolic.hpp>

#include <algorithm>
#include <cstring>

namespace ktape::backend {
namespace {

constexpr const char* sparse_op = "sparse";

SparseTensor assembled(const Tensor& indices, const Tensor& values, const Tensor& dense_shape) {
  return SparseTensor(indices, values, as_shape(dense_shape));
}

}  // namespace

Tensor as_tensor(const Shape& shape) {
  Tensor out = Tensor::empty({shape.rank()}, DType::Int64);
  std::copy(shape.begin(), shape.end(), out.pointer<std::int64_t>());
  return out;
}

Shape as_shape(const Tensor& tensor) {
  return Shape(tensor.data<std::int64_t>(), static_cast<int>(tensor.size()));
}

Tensor sparse_from(const SparseParts& parts, const Shape& shape) {
  const auto dense = [](const Tensor& indices, const Tensor& values, const Tensor& dense_shape) {
    return to_dense(assembled(indices, values, dense_shape));
  };
  return defer(sparse_op, {shape, parts.values.dtype()}, dense, parts.indices, parts.values,
               parts.dense_shape);
}

std::optional<SparseParts> sparse_parts(const Tensor& x) {
  if (!is_symbolic(x) || x.get()->symbol->op() != sparse_op) return std::nullopt;
  const auto operands = x.get()->symbol->operands();
  return SparseParts{operands[0].tensor, operands[1].tensor, operands[2].tensor};
}

Tensor dot_later(const SparseParts& x, const Shape& x_shape, const Tensor& y) {
  const auto run = [](const Tensor& indices, const Tensor& values, const Tensor& dense_shape,
                      const Tensor& y) { return dot(assembled(indices, values, dense_shape), y); };
  const bool known = x_shape.rank() == 2 && y.ndim() == 2 && x_shape[1] != None && y.shape()[0] != None;
  if (x_shape.rank() != 2 || y.ndim() != 2 || (known && x_shape[1] != y.shape()[0]))
    fail("[dot] a sparse x and y must be matrices with one inner extent: received x=", x_shape,
         ", y=", y.shape());
  return defer("dot", {{x_shape[0], y.shape()[1]}, y.dtype()}, run, x.indices, x.values, x.dense_shape, y);
}

Tensor concatenate_later(const std::vector<Tensor>& sparse, int axis) {
  std::vector<Tensor> indices, values, shapes;
  Shape shape = sparse[0].shape();
  const int at = canonical_axis("concatenate", axis, shape.rank());
  for (const Tensor& x : sparse) {
    const SparseParts parts = *sparse_parts(x);
    indices.push_back(parts.indices), values.push_back(parts.values), shapes.push_back(parts.dense_shape);
    if (x.ndim() != shape.rank())
      fail("[concatenate] the tensors must have one rank: received ", shape, " and ", x.shape());
    if (indices.size() > 1)
      shape[at] = shape[at] == None || x.shape()[at] == None ? std::int64_t{None} : shape[at] + x.shape()[at];
  }
  const auto run = [at](const std::vector<Tensor>& indices, const std::vector<Tensor>& values,
                        const std::vector<Tensor>& shapes) {
    std::vector<SparseTensor> tensors;
    for (std::size_t i = 0; i < indices.size(); ++i)
      tensors.push_back(assembled(indices[i], values[i], shapes[i]));
    const SparseTensor joined = concatenate(tensors, at);
    return std::vector{joined.indices(), joined.values(), as_tensor(joined.shape())};
  };
  const std::vector<Tensor> parts = defer(
      "concatenate",
      {{{None, shape.rank()}, DType::Int64}, {{None}, sparse[0].dtype()}, {{shape.rank()}, DType::Int64}},
      run, indices, values, shapes);
  return sparse_from({parts[0], parts[1], parts[2]}, shape);
}

}  // namespace ktape::backend
