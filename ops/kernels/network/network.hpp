#pragma once
#include <array>
#include <cstdint>
#include <vector>

/// A network: a graph of the float32 ops that a plan can fuse. Images are (batch, height, width, channels),
/// rows are (batch, units). Passes (passes.hpp) rewrite a network, a Program (program.hpp) runs it.
namespace ktape::kernels {

/// A function that is applied to each element.
struct ElementFunction {
  enum class Kind { Relu, Clip, Elu, Sigmoid, Tanh, Swish, Gelu, GeluTanh, Softplus };
  Kind kind;
  float alpha = 0;  ///< Relu: the slope below 0. Clip: the least result. Elu: the factor below 0
  float beta = 0;   ///< Clip: the largest result
};

/// Normalization of each channel by known statistics: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
/// The members are indices of weights; gamma and beta may be -1, for 1 and 0.
struct ChannelNormalizer {
  int gamma = -1, beta = -1, mean = -1, variance = -1;
  double epsilon = 0;
};

struct NetworkNode {
  enum class Kind {
    Input,
    Convolution,    ///< inputs: x and, optionally, an addend; kernel (height, width, channels, filters)
    Product,        ///< inputs: x and, optionally, an addend; kernel (units of x, units)
    Normalization,  ///< of each channel, by `normalizers`
    Function,       ///< `functions` alone
    Sum,            ///< of two inputs of equal shape
    Concatenation,  ///< along the channels
    MaxPooling,
    AveragePooling,  ///< the mean of the elements of a window that are inside of the image
    Padding,         ///< zeros around images
    Reshape,         ///< other extents for the elements in row-major order
    Softmax          ///< along the units of rows
  };
  Kind kind = Kind::Input;
  std::vector<int> inputs;  ///< indices of earlier nodes
  std::vector<std::int64_t> shape;
  /// The geometry of convolutions, pooling and padding; the index is the spatial axis.
  std::array<std::int64_t, 2> window{1, 1}, strides{1, 1}, dilation{1, 1}, before{0, 0}, after{0, 0};
  bool depthwise = false;
  int kernel = -1, bias = -1;  ///< indices of weights
  /// The steps after a convolution or a product, in this order: the bias, the normalizers, the addend, the
  /// functions.
  std::vector<ChannelNormalizer> normalizers;
  std::vector<ElementFunction> functions;

  bool multiplies() const { return kind == Kind::Convolution || kind == Kind::Product; }
};

struct Network {
  std::vector<NetworkNode> nodes;  ///< in the order of execution
  std::vector<int> outputs;        ///< indices of nodes; no index twice, and no Input
};

}  // namespace ktape::kernels
