#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {

namespace K = backend;

const Tensor& Call::operator[](std::size_t i) const {
  if (!has(i)) fail("[onnx] the input ", i, " must be given: received ", inputs.size(), " inputs");
  return inputs[i];
}

Tensor PreparedWeights::of(const NodeProto& node, const Tensor& weight, Tensor (*prepare)(const Tensor&)) {
  const bool is_weight = weight.node() && weight.node()->leaf();
  if (!is_weight || is_symbolic(weight) || recording(weight)) return prepare(weight);
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[&node];
  if (entry.weight.get() != weight.get()) entry = {weight, prepare(weight)};
  return entry.prepared;
}

const Attribute* Call::find(const char* name) const {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : &found->second;
}

std::int64_t Call::integer(const char* name, std::int64_t otherwise) const {
  const Attribute* const attribute = find(name);
  return attribute ? attribute->integer : otherwise;
}
double Call::real(const char* name, double otherwise) const {
  const Attribute* const attribute = find(name);
  return attribute ? static_cast<double>(attribute->real) : otherwise;
}
std::string Call::text(const char* name, const char* otherwise) const {
  const Attribute* const attribute = find(name);
  return attribute ? attribute->text : otherwise;
}
Numbers Call::integers(const char* name, const Numbers& otherwise) const {
  const Attribute* const attribute = find(name);
  return attribute ? attribute->integers : otherwise;
}
const Graph& Call::graph(const char* name) const {
  const Attribute* const attribute = find(name);
  if (!attribute || !attribute->graph) fail("[onnx] the attribute must be a graph: received ", name);
  return *attribute->graph;
}
Numbers Call::integers_or_input(const char* name, std::size_t input, const Numbers& otherwise) const {
  if (find(name)) return integers(name);
  return has(input) ? whole(inputs[input]) : otherwise;
}

const OperatorTable& operator_table() {
  static const OperatorTable table = [] {
    OperatorTable all;
    for (const auto add :
         {add_elementwise, add_activations, add_reductions, add_shapes, add_indexing, add_convolutions,
          add_pooling, add_normalizations, add_products, add_resizing, add_recurrent, add_sampling,
          add_signal, add_detection, add_quantization, add_losses, add_control_flow})
      add(all);
    return all;
  }();
  return table;
}

Numbers whole(const Tensor& x) {
  expect_value("onnx", x);
  if (!x.dtype().is_integer()) fail<TypeError>("[onnx] numbers must be integers: received dtype=", x.dtype());
  const Tensor wide = K::cast(x, DType::Int64);
  return {wide.pointer<std::int64_t>(), wide.pointer<std::int64_t>() + wide.size()};
}

std::int64_t single(const Tensor& x) {
  if (x.size() != 1) fail("[onnx] there must be one number: received shape=", x.shape());
  return whole(x)[0];
}

Tensor indices_of(const Numbers& numbers) {
  return Tensor::from_buffer(numbers.data(), numbers.size() * sizeof(std::int64_t),
                             {static_cast<std::int64_t>(numbers.size())}, DType::Int64);
}

Tensor doubles(const Tensor& x) {
  expect_value("onnx", x);
  return K::cast(x, DType::Float64);
}

Tensor number(double value, DType dtype) {
  return K::cast(K::constant(value, {.dtype = DType::Float64}), dtype);
}

std::vector<int> axes_of(const Numbers& axes, int rank) {
  std::vector<int> result;
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      fail("[onnx] an axis must be in [", -rank, ", ", rank, "): received axis=", axis);
    result.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  return result;
}

Tensor strided(const Tensor& x, int axis, std::int64_t begin, std::int64_t count, std::int64_t step) {
  if (step == 1) {
    Shape start = x.shape(), size = x.shape();
    for (std::int64_t& at : start) at = 0;
    start[axis] = begin, size[axis] = count;
    return K::slice(x, start, size);
  }
  Numbers places(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = begin + static_cast<std::int64_t>(i) * step;
  return ops::take(x, indices_of(places), axis);
}

Tensor along_axis(const Tensor& vector, int axis, int rank) {
  if (vector.ndim() == 0) return vector;
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(i == axis ? vector.size() : 1);
  return K::reshape(vector, shape);
}

Tensor from_zero(const Tensor& indices, std::int64_t extent) {
  const Tensor wide = K::cast(indices, DType::Int64);
  return K::where(wide < 0, wide + extent, wide);
}

}  // namespace ktape::nn::onnx
