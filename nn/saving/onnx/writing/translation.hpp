#pragma once
#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/nn/operations/operations.hpp>
#include <ktape/nn/saving/onnx/writing/graph_writer.hpp>

#include <concepts>
#include <functional>
#include <map>
#include <span>
#include <string>

/// The operations of the library as nodes of ONNX. Internal: sources only.
///
/// An operation is a row of a table: a function that adds nodes to the graph and returns the names of the results.
/// Rows of operations are found by the name of the operation (nn/operations), rows of symbols by the name of an op
/// that is no operation, and rows of layers by the class of a layer whose ops alone do not tell the arguments.
namespace ktape::nn::onnx {

class Translator;

/// A symbol that becomes nodes.
struct Translation {
  GraphWriter& graph;
  Translator& translator;
  const Symbol& symbol;
  const OperationCall* call = nullptr;  ///< null where the symbol records no operation
  const LayerCall* layer = nullptr;     ///< the call of a layer, for rows of layers

  /// Returns the name of a tensor: of a constant, or of the output of nodes, which are added if necessary.
  std::string name(const Tensor& x) const;
  /// Returns the name of an argument of the operation.
  std::string operator()(const char* argument) const { return name(call->tensor(argument)); }
  Names list(const char* argument) const;
  /// Returns the name of a weight of the layer, in the dtype of the result.
  std::string weight(const Variable& weight) const;
  /// Returns operand number i of the symbol; the value of a variable.
  const Tensor& operand(std::size_t i) const;
  /// Returns the name of operand number i.
  template <std::integral I>
  std::string operator()(I i) const {
    return name(operand(static_cast<std::size_t>(i)));
  }
  const OutputInfo& result(std::size_t i = 0) const { return symbol.outputs()[i]; }
  DType dtype() const { return result().dtype; }

  std::string node(const std::string& op, const Names& inputs, const Attributes& attributes = {}) const {
    return graph.node(op, inputs, attributes);
  }
  /// Returns the value of a variable that an op reads later; other tensors as they are.
  static Tensor known(const Tensor& x);
  /// Returns the initializer that `make` computes from a constant; one for each constant and form.
  std::string derived(const Tensor& from, const std::string& form, const std::function<Tensor()>& make) const;
  /// Returns the initializer or node for x with its axes permuted; constants are permuted now.
  std::string permuted(const Tensor& x, const Integers& permutation) const;
  /// Reports that the arguments have no form in ONNX. Throws ValueError, naming the layer.
  [[noreturn]] void fail(const std::string& reason) const;
};

using Row = std::function<Names(const Translation& t)>;
using RowTable = std::map<std::string, Row>;

// Each function adds the rows of one family.
void add_elementwise_rows(RowTable& operations);
void add_activation_rows(RowTable& operations);
void add_reduction_rows(RowTable& operations);
void add_shape_rows(RowTable& operations);
void add_indexing_rows(RowTable& operations);
void add_product_rows(RowTable& operations);
void add_convolution_rows(RowTable& operations);
void add_composed_rows(RowTable& operations);
void add_array_rows(RowTable& operations);
void add_signal_rows(RowTable& operations);
void add_creation_symbols(RowTable& symbols);
void add_product_symbols(RowTable& symbols);
void add_convolution_symbols(RowTable& symbols);
void add_normalization_symbols(RowTable& symbols);
void add_attention_symbols(RowTable& symbols);
void add_recurrent_symbols(RowTable& symbols);
void add_loop_symbols(RowTable& symbols);
void add_other_symbols(RowTable& symbols);
void add_convolution_layers(RowTable& layers);
void add_normalization_layers(RowTable& layers);
void add_preprocessing_layers(RowTable& layers);

/// Returns axes, counted from the front, as integers.
Integers whole_axes(const Axes& axes, int rank);
/// Returns the extents as integers.
Integers integers_of(const Shape& shape);
/// Returns the permutations between channels last and channels first.
Integers to_channels_first(int rank);
Integers to_channels_last(int rank);
/// Returns the padding "same" of windows over an axis, before and after, for a known extent.
std::pair<std::int64_t, std::int64_t> same_padding(std::int64_t extent, std::int64_t reach,
                                                   std::int64_t stride);

/// Makes nodes from the symbols of a model.
class Translator {
 public:
  explicit Translator(GraphWriter& graph) : graph_(graph) {}

  /// Names a symbolic tensor: an input.
  void set_name(const Tensor& x, const std::string& name);
  /// Names the initializer with the value of a weight.
  void set_hint(const Tensor& value, const std::string& name) { hints_[value.get()] = name; }
  std::string name(const Tensor& x);
  std::string hint(const Tensor& value) const;

  /// Translates the body of a loop: calls f, and forgets the names that f made.
  template <class F>
  auto in_body(F f) {
    const auto before = names_;
    auto result = f();
    names_ = before;
    return result;
  }

  /// Returns the layers that contain the symbol under translation, "model/block/dense"; empty between layers.
  std::string place() const;
  GraphWriter& graph() { return graph_; }

 private:
  using Key = std::pair<const Symbol*, std::uint32_t>;

  void translate(const Ref<Symbol>& wanted);
  Names translated(const Ref<Symbol>& symbol);
  Names of_call(const Symbol& symbol, const LayerCall& call);
  Names of_symbol(const Symbol& symbol);
  Names mask_of(const Symbol& symbol);

  GraphWriter& graph_;
  std::map<Key, std::string> names_;
  std::map<Key, Tensor> masks_;  ///< the masks of the outputs of layers
  std::map<const void*, std::string> hints_;
  std::vector<std::string> layers_;   ///< the names of the layers around
  std::vector<Ref<Symbol>> symbols_;  ///< keeps the symbols whose addresses are keys
  std::vector<Tensor> kept_;
};

}  // namespace ktape::nn::onnx
