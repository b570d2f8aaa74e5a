#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/kernels/network/network.hpp>

#include <optional>
#include <string>
#include <vector>

/// The description of a network that layers write, for plans. Internal: sources only.
namespace ktape::backend {

/// The window of a convolution or of pooling over images with channels last.
struct WindowOptions {
  std::vector<std::int64_t> size{1, 1}, strides{1, 1}, dilation{1, 1};
  std::string padding = "valid";  ///< "valid" or "same"
};

/// Builds a network of float32 ops on images (rank 4, channels last) and rows (rank 2). Each function adds a
/// node and returns its index, or none where the network cannot compute the op.
class NetworkBuilder {
 public:
  using Node = std::optional<int>;

  int input(const Shape& shape);
  const std::vector<std::int64_t>& shape(int node) const {
    return network_.nodes[static_cast<std::size_t>(node)].shape;
  }

  /// Adds `conv2d` or `depthwise_conv2d`, and a bias if `bias` is defined.
  Node convolution(int x, const Variable& kernel, const Variable& bias, const WindowOptions& window,
                   bool depthwise = false);
  /// Adds the product of rows and a matrix.
  Node product(int x, const Variable& kernel, const Variable& bias);
  /// Adds `batch_normalization` along the last axis. gamma and beta may be undefined.
  Node normalization(int x, const Variable& gamma, const Variable& beta, const Variable& mean,
                     const Variable& variance, double epsilon);
  Node function(int x, const kernels::ElementFunction& f);
  /// Adds the activation with a name of Keras, with default arguments.
  Node activation(int x, const std::string& name);
  Node sum(int a, int b);
  Node concatenation(const std::vector<int>& inputs);
  Node pooling(int x, const WindowOptions& window, bool maximum);
  /// Adds the maximum or the mean of each channel.
  Node global_pooling(int x, bool maximum, bool keepdims);
  /// Adds zeros around images.
  Node padding(int x, const std::array<std::int64_t, 2>& before, const std::array<std::int64_t, 2>& after);
  Node reshape(int x, const Shape& shape);

  const kernels::Network& network() const { return network_; }
  const std::vector<Variable>& weights() const { return weights_; }
  /// Returns the number of multiplications of a run.
  std::int64_t products() const;
  void set_outputs(const std::vector<int>& outputs) { network_.outputs = outputs; }

 private:
  kernels::NetworkNode like(kernels::NetworkNode::Kind kind, int x) const;
  bool windowed(kernels::NetworkNode& node, int x, const WindowOptions& window) const;
  int add(kernels::NetworkNode node);
  int weight(const Variable& variable);

  kernels::Network network_;
  std::vector<Variable> weights_;
};

}  // namespace ktape::backend
