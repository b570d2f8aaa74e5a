#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/kernels/network/network.hpp>
#include <ktape/ops/kernels/network/nodes/node_kernels.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The description of a network that layers write, for plans. Internal: sources only.
namespace ktape::backend {

/// Returns the numbers of networks on tensors of a dtype: float32, and bfloat16 where the processor multiplies
/// bfloat16; none for other dtypes.
std::optional<kernels::NumberType> network_numbers(DType dtype);

/// The window of a convolution or of pooling over images or sequences with channels last.
struct WindowOptions {
  std::vector<std::int64_t> size{1, 1}, strides{1, 1}, dilation{1, 1};
  std::string padding = "valid";  ///< "valid", "same" or "explicit"; for sequences also "causal"
  std::vector<std::int64_t> before = {}, after = {};  ///< the padding of each axis, for "explicit"
};

/// The parameters of a recurrent cell. The bias may be undefined.
struct RecurrentWeights {
  Variable kernel, recurrent_kernel, bias;
};
struct RecurrentLoop {
  bool relu = false;  ///< of a simple cell: relu in place of tanh
  bool go_backwards = false, return_sequences = false;
};

/// Builds a network of ops on tensors of float32 or bfloat16 with 2 to 5 axes: the batch first, channels last.
/// Each function adds a node and returns its index, or none where the network cannot compute the op. A node has
/// the numbers of its first input; an op on inputs of both types is none.
class NetworkBuilder {
 public:
  using Node = std::optional<int>;

  int input(const Shape& shape, kernels::NumberType numbers = kernels::NumberType::Float32);
  const std::vector<std::int64_t>& shape(int node) const {
    return network_.nodes[static_cast<std::size_t>(node)].shape;
  }
  kernels::NumberType numbers(int node) const {
    return network_.nodes[static_cast<std::size_t>(node)].numbers;
  }
  int rank(int node) const { return static_cast<int>(shape(node).size()); }

  /// Adds `conv2d`, `conv1d` or `depthwise_conv2d`, and a bias if `bias` is defined.
  Node convolution(int x, const Variable& kernel, const Variable& bias, const WindowOptions& window,
                   bool depthwise = false);
  /// Adds the product over the last `inner` axes of x and the first of the kernel, whose other axes replace
  /// them.
  Node product(int x, const Variable& kernel, const Variable& bias, int inner = 1);
  /// Adds `batch_normalization` along the last axis. gamma and beta may be undefined.
  Node normalization(int x, const Variable& gamma, const Variable& beta, const Variable& mean,
                     const Variable& variance, double epsilon);
  /// Adds `layer_normalization` over the last `axes` axes. gamma and beta may be undefined.
  Node layer_normalization(int x, const Variable& gamma, const Variable& beta, double epsilon, int axes);
  Node function(int x, const kernels::ElementFunction& f);
  /// Adds the activation with a name of Keras, with default arguments. Refuses softplus and mish, of which
  /// oneDNN loses digits for x below -6.
  Node activation(int x, const std::string& name);
  /// Adds x where x > 0, else x times the slope of its channel.
  Node prelu(int x, const Variable& slope);
  /// Adds softmax along the last axis.
  Node softmax(int x);
  Node sum(int a, int b) { return binary(kernels::BinaryFunction::Add, a, b); }
  /// Adds a function of two tensors of one rank, of which one may be repeated along axes of extent 1.
  Node binary(kernels::BinaryFunction function, int a, int b);
  Node concatenation(const std::vector<int>& inputs);
  Node pooling(int x, const WindowOptions& window, bool maximum);
  /// Adds the maximum or the mean of each channel.
  Node global_pooling(int x, bool maximum, bool keepdims);
  /// Adds zeros around images.
  Node padding(int x, const std::array<std::int64_t, 2>& before, const std::array<std::int64_t, 2>& after);
  /// Returns x with these numbers: x itself, or a cast of x.
  int cast(int x, kernels::NumberType numbers);
  /// Adds other extents for the same elements.
  Node reshape(int x, const Shape& shape);
  /// Makes axis k of the result of axis `axes[k]`.
  Node permutation(int x, const std::vector<int>& axes);
  /// Reverses the steps of sequences.
  Node reversal(int x);
  /// Adds a recurrent cell over sequences that begins with states of zeros.
  Node recurrence(int x, kernels::RecurrentDescription::Cell cell, const RecurrentWeights& weights,
                  const RecurrentLoop& loop);
  /// Adds attention of queries over all keys: (batch, steps, heads, channels) each.
  Node attention(int query, int key, int value, double scale);

  const kernels::Network& network() const { return network_; }
  const std::vector<Variable>& weights() const { return weights_; }
  /// Returns whether a node multiplies, so that compiling can pay.
  bool multiplies() const;
  void set_outputs(const std::vector<int>& outputs) { network_.outputs = outputs; }

 private:
  kernels::NetworkNode like(kernels::NetworkNode::Kind kind, int x) const;
  bool windowed(kernels::NetworkNode& node, int x, const WindowOptions& window) const;
  Node on_images(int x, WindowOptions window, const std::function<Node(int, const WindowOptions&)>& add);
  int add(kernels::NetworkNode node);
  int add_own(std::vector<int> inputs, const Shape& shape, std::shared_ptr<const kernels::NodeKernel> kernel,
              std::vector<int> weights = {});
  int weight(const Variable& variable);

  kernels::Network network_;
  std::vector<Variable> weights_;
};

}  // namespace ktape::backend
