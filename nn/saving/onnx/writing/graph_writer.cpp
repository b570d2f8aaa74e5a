#include <ktape/nn/saving/onnx/messages.hpp>
#include <ktape/nn/saving/onnx/writing/graph_writer.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::nn::onnx {
namespace K = backend;

namespace {

Tensor tensor_of(const Integers& values, const Shape& shape) {
  return Tensor::from_buffer(values.data(), values.size() * sizeof(std::int64_t), shape, DType::Int64);
}

bool is_identity(const Integers& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

}  // namespace

std::string GraphWriter::unique(const std::string& wish) {
  std::string name = wish;
  while (!names_.insert(name).second) name = wish + '_' + std::to_string(++counts_[wish]);
  return name;
}

void GraphWriter::enter(const std::string& scope) {
  scopes_.push_back(scope_);
  scope_ += scope + '/';
}
void GraphWriter::leave() {
  scope_ = scopes_.back();
  scopes_.pop_back();
}

Names GraphWriter::nodes(const std::string& op, const Names& inputs, const Attributes& attributes,
                         std::size_t outputs) {
  WrittenNode node{op, {}, inputs, {}, attributes};
  while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
  for (std::size_t i = 0; i < outputs; ++i)
    node.outputs.push_back(unique(scope_ + op + (i == 0 ? "" : '_' + std::to_string(i))));
  node.name = node.outputs[0];
  nodes_.push_back(node);
  return node.outputs;
}

std::string GraphWriter::constant(const Tensor& values, const std::string& hint) {
  const auto found = constants_.find(values.get());
  if (found != constants_.end()) return found->second;
  const std::string name = unique(hint.empty() ? scope_ + "constant" : hint);
  initializers_.emplace_back(name, values);
  return constants_[values.get()] = name;
}

std::string GraphWriter::derived(const Tensor& from, const std::string& form,
                                 const std::function<Tensor()>& make, const std::string& hint) {
  std::string& name = derived_[{from.get(), form}];
  if (name.empty()) {
    name = constant(make(), hint);
    sources_.push_back(from);
  }
  return name;
}

std::string GraphWriter::integers(const Integers& values) {
  std::string key = "i";
  for (const std::int64_t value : values) key += ' ' + std::to_string(value);
  std::string& name = small_[key];
  if (name.empty())
    name = constant(tensor_of(values, {static_cast<std::int64_t>(values.size())}), "integers");
  return name;
}

std::string GraphWriter::integer(std::int64_t value) {
  std::string& name = small_['s' + std::to_string(value)];
  if (name.empty()) name = constant(tensor_of({value}, {}), "integer");
  return name;
}

std::string GraphWriter::number(double value, DType dtype) {
  const Tensor tensor = K::cast(K::constant(value, {.dtype = DType::Float64}), dtype);
  const std::string bits(static_cast<const char*>(tensor.raw()), dtype.size());
  std::string& name = small_[std::string("n ") + dtype.name() + ' ' + bits];
  if (name.empty()) name = constant(tensor, "number");
  return name;
}

std::string GraphWriter::cast(const std::string& x, DType from, DType to) {
  return from == to ? x : node("Cast", {x}, {{"to", code_of(to)}});
}

std::string GraphWriter::transposed(const std::string& x, const Integers& permutation) {
  std::string from = x;
  Integers order = permutation;
  if (const auto before = transpositions_.find(x); before != transpositions_.end()) {
    from = before->second.from;
    for (std::int64_t& axis : order) axis = before->second.permutation[static_cast<std::size_t>(axis)];
  }
  if (is_identity(order)) return from;
  std::string& name = transposed_[{from, order}];
  if (name.empty()) {
    name = node("Transpose", {from}, {{"perm", order}});
    transpositions_[name] = {from, order};
  }
  return name;
}

std::string GraphWriter::reshaped(const std::string& x, const Integers& shape) {
  return node("Reshape", {x, integers(shape)});
}
std::string GraphWriter::squeezed(const std::string& x, const Integers& axes) {
  return axes.empty() ? x : node("Squeeze", {x, integers(axes)});
}
std::string GraphWriter::unsqueezed(const std::string& x, const Integers& axes) {
  return axes.empty() ? x : node("Unsqueeze", {x, integers(axes)});
}
std::string GraphWriter::sliced(const std::string& x, int axis, std::int64_t begin, std::int64_t end,
                                std::int64_t step) {
  return node("Slice", {x, integers({begin}), integers({end}), integers({axis}), integers({step})});
}
std::string GraphWriter::extent(const std::string& x, int axis) {
  return node("Shape", {x}, {{"start", std::int64_t{axis}}, {"end", std::int64_t{axis} + 1}});
}

std::string GraphWriter::reduced(const std::string& op, const std::string& x, const Integers& axes,
                                 bool keepdims) {
  const std::int64_t keep = keepdims;
  if (axes.empty()) return node(op, {x}, {{"keepdims", keep}});
  if (opset_ >= 18 || op == "ReduceSum") return node(op, {x, integers(axes)}, {{"keepdims", keep}});
  return node(op, {x}, {{"axes", axes}, {"keepdims", keep}});
}

void GraphWriter::begin_graph(const Names& inputs, const std::vector<DType>& types) {
  outer_.push_back({std::move(nodes_), transpositions_, transposed_, inputs, types});
  nodes_.clear();
}

std::shared_ptr<const WrittenGraph> GraphWriter::end_graph(const Names& outputs,
                                                           const std::vector<DType>& types) {
  auto graph = std::make_shared<WrittenGraph>();
  Names own;
  for (const std::string& output : outputs) own.push_back(node("Identity", {output}));
  remove_unused(own);
  Body& body = outer_.back();
  *graph = {std::move(nodes_), body.inputs, own, body.types, types};
  nodes_ = std::move(body.nodes);
  transpositions_ = std::move(body.transpositions);
  transposed_ = std::move(body.transposed);
  outer_.pop_back();
  return graph;
}

namespace {

void rename(std::vector<WrittenNode>& nodes, const std::string& from, const std::string& to) {
  for (WrittenNode& node : nodes) {
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    std::replace(node.outputs.begin(), node.outputs.end(), from, to);
    for (auto& [name, value] : node.attributes)
      if (const auto* graph = std::get_if<std::shared_ptr<const WrittenGraph>>(&value)) {
        auto copy = std::make_shared<WrittenGraph>(**graph);
        rename(copy->nodes, from, to);
        value = std::shared_ptr<const WrittenGraph>(copy);
      }
  }
}

void collect_uses(const WrittenNode& node, std::set<std::string>& used) {
  used.insert(node.inputs.begin(), node.inputs.end());
  for (const auto& [name, value] : node.attributes)
    if (const auto* graph = std::get_if<std::shared_ptr<const WrittenGraph>>(&value)) {
      for (const WrittenNode& inner : (*graph)->nodes) collect_uses(inner, used);
      used.insert((*graph)->outputs.begin(), (*graph)->outputs.end());
    }
}

}  // namespace

bool GraphWriter::set_output(const std::string& name, const std::string& wish) {
  const auto makes = [&](const WrittenNode& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), name) != node.outputs.end();
  };
  const bool made = std::any_of(nodes_.begin(), nodes_.end(), makes);
  outputs_.insert(wish);
  if (made && !outputs_.contains(name)) {
    rename(nodes_, name, wish);
    return true;
  }
  nodes_.push_back({"Identity", "identity/" + wish, {name}, {wish}, {}});
  return false;
}

void GraphWriter::remove_unused(const Names& outputs) {
  std::set<std::string> used(outputs.begin(), outputs.end());
  std::vector<WrittenNode> kept;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const WrittenNode& node = nodes_[i];
    const auto is_used = [&](const std::string& name) { return used.contains(name); };
    if (!std::any_of(node.outputs.begin(), node.outputs.end(), is_used)) continue;
    collect_uses(node, used);
    kept.push_back(node);
  }
  std::reverse(kept.begin(), kept.end());
  nodes_ = std::move(kept);
  if (!outer_.empty()) return;
  std::erase_if(initializers_, [&](const auto& initializer) { return !used.contains(initializer.first); });
}

}  // namespace ktape::nn::onnx
