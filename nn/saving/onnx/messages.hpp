#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/files/protobuf.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// The messages of ONNX, as far as computing needs them. Internal: sources only.
namespace ktape::nn::onnx {

struct Graph;

struct Attribute {
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  Tensor tensor;
  std::shared_ptr<Graph> graph;
};

struct NodeProto {
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;  ///< an empty name is an argument that is left out
  std::map<std::string, Attribute> attributes;
};

struct Graph {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<std::pair<std::string, Tensor>> initializers;
  std::vector<std::string> inputs, outputs;
  std::vector<std::int64_t> input_types;  ///< codes of TensorProto.DataType; 0 for what is not a tensor
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  ///< the version of each domain; "" is "ai.onnx"
  Graph graph;
};

/// Reads a model with all its tensors. Throws IOError, naming the file.
ModelProto read_model(const char* op, const std::string& path);

/// Reads a file that holds one TensorProto, such as the test data of the ONNX project. Throws IOError.
Tensor read_tensor(const char* op, const std::string& path);

/// Reads a TensorProto; external data are in the folder, which ends with a slash.
Tensor tensor_of(data::ProtobufReader message, const std::string& folder, std::string* name = nullptr);

/// Returns the dtype for a code of TensorProto.DataType, after widening. Throws TypeError, naming the code's type,
/// for a type that no tensor of the library has.
DType dtype_of_code(std::int64_t code);

/// Returns the code of TensorProto.DataType for a dtype.
std::int64_t code_of(DType dtype);

}  // namespace ktape::nn::onnx
