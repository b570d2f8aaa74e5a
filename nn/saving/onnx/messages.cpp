#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/onnx/messages.hpp>

namespace ktape::nn::onnx {
namespace {

using data::ProtobufReader;

/// The most nodes, attributes, tensors and names in a file: a message of two bytes must not take hundreds of bytes
/// of memory without a limit.
constexpr std::int64_t most_messages = 2'000'000;

/// Reads messages into structs and counts them.
class Reader {
 public:
  explicit Reader(std::string folder) : folder_(std::move(folder)) {}

  ModelProto model(ProtobufReader in) {
    ModelProto model;
    bool has_graph = false;
    while (in.next()) {
      if (in.field() == 1) model.ir_version = in.integer();
      else if (in.field() == 7) model.graph = graph(in.message()), has_graph = true;
      else if (in.field() == 8) opset(in.message(), model.opsets);
    }
    if (!has_graph) in.fail("there is no graph");
    return model;
  }

 private:
  void count(const ProtobufReader& in) {
    if (++count_ > most_messages)
      in.fail("the graph has more than " + std::to_string(most_messages) + " parts");
  }

  void opset(ProtobufReader in, std::map<std::string, std::int64_t>& opsets) {
    count(in);
    std::string domain;
    std::int64_t version = 0;
    while (in.next()) {
      if (in.field() == 1) domain = in.text();
      else if (in.field() == 2) version = in.integer();
    }
    opsets[domain == "ai.onnx" ? "" : domain] = version;
  }

  Graph graph(ProtobufReader in) {
    count(in);
    Graph graph;
    while (in.next()) switch (in.field()) {
        case 1:
          graph.nodes.push_back(node(in.message()));
          break;
        case 2:
          graph.name = in.text();
          break;
        case 5: {
          count(in);
          std::string name;
          Tensor tensor = tensor_of(in.message(), folder_, &name);
          graph.initializers.emplace_back(name, tensor);
          break;
        }
        case 11:
          graph.inputs.push_back(name_of(in.message())), graph.input_types.push_back(type_of(in.message()));
          break;
        case 12:
          graph.outputs.push_back(name_of(in.message()));
          break;
        case 15:
          in.fail("sparse initializers are not supported");
        default:
          break;
      }
    return graph;
  }

  std::string name_of(ProtobufReader in) {
    count(in);
    std::string name;
    while (in.next())
      if (in.field() == 1) name = in.text();
    return name;
  }

  /// Returns the code in a ValueInfoProto: type.tensor_type.elem_type, which are fields 2, 1 and 1.
  std::int64_t type_of(ProtobufReader in) {
    std::int64_t code = 0;
    while (in.next()) {
      if (in.field() != 2) continue;
      for (ProtobufReader type = in.message(); type.next();) {
        if (type.field() != 1) continue;
        for (ProtobufReader tensor = type.message(); tensor.next();)
          if (tensor.field() == 1) code = tensor.integer();
      }
    }
    return code;
  }

  NodeProto node(ProtobufReader in) {
    count(in);
    NodeProto node;
    while (in.next()) switch (in.field()) {
        case 1:
          count(in), node.inputs.push_back(in.text());
          break;
        case 2:
          count(in), node.outputs.push_back(in.text());
          break;
        case 3:
          node.name = in.text();
          break;
        case 4:
          node.op = in.text();
          break;
        case 5:
          attribute(in.message(), node);
          break;
        case 7:
          node.domain = in.text() == "ai.onnx" ? "" : in.text();
          break;
        default:
          break;
      }
    return node;
  }

  void attribute(ProtobufReader in, NodeProto& node) {
    count(in);
    std::string name;
    Attribute attribute;
    while (in.next()) switch (in.field()) {
        case 1:
          name = in.text();
          break;
        case 2:
          attribute.real = in.real32();
          break;
        case 3:
          attribute.integer = in.integer();
          break;
        case 4:
          attribute.text = in.text();
          break;
        case 5:
          attribute.tensor = tensor_of(in.message(), folder_);
          break;
        case 6:
          attribute.graph = std::make_shared<Graph>(graph(in.message()));
          break;
        case 7:
          in.append(attribute.reals);
          break;
        case 8:
          in.append(attribute.integers);
          break;
        case 9:
          count(in), attribute.text += (attribute.text.empty() ? "" : ",") + in.text();
          break;
        case 21:
          in.fail("the attribute of a function has no value");
        default:
          break;
      }
    node.attributes[name] = std::move(attribute);
  }

  std::string folder_;
  std::int64_t count_ = 0;
};

std::string content_of(const char* op, const std::string& path) {
  const data::RandomFile file(op, path);
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

ModelProto read_model(const char* op, const std::string& path) {
  const std::string bytes = content_of(op, path);
  return Reader(saving::folder_of(path)).model({op, path, bytes});
}

Tensor read_tensor(const char* op, const std::string& path) {
  const std::string bytes = content_of(op, path);
  return tensor_of({op, path, bytes}, saving::folder_of(path));
}

}  // namespace ktape::nn::onnx
