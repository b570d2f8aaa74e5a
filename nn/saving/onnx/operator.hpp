#pragma once
#include <ktape/nn/saving/onnx/messages.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

/// The operators of ONNX as functions of the library. Internal: sources only.
namespace ktape::nn::onnx {

using Numbers = std::vector<std::int64_t>;
using Tensors = std::vector<Tensor>;

/// Weights in the forms that operators compute with, such as kernels with other axes: computed at the first call, and
/// again for a weight that has changed. Several threads may call at once.
class PreparedWeights {
 public:
  /// Returns prepare(weight). The result is kept for the next call of the node, unless gradients are recorded or the
  /// tensor is no weight.
  Tensor of(const NodeProto& node, const Tensor& weight, Tensor (*prepare)(const Tensor&));

 private:
  struct Entry {
    Tensor weight;  ///< the value from which the form was computed; a value never changes
    Tensor prepared;
  };
  std::mutex mutex_;
  std::map<const NodeProto*, Entry> entries_;
};

/// A node that runs: its attributes and inputs.
struct Call {
  const NodeProto& node;
  const Tensors& inputs;  ///< undefined where left out
  std::int64_t opset;
  /// Runs a graph of an attribute, which may use the tensors around the node.
  const std::function<Tensors(const Graph& graph, const Tensors& inputs)>& run;
  PreparedWeights& weights;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  /// Returns input number i. Throws ValueError if the input is left out.
  const Tensor& operator[](std::size_t i) const;
  std::size_t size() const { return inputs.size(); }
  DType dtype() const { return (*this)[0].dtype(); }
  /// Returns whether a later output than the first is wanted.
  bool wants(std::size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }

  const Attribute* find(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  bool flag(const char* name, bool otherwise = false) const { return integer(name, otherwise) != 0; }
  double real(const char* name, double otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  Numbers integers(const char* name, const Numbers& otherwise = {}) const;
  const Graph& graph(const char* name) const;
  /// Returns the numbers of an attribute, or, where the attribute is missing, of an input.
  Numbers integers_or_input(const char* name, std::size_t input, const Numbers& otherwise = {}) const;
};

using Operator = std::function<Tensors(const Call& call)>;
using OperatorTable = std::map<std::string, Operator>;

/// Returns all operators of the domain "ai.onnx".
const OperatorTable& operator_table();

void add_elementwise(OperatorTable& table);
void add_activations(OperatorTable& table);
void add_reductions(OperatorTable& table);
void add_shapes(OperatorTable& table);
void add_indexing(OperatorTable& table);
void add_convolutions(OperatorTable& table);
void add_pooling(OperatorTable& table);
void add_normalizations(OperatorTable& table);
void add_products(OperatorTable& table);
void add_resizing(OperatorTable& table);
void add_recurrent(OperatorTable& table);
void add_sampling(OperatorTable& table);
void add_signal(OperatorTable& table);
void add_detection(OperatorTable& table);
void add_quantization(OperatorTable& table);
void add_losses(OperatorTable& table);
void add_control_flow(OperatorTable& table);

// --- Helpers of the operators -----------------------------------------------------------------------------

/// Returns the values of an integer tensor. Throws ValueError for a tensor without a value.
Numbers whole(const Tensor& x);
/// Returns the only value of an integer tensor. Throws ValueError for another number of elements.
std::int64_t single(const Tensor& x);
/// Returns the elements as float64. Throws ValueError for a tensor without values.
Tensor doubles(const Tensor& x);
/// Returns an int64 tensor of rank 1.
Tensor indices_of(const Numbers& numbers);
/// Returns a scalar of a dtype.
Tensor number(double value, DType dtype);
/// Returns axes as indices from 0 of a tensor of the rank. Throws ValueError.
std::vector<int> axes_of(const Numbers& axes, int rank);
/// Returns the elements begin, begin + step, ... of an axis.
Tensor strided(const Tensor& x, int axis, std::int64_t begin, std::int64_t count, std::int64_t step = 1);
/// Returns x with a vector along an axis of a tensor of the rank: reshaped, so that the vector broadcasts.
Tensor along_axis(const Tensor& vector, int axis, int rank);
/// Returns int64 indices in which negative indices count from the end.
Tensor from_zero(const Tensor& indices, std::int64_t extent);

/// The windows of a convolution or pooling over the spatial axes.
struct Windows {
  Numbers kernel, strides, dilations, before, after;
  Numbers outputs;  ///< the number of windows along each axis

  std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};
/// Returns the windows of a node over x; with `ceil_mode`, `after` covers the last windows, which may begin
/// inside of x only.
Windows windows_of(const Call& call, const Tensor& x, const Numbers& kernel);
/// Returns x with `value` around the spatial axes.
Tensor padded(const Tensor& x, const Numbers& before, const Numbers& after, double value = 0);
/// Returns the convolution of (samples, channels, spatial...) with a kernel (filters, channels / groups,
/// spatial...).
Tensor convolved(const Call& call, const Tensor& x, const Tensor& kernel);

}  // namespace ktape::nn::onnx
