#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/// A network: a graph of the ops that a plan can fuse, on numbers of float32 or bfloat16. The first axis is the batch, the last axis has
/// the channels: images are (batch, height, width, channels), sequences (batch, steps, channels), rows (batch,
/// channels). Passes (passes/passes.hpp) rewrite a network, a Program (program.hpp) runs it.
namespace ktape::kernels {

/// The type of a value's elements. Weights are float32; products and convolutions of bfloat16 round them.
enum class NumberType { Float32, BFloat16 };

/// A function that is applied to each element.
struct ElementFunction {
  enum class Kind { Relu, Clip, Elu, Sigmoid, Tanh, Swish, Gelu, GeluTanh, Exp, Linear };
  Kind kind;
  float alpha =
      0;  ///< Relu: the slope below 0. Clip: the least result. Elu: the factor below 0. Linear: the factor
  float beta = 0;  ///< Clip: the largest result. Linear: the number that is added
};

/// A function of two tensors, element by element.
enum class BinaryFunction { Add, Subtract, Multiply, Maximum, Minimum };

/// Normalization of each channel by known statistics: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
/// The members are indices of weights; gamma and beta may be -1, for 1 and 0.
struct ChannelNormalizer {
  int gamma = -1, beta = -1, mean = -1, variance = -1;
  double epsilon = 0;
};

/// A kernel of ktape's own that computes a node from plain arrays of float32 in row-major order.
class NodeKernel {
 public:
  virtual ~NodeKernel() = default;
  virtual const char* name() const = 0;
  /// Returns the number of multiplications of a run, for the number of threads.
  virtual std::int64_t products() const { return 0; }
  /// Returns the number of floats that `pack` makes of the weights.
  virtual std::size_t packed_size() const { return 0; }
  virtual void pack(const std::vector<const float*>&, float*) const {}
  virtual std::size_t scratch_bytes() const { return 0; }

  /// The arrays of a run.
  struct Arrays {
    std::vector<float*> inputs;
    const float* packed = nullptr;
    void* scratch = nullptr;
    float* output = nullptr;
  };
  virtual void run(const Arrays& arrays) const = 0;
};

struct NetworkNode {
  enum class Kind {
    Input,
    Convolution,    ///< inputs: x and, optionally, an addend; kernel (height, width, channels, filters)
    Product,        ///< inputs: x and, optionally, an addend; kernel (channels of x, channels)
    Normalization,  ///< of each channel, by `normalizers`
    Function,       ///< `functions` alone
    Sum,            ///< of two inputs of equal shape
    Binary,         ///< `binary` of two inputs; the second is repeated along its axes of extent 1
    Concatenation,  ///< along the channels
    MaxPooling,
    AveragePooling,  ///< the mean of the elements of a window that are inside of the image
    Padding,         ///< zeros around images
    Reshape,         ///< other extents for the elements in row-major order
    Cast,            ///< elements of another type
    Softmax,         ///< along the channels
    Own              ///< `own` on `weights`
  };
  Kind kind = Kind::Input;
  std::vector<int> inputs;  ///< indices of earlier nodes
  std::vector<std::int64_t> shape;
  NumberType numbers = NumberType::Float32;  ///< the elements of the result
  /// The geometry of convolutions, pooling and padding; the index is the spatial axis.
  std::array<std::int64_t, 2> window{1, 1}, strides{1, 1}, dilation{1, 1}, before{0, 0}, after{0, 0};
  bool depthwise = false;
  int kernel = -1, bias = -1;  ///< indices of weights
  /// The columns of the kernel that the channels of a product without bias take, -1 for zeros; null if channel c
  /// takes column c.
  std::shared_ptr<const std::vector<int>> columns;
  /// The steps after a convolution or a product, in this order: the bias, the normalizers, the addend, the
  /// functions.
  std::vector<ChannelNormalizer> normalizers;
  std::vector<ElementFunction> functions;
  BinaryFunction binary = BinaryFunction::Add;
  std::shared_ptr<const NodeKernel> own;
  std::vector<int> weights;  ///< of `own`; -1 for a weight that is left out

  bool multiplies() const { return kind == Kind::Convolution || kind == Kind::Product; }
};

struct Network {
  std::vector<NetworkNode> nodes;  ///< in the order of execution
  std::vector<int> outputs;        ///< indices of nodes; no index twice, and no Input
};

}  // namespace ktape::kernels
