#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/protobuf_writer.hpp>
#include <ktape/nn/saving/onnx/messages.hpp>
#include <ktape/nn/saving/onnx/writing/model_file.hpp>
#include <ktape/ops/settings/version.hpp>

#include <optional>

namespace ktape::nn::onnx {
namespace {

using data::ProtobufWriter;

/// Initializers of fewer bytes stay in the file, because shapes must be readable without the second file.
constexpr std::uint64_t least_outside = 1024;
constexpr std::uint64_t alignment = 64;

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), static_cast<std::size_t>(data::tensor_bytes(tensor))};
}

/// Returns the fields of a TensorProto but for the elements.
ProtobufWriter tensor_head(const std::string& name, const Tensor& tensor) {
  ProtobufWriter out;
  out.packed(1, Integers(tensor.shape().begin(), tensor.shape().end()));
  out.integer(2, code_of(tensor.dtype()));
  if (!name.empty()) out.bytes(8, name);
  return out;
}

ProtobufWriter whole_tensor(const std::string& name, const Tensor& tensor) {
  ProtobufWriter out = tensor_head(name, tensor);
  out.bytes(9, bytes_of(tensor));
  return out;
}

ProtobufWriter pair(const std::string& key, const std::string& value) {
  ProtobufWriter out;
  out.bytes(1, key);
  out.bytes(2, value);
  return out;
}

ProtobufWriter written(const Port& port) {
  ProtobufWriter shape, tensor, type, out;
  for (int axis = 0; axis < port.shape.rank(); ++axis) {
    ProtobufWriter dim;
    const auto at = static_cast<std::size_t>(axis);
    if (port.shape[axis] != None) dim.integer(1, port.shape[axis]);
    else if (at < port.extents.size() && !port.extents[at].empty()) dim.bytes(2, port.extents[at]);
    shape.message(1, dim);
  }
  tensor.integer(1, code_of(port.dtype));
  tensor.message(2, shape);
  type.message(1, tensor);
  out.bytes(1, port.name);
  out.message(2, type);
  return out;
}

/// Returns an input or output of the body of a loop, whose shape is inferred.
ProtobufWriter body_port(const std::string& name, DType dtype) {
  ProtobufWriter tensor, type, out;
  tensor.integer(1, code_of(dtype));
  type.message(1, tensor);
  out.bytes(1, name);
  out.message(2, type);
  return out;
}

ProtobufWriter written(const WrittenNode& node);

ProtobufWriter written(const WrittenGraph& graph) {
  ProtobufWriter out;
  for (const WrittenNode& node : graph.nodes) out.message(1, written(node));
  out.bytes(2, "body");
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    out.message(11, body_port(graph.inputs[i], graph.input_types[i]));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    out.message(12, body_port(graph.outputs[i], graph.output_types[i]));
  return out;
}

/// Writes the value of an attribute, and the code of its type.
struct AttributeVisitor {
  ProtobufWriter& out;
  void operator()(std::int64_t value) const { out.integer(3, value), out.integer(20, 2); }
  void operator()(float value) const { out.real32(2, value), out.integer(20, 1); }
  void operator()(const std::string& value) const { out.bytes(4, value), out.integer(20, 3); }
  void operator()(const Integers& values) const { out.packed(8, values), out.integer(20, 7); }
  void operator()(const std::vector<float>& values) const { out.packed(7, values), out.integer(20, 6); }
  void operator()(const Names& values) const {
    for (const std::string& value : values) out.bytes(9, value);
    out.integer(20, 8);
  }
  void operator()(const Tensor& value) const { out.message(5, whole_tensor("", value)), out.integer(20, 4); }
  void operator()(const std::shared_ptr<const WrittenGraph>& value) const {
    out.message(6, written(*value)), out.integer(20, 5);
  }
};

ProtobufWriter written(const WrittenNode& node) {
  ProtobufWriter out;
  for (const std::string& input : node.inputs) out.bytes(1, input);
  for (const std::string& output : node.outputs) out.bytes(2, output);
  out.bytes(3, node.name);
  out.bytes(4, node.op);
  for (const auto& [name, value] : node.attributes) {
    ProtobufWriter attribute;
    attribute.bytes(1, name);
    std::visit(AttributeVisitor{attribute}, value);
    out.message(5, attribute);
  }
  return out;
}

/// The second file, in which large initializers stand one after the other.
class OuterFile {
 public:
  OuterFile(const char* op, const std::string& path)
      : file_(op, path + ".data"), name_(path.substr(path.rfind('/') + 1) + ".data") {}

  ProtobufWriter add(const std::string& name, const Tensor& tensor) {
    if (const std::uint64_t beyond = file_.size() % alignment; beyond != 0)
      file_.write(std::string(static_cast<std::size_t>(alignment - beyond), '\0'));
    ProtobufWriter out = tensor_head(name, tensor);
    out.message(13, pair("location", name_));
    out.message(13, pair("offset", std::to_string(file_.size())));
    out.message(13, pair("length", std::to_string(data::tensor_bytes(tensor))));
    out.integer(14, 1);
    file_.write(bytes_of(tensor));
    return out;
  }
  void commit() { file_.commit(); }

 private:
  saving::AtomicFile file_;
  std::string name_;
};

/// A message that ends in the elements of a tensor, which are not copied.
struct Part {
  ProtobufWriter head;
  std::string_view elements;

  std::uint64_t size() const { return head.content().size() + elements.size(); }
};

std::int64_t ir_version(std::int64_t opset) { return opset <= 18 ? 8 : opset <= 20 ? 9 : 10; }

ProtobufWriter model_head(const GraphWriter& graph, const ModelFacts& facts) {
  ProtobufWriter model, opset;
  model.integer(1, ir_version(graph.opset()));
  model.bytes(2, "ktape");
  model.bytes(3, backend::version());
  if (!facts.doc_string.empty()) model.bytes(6, facts.doc_string);
  opset.bytes(1, "");
  opset.integer(2, graph.opset());
  model.message(8, opset);
  for (const auto& [key, value] : facts.metadata) model.message(14, pair(key, value));
  return model;
}

}  // namespace

void write_model(const char* op, const std::string& path, const GraphWriter& graph, const ModelFacts& facts) {
  saving::AtomicFile file(op, path);
  std::uint64_t all = 0;
  for (const auto& [name, tensor] : graph.initializers()) all += data::tensor_bytes(tensor);
  std::optional<OuterFile> outer;
  if (all > facts.most_inside) outer.emplace(op, path);

  std::vector<Part> parts(1);
  ProtobufWriter& fields = parts[0].head;
  for (const WrittenNode& node : graph.all_nodes()) fields.message(1, written(node));
  fields.bytes(2, facts.name);
  for (const Port& port : facts.inputs) fields.message(11, written(port));
  for (const Port& port : facts.outputs) fields.message(12, written(port));
  for (const auto& [name, tensor] : graph.initializers()) {
    const std::string_view elements = bytes_of(tensor);
    Part part;
    if (outer && elements.size() >= least_outside) {
      part.head.message(5, outer->add(name, tensor));
    } else {
      ProtobufWriter inner = tensor_head(name, tensor);
      inner.begin(9, elements.size());
      part.head.begin(5, inner.content().size() + elements.size());
      part.elements = elements;
      parts.push_back({part.head, {}});
      part.head = inner;
    }
    parts.push_back(part);
  }
  std::uint64_t size = 0;
  for (const Part& part : parts) size += part.size();
  ProtobufWriter model = model_head(graph, facts);
  model.begin(7, size);
  file.write(model.content());
  for (const Part& part : parts) file.write(part.head.content()), file.write(part.elements);
  if (outer) outer->commit();
  file.commit();
}

}  // namespace ktape::nn::onnx
