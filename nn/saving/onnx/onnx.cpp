#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/onnx/onnx.hpp>
#include <ktape/nn/saving/onnx/onnx_file.hpp>
#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <list>
#include <mutex>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace ktape::nn::onnx {
namespace {

constexpr std::int64_t first_opset = 6, last_opset = 21;

/// The values of the names in a graph, and in the graphs around it. A chain of nodes of half precision computes in
/// float32, and rounds its results alone, as ONNX Runtime does: sums of many products keep their digits.
struct Scope {
  const Scope* outer;
  std::unordered_map<std::string, Tensor> values;
  std::unordered_map<std::string, DType> halves = {};  ///< the dtypes of values that are kept in float32
  bool has_extents = false;                            ///< whether symbols must have known extents

  const Tensor* find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer)
      if (const auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
    return nullptr;
  }
  /// Returns the dtype that a value has in the file.
  DType dtype(const std::string& name, const Tensor& value) const {
    for (const Scope* scope = this; scope; scope = scope->outer)
      if (const auto found = scope->halves.find(name); found != scope->halves.end()) return found->second;
    return value.dtype();
  }
  /// Returns a value in its dtype of the file.
  Tensor rounded(const std::string& name) const {
    const Tensor& value = *find(name);
    const DType own = dtype(name, value);
    return own == value.dtype() ? value : backend::cast(value, own);
  }
};

/// Returns whether a node must see its inputs in their dtypes: its result depends on the dtypes, or it has graphs, whose
/// results have dtypes of their own.
bool sees_dtypes(const NodeProto& node) {
  static const std::set<std::string> ops{
      "Bernoulli",      "CastLike",         "DequantizeLinear",  "EyeLike",
      "QuantizeLinear", "RandomNormalLike", "RandomUniformLike", "DynamicQuantizeLinear"};
  return ops.contains(node.op) ||
         std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const auto& attribute) { return attribute.second.graph != nullptr; });
}

/// Calls f with each graph in the attributes of a node.
template <class F>
void each_graph(const NodeProto& node, F f) {
  for (const auto& [name, attribute] : node.attributes)
    if (attribute.graph) f(*attribute.graph);
}

/// Calls f with each name that a node uses, also inside of its graphs.
template <class F>
void each_use(const NodeProto& node, F f) {
  for (const std::string& name : node.inputs) f(name);
  each_graph(node, [&](const Graph& graph) {
    for (const NodeProto& inner : graph.nodes) each_use(inner, f);
    for (const std::string& name : graph.outputs) f(name);
  });
}

// --- Checks of a file -------------------------------------------------------------------------------------

/// Checks that each name has one maker, and that all are made before they are used: a graph without cycles.
class GraphChecker {
 public:
  explicit GraphChecker(const std::string& path) : path_(path) {}

  /// The names that are known in a graph, besides those of the graphs around it.
  struct Names {
    const Names* outer;
    std::unordered_set<std::string> own;

    bool contains(const std::string& name) const {
      for (const Names* names = this; names; names = names->outer)
        if (names->own.contains(name)) return true;
      return false;
    }
  };

  /// Checks a graph, and puts its nodes in an order in which each makes what later nodes use: some programs append
  /// nodes that others use.
  void check(Graph& graph, const Names* around = nullptr) {
    Names known{around, {}};
    const auto add = [&](const std::string& name) {
      if (!name.empty() && !known.own.insert(name).second)
        fail_for("the tensor '", printable(name), "' is made twice");
    };
    for (const std::string& name : graph.inputs) add(name);
    std::unordered_set<std::string> initialized;
    for (const auto& [name, tensor] : graph.initializers) {
      if (!initialized.insert(name).second) fail_for("the tensor '", printable(name), "' is made twice");
      known.own.insert(name);
    }
    sort(graph, known);
    for (NodeProto& node : graph.nodes) {
      for (const std::string& name : node.inputs) expect_known(name, known, node.op);
      for (auto& [name, attribute] : node.attributes)
        if (attribute.graph) check(*attribute.graph, &known);
      for (const std::string& name : node.outputs) add(name);
    }
    for (const std::string& name : graph.outputs) expect_known(name, known, "the graph");
  }

 private:
  /// Orders the nodes: each follows those that make its inputs. Nodes of a cycle, and those that use their outputs, come last.
  static void sort(Graph& graph, const Names& known) {
    std::unordered_map<std::string, std::size_t> maker;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string& name : graph.nodes[i].outputs)
        if (!name.empty() && !known.own.contains(name)) maker.emplace(name, i);
    std::vector<std::vector<std::size_t>> users(graph.nodes.size());
    std::vector<std::size_t> missing(graph.nodes.size()), order;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      std::set<std::size_t> makers;
      each_use(graph.nodes[i], [&](const std::string& name) {
        if (const auto found = maker.find(name); found != maker.end()) makers.insert(found->second);
      });
      for (const std::size_t from : makers) users[from].push_back(i);
      missing[i] = makers.size();
    }
    // The first node that can run comes next: a graph in order keeps its order.
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> next;
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i] == 0) next.push(i);
    while (!next.empty()) {
      order.push_back(next.top());
      next.pop();
      for (const std::size_t user : users[order.back()])
        if (--missing[user] == 0) next.push(user);
    }
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i] > 0) order.push_back(i);
    std::vector<NodeProto> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(graph.nodes[i]));
    graph.nodes = std::move(sorted);
  }

  template <class... Parts>
  [[noreturn]] void fail_for(const Parts&... reason) const {
    fail<IOError>("[onnx::load] each tensor of the graph must be made once, without cycles: received ", path_,
                  " (", reason..., ')');
  }
  void expect_known(const std::string& name, const Names& known, const std::string& user) const {
    if (!name.empty() && !known.contains(name))
      fail_for("nothing makes the tensor '", printable(name), "' before ", printable(user), " uses it");
  }
  const std::string& path_;
};

void count_unknown(const Graph& graph, std::map<std::string, int>& unknown) {
  for (const NodeProto& node : graph.nodes) {
    if (!node.domain.empty() || !operator_table().contains(node.op))
      ++unknown[printable(node.op) + " of the domain " +
                (node.domain.empty() ? "ai.onnx" : printable(node.domain))];
    each_graph(node, [&](const Graph& inner) { count_unknown(inner, unknown); });
  }
}

void expect_known_operators(const Graph& graph, const std::string& path) {
  std::map<std::string, int> unknown;
  count_unknown(graph, unknown);
  if (unknown.empty()) return;
  std::string list;
  for (const auto& [name, nodes] : unknown)
    list += (list.empty() ? "" : ", ") + name + " (" + std::to_string(nodes) +
            (nodes == 1 ? " node)" : " nodes)");
  fail("[onnx::load] the operators must be among nn::onnx::operators(): received ", path, " with ", list);
}

std::int64_t opset_of(const ModelProto& model, const std::string& path) {
  const auto found = model.opsets.find("");
  const std::int64_t opset = found == model.opsets.end() ? 0 : found->second;
  if (opset < first_opset || opset > last_opset)
    fail("[onnx::load] the opset must be in [", first_opset, ", ", last_opset, "]: received ", path,
         " with opset=", opset);
  return opset;
}

// --- The model --------------------------------------------------------------------------------------------

/// Returns the names of the moving statistics of batch normalizations.
std::set<std::string> statistics(const Graph& graph) {
  std::set<std::string> names;
  for (const NodeProto& node : graph.nodes)
    if (node.op == "BatchNormalization")
      for (std::size_t i = 3; i < node.inputs.size(); ++i) names.insert(node.inputs[i]);
  return names;
}

/// Returns for each node the names that no later node needs.
std::vector<std::vector<std::string>> last_uses(const Graph& graph) {
  std::unordered_set<std::string> needed(graph.outputs.begin(), graph.outputs.end());
  std::vector<std::vector<std::string>> dead(graph.nodes.size());
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const auto see = [&](const std::string& name) {
      if (!name.empty() && needed.insert(name).second) dead[i].push_back(name);
    };
    each_use(graph.nodes[i], see);
    for (const std::string& name : graph.nodes[i].outputs) see(name);
  }
  return dead;
}

/// An input of a model, which is not one of the initializers.
struct Input {
  std::string name;
  DType dtype;
};

std::vector<Input> inputs_of(const Graph& graph, const std::string& path) {
  std::set<std::string> initialized;
  for (const auto& [name, tensor] : graph.initializers) initialized.insert(name);
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (initialized.contains(graph.inputs[i])) continue;
    try {
      inputs.push_back({graph.inputs[i], dtype_of_code(graph.input_types[i])});
    } catch (const TypeError& error) {
      fail("[onnx::load] the inputs must be tensors of numbers: received ", path, " with the input '",
           printable(graph.inputs[i]), "' (", error.what(), ')');
    }
  }
  return inputs;
}

/// Returns the dtype of a model, to which a layer converts floating inputs: the widest of the inputs.
DType widest(const std::vector<Input>& inputs) {
  DType dtype = DType::Float32;
  bool any = false;
  for (const Input& input : inputs)
    if (input.dtype.is_floating() && (!std::exchange(any, true) || input.dtype.size() > dtype.size()))
      dtype = input.dtype;
  return dtype;
}

class OnnxImpl final : public ModelImpl {
 public:
  OnnxImpl(ModelProto model, std::int64_t opset, std::vector<Input> inputs)
      : ModelImpl("OnnxModel", {.dtype = widest(inputs)}),
        graph_(std::move(model.graph)),
        opset_(opset),
        dead_(last_uses(graph_)),
        inputs_(std::move(inputs)) {
    const std::set<std::string> fixed = statistics(graph_);
    for (auto& [name, tensor] : graph_.initializers) {
      const bool weight = tensor.dtype().is_floating();
      if (!weight) constants_.emplace_back(name, tensor);
      else add_initializer(name, tensor, tensor.ndim() > 0 && !fixed.contains(name));
    }
    graph_.initializers.clear();
  }

  std::vector<std::string> input_names() const override {
    std::vector<std::string> names;
    for (const Input& input : inputs_) names.push_back(input.name);
    return names;
  }
  std::vector<std::string> output_names() const override { return graph_.outputs; }

  std::shared_ptr<CompiledCalls> plans() const override {
    const std::lock_guard lock(tracing_);
    if (traces_.empty() || !traces_.front().graph || !is_current(traces_.front())) return nullptr;
    return {traces_.front().graph, traces_.front().graph->plans()};
  }

  std::vector<Tensor> call(const std::vector<Tensor>& given) {
    if (given.size() != inputs_.size())
      fail("[", name(), "] the model must have ", inputs_.size(), " inputs: received ", given.size());
    std::vector<Tensor> inputs;
    for (const Tensor& x : given) inputs.push_back(accepted_by(inputs_[inputs.size()], x));
    if (CompiledCalls::usable(inputs))
      if (const std::shared_ptr<const LayerGraph> graph = traced(inputs); graph && graph->plans())
        return graph->plans()->run(inputs);
    return computed(inputs);
  }

 private:
  /// Runs the graph on inputs; on symbols of known extents, for a plan, all extents must be known.
  std::vector<Tensor> computed(const std::vector<Tensor>& inputs, bool for_plan = false) const {
    Scope scope{nullptr, {}, {}, for_plan};
    for (const auto& [name, value] : constants_) scope.values.emplace(name, value);
    for (const auto& [name, variable] : variables_)
      scope.values.emplace(name, static_cast<const Tensor&>(variable));
    for (std::size_t i = 0; i < inputs.size(); ++i) scope.values.insert_or_assign(inputs_[i].name, inputs[i]);
    return run(graph_, scope, for_plan ? nullptr : &dead_);
  }

  /// The graph of the ops that compute the outputs from inputs of some shapes, with the weights as constants.
  struct Traced {
    std::vector<OutputInfo> inputs;
    std::vector<Tensor> weights;              ///< the values when the graph was made: a value never changes
    std::shared_ptr<const LayerGraph> graph;  ///< null for shapes that depend on values
  };

  /// Returns whether a graph was made of the present weights.
  bool is_current(const Traced& trace) const {
    return std::equal(
        variables_.begin(), variables_.end(), trace.weights.begin(), trace.weights.end(),
        [](const auto& named, const Tensor& value) { return named.second.value().get() == value.get(); });
  }

  /// Returns the graph for inputs of these shapes and the present weights; null where there is none.
  std::shared_ptr<const LayerGraph> traced(const std::vector<Tensor>& inputs) {
    const auto same = [](const Tensor& x, const OutputInfo& info) {
      return x.shape() == info.shape && x.dtype() == info.dtype;
    };
    const std::lock_guard lock(tracing_);
    const auto found = std::find_if(traces_.begin(), traces_.end(), [&](const Traced& known) {
      return std::equal(inputs.begin(), inputs.end(), known.inputs.begin(), known.inputs.end(), same);
    });
    if (found != traces_.end()) {
      traces_.splice(traces_.begin(), traces_, found);
      if (is_current(traces_.front())) return traces_.front().graph;
      traces_.clear();  // none is of the present weights
    }
    Traced made;
    std::vector<Tensor> symbols;
    for (const Tensor& x : inputs) {
      made.inputs.push_back(info_of(x));
      symbols.push_back(backend::placeholder({.shape = x.shape(), .dtype = x.dtype()}));
    }
    for (const auto& [name, variable] : variables_) made.weights.push_back(variable.value());
    made.graph = graph_of(symbols);
    traces_.push_front(std::move(made));
    constexpr std::size_t most_traces = 4;
    if (traces_.size() > most_traces) traces_.pop_back();
    return traces_.front().graph;
  }

  /// Returns the graph of the ops between the symbols and the outputs; null where an op or a shape needs values, or an op draws
  /// numbers.
  std::shared_ptr<const LayerGraph> graph_of(const std::vector<Tensor>& symbols) const {
    if (draws(graph_)) return nullptr;
    try {
      const std::vector<Tensor> outputs = computed(symbols, true);
      if (!std::all_of(outputs.begin(), outputs.end(), [](const Tensor& x) { return is_symbolic(x); }))
        return nullptr;
      return std::make_shared<const LayerGraph>(name(), symbols, outputs);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      return nullptr;
    }
  }
  static bool draws(const Graph& graph) {
    static const std::set<std::string> random{"Bernoulli",        "Dropout",       "Multinomial",
                                              "RandomNormal",     "RandomUniform", "RandomNormalLike",
                                              "RandomUniformLike"};
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodeProto& node) {
      bool any = random.contains(node.op);
      each_graph(node, [&](const Graph& inner) { any = any || draws(inner); });
      return any;
    });
  }

  /// Converts an input to the dtype of the file. Throws TypeError for floating numbers in place of integers.
  Tensor accepted_by(const Input& input, const Tensor& x) const {
    if (x.dtype().is_floating() && !input.dtype.is_floating())
      fail<TypeError>("[", name(), "] the input '", input.name, "' must be ", input.dtype,
                      ": received dtype=", x.dtype());
    return x.dtype() == input.dtype ? x : backend::cast(x, input.dtype);
  }

  void add_initializer(const std::string& name, const Tensor& tensor, bool trainable) {
    const Variable weight = add_weight(
        name, tensor.shape(), {.initializer = "zeros", .dtype = tensor.dtype(), .trainable = trainable});
    backend::set_value(weight, tensor);
    variables_.emplace_back(name, weight);
  }

  Tensors run(const Graph& graph, Scope& scope, const std::vector<std::vector<std::string>>* dead) const {
    for (const auto& [name, value] : graph.initializers) scope.values.insert_or_assign(name, value);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      run_node(graph.nodes[i], scope);
      if (dead)
        for (const std::string& name : (*dead)[i]) scope.values.erase(name);
    }
    Tensors outputs;
    for (const std::string& name : graph.outputs) outputs.push_back(scope.rounded(name));
    return outputs;
  }

  Tensors run_inner(const Graph& graph, const Scope& around, const Tensors& inputs) const {
    Scope scope{&around, {}, {}, around.has_extents};
    for (std::size_t i = 0; i < inputs.size(); ++i) scope.values.insert_or_assign(graph.inputs[i], inputs[i]);
    return run(graph, scope, nullptr);
  }

  void run_node(const NodeProto& node, Scope& scope) const {
    const bool exact = sees_dtypes(node);
    std::optional<DType> result;  // that of the first floating input
    Tensors inputs;
    for (const std::string& name : node.inputs) {
      Tensor x = name.empty() ? Tensor() : exact ? scope.rounded(name) : *scope.find(name);
      if (x.defined() && x.dtype().is_floating() && !result) result = scope.dtype(name, x);
      if (x.defined() && x.dtype().is_half() && !exact) x = backend::cast(x, DType::Float32);
      inputs.push_back(std::move(x));
    }
    const bool keeps_half = !exact && node.op != "Cast" && result && result->is_half();
    const std::function<Tensors(const Graph&, const Tensors&)> inner =
        [&](const Graph& graph, const Tensors& values) { return run_inner(graph, scope, values); };
    const Tensors outputs = result_of(node, {node, inputs, opset_, inner, prepared_});
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (i >= outputs.size() || !outputs[i].defined())
        fail("[", name(), "] the output ", i, " of ", described(node), " is not computed");
      const Shape& shape = outputs[i].shape();
      if (scope.has_extents && std::find(shape.begin(), shape.end(), None) != shape.end())
        fail("[", name(), "] the output ", i, " of ", described(node), " must have known extents: received ",
             shape);
      scope.values.insert_or_assign(node.outputs[i], outputs[i]);
      if (keeps_half && outputs[i].dtype() == DType::Float32)
        scope.halves.insert_or_assign(node.outputs[i], *result);
    }
  }

  /// Runs a node; errors name the node and keep their type.
  static Tensors result_of(const NodeProto& node, const Call& call) {
    try {
      return operator_table().at(node.op)(call);
    } catch (const TypeError& error) {
      fail<TypeError>(error.what(), " in ", described(node));
    } catch (const ValueError& error) {
      fail<ValueError>(error.what(), " in ", described(node));
    }
  }

  static std::string described(const NodeProto& node) {
    const std::string first = node.outputs.empty() ? "" : node.outputs[0];
    return "the node '" + printable(node.name.empty() ? first : node.name) + "' (" + node.op + ')';
  }

  Graph graph_;
  std::int64_t opset_;
  std::vector<std::vector<std::string>> dead_;  ///< for each node the names that no later node needs
  std::vector<std::pair<std::string, Tensor>> constants_;
  std::vector<std::pair<std::string, Variable>> variables_;
  std::vector<Input> inputs_;
  mutable PreparedWeights prepared_;
  std::list<Traced> traces_;  ///< the last one first
  mutable std::mutex tracing_;
};

}  // namespace

Model load(const std::string& path) {
  return saving::naming_file(path, [&] {
    ModelProto model = read_model("onnx::load", path);
    const std::int64_t opset = opset_of(model, path);
    GraphChecker(path).check(model.graph);
    expect_known_operators(model.graph, path);
    std::vector<Input> inputs = inputs_of(model.graph, path);
    return Model(std::make_shared<OnnxImpl>(std::move(model), opset, std::move(inputs)));
  });
}

std::vector<std::string> operators() {
  std::vector<std::string> names;
  for (const auto& [name, f] : operator_table()) names.push_back(name);
  return names;
}

}  // namespace ktape::nn::onnx

namespace ktape::nn::saving {

const Format onnx_file = {".onnx", nullptr,
                          [](const std::string& path, const LoadOptions&) { return onnx::load(path); },
                          nullptr, nullptr};

}  // namespace ktape::nn::saving
