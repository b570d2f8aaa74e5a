#pragma once
#include <ktape/autograd/tensor.hpp>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Graphs of ONNX under construction. Internal: sources only.
namespace ktape::nn::onnx {

using Names = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
struct WrittenGraph;

/// The value of an attribute: an integer, a float, a text, a list, a tensor or a graph.
using AttributeValue = std::variant<std::int64_t, float, std::string, Integers, std::vector<float>, Names,
                                    Tensor, std::shared_ptr<const WrittenGraph>>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

struct WrittenNode {
  std::string op, name;
  Names inputs, outputs;  ///< an empty name is an argument that is left out
  Attributes attributes;
};

/// A graph of an attribute: the body of a loop. Its nodes also use the names of the graph around.
struct WrittenGraph {
  std::vector<WrittenNode> nodes;
  Names inputs, outputs;
  std::vector<DType> input_types, output_types;
};

/// Collects the nodes and initializers of a graph, and gives each tensor a unique name.
class GraphWriter {
 public:
  explicit GraphWriter(std::int64_t opset) : opset_(opset) {}

  std::int64_t opset() const { return opset_; }

  /// Adds a node and returns the names of its outputs, or of its only output.
  Names nodes(const std::string& op, const Names& inputs, const Attributes& attributes, std::size_t outputs);
  std::string node(const std::string& op, const Names& inputs, const Attributes& attributes = {}) {
    return nodes(op, inputs, attributes, 1)[0];
  }

  /// Returns the name of an initializer with the values of a tensor. The same tensor gets one initializer; `hint`
  /// is the name unless another tensor has that name.
  std::string constant(const Tensor& values, const std::string& hint = {});
  /// Returns the name of an initializer that `make` computes from a tensor; one for each tensor and form.
  std::string derived(const Tensor& from, const std::string& form, const std::function<Tensor()>& make,
                      const std::string& hint);
  std::string integers(const Integers& values);
  std::string integer(std::int64_t value);
  std::string number(double value, DType dtype);

  // Frequent nodes. `transposed` removes pairs of transpositions.
  std::string cast(const std::string& x, DType from, DType to);
  std::string transposed(const std::string& x, const Integers& permutation);
  std::string reshaped(const std::string& x, const Integers& shape);
  std::string squeezed(const std::string& x, const Integers& axes);
  std::string unsqueezed(const std::string& x, const Integers& axes);
  std::string sliced(const std::string& x, int axis, std::int64_t begin, std::int64_t end,
                     std::int64_t step = 1);
  /// Returns the extent of an axis as a tensor of shape (1,).
  std::string extent(const std::string& x, int axis);
  /// Reduces over axes; all axes when `axes` is empty.
  std::string reduced(const std::string& op, const std::string& x, const Integers& axes, bool keepdims);

  /// Returns a name that no tensor has, and reserves the name.
  std::string unique(const std::string& wish);
  /// Makes the names of nodes begin with the names of the layers that contain them.
  void enter(const std::string& scope);
  void leave();

  /// Begins the body of a loop, and ends the body with its outputs.
  void begin_graph(const Names& inputs, const std::vector<DType>& types);
  std::shared_ptr<const WrittenGraph> end_graph(const Names& outputs, const std::vector<DType>& types);

  /// Gives the tensor `name` the name `wish`, with a node Identity where the tensor is an input, an initializer or
  /// another output. Returns whether the tensor itself has the name now.
  bool set_output(const std::string& name, const std::string& wish);
  /// Removes the nodes whose outputs nothing uses.
  void remove_unused(const Names& outputs);

  const std::vector<WrittenNode>& all_nodes() const { return nodes_; }
  const std::vector<std::pair<std::string, Tensor>>& initializers() const { return initializers_; }

 private:
  /// A transposition that was written: its input and permutation.
  struct Transposition {
    std::string from;
    Integers permutation;
  };
  struct Body {
    std::vector<WrittenNode> nodes;
    std::map<std::string, Transposition> transpositions;
    std::map<std::pair<std::string, Integers>, std::string> transposed;
    Names inputs;
    std::vector<DType> types;
  };

  std::int64_t opset_;
  std::vector<WrittenNode> nodes_;
  std::vector<std::pair<std::string, Tensor>> initializers_;
  std::set<std::string> names_;
  std::map<std::string, int> counts_;
  std::string scope_;
  Names scopes_;
  std::map<const void*, std::string>
      constants_;  ///< by the address of the tensor, which `initializers_` keeps
  std::map<std::pair<const void*, std::string>, std::string> derived_;
  std::vector<Tensor> sources_;               ///< keeps the tensors whose addresses are keys of `derived_`
  std::map<std::string, std::string> small_;  ///< by content
  std::map<std::string, Transposition> transpositions_;
  std::map<std::pair<std::string, Integers>, std::string> transposed_;
  std::vector<Body> outer_;  ///< the graphs around the body under construction
  std::set<std::string> outputs_;
};

}  // namespace ktape::nn::onnx
