#pragma once
#include <ktape/nn/saving/onnx/writing/graph_writer.hpp>

#include <map>

/// Files of ONNX models. Internal: sources only.
namespace ktape::nn::onnx {

/// An input or output of a model.
struct Port {
  std::string name;
  Shape shape;
  DType dtype;
  Names extents = {};  ///< the names of the unknown extents, one for each axis; empty for known extents
};

struct ModelFacts {
  std::string name, doc_string;
  std::map<std::string, std::string> metadata;
  std::vector<Port> inputs, outputs;
  std::uint64_t most_inside = 0;  ///< the most bytes of initializers in the file; more go to a second file
};

/// Writes a model. With more than `most_inside` bytes of initializers, those of at least 1 kB are written to the
/// file "PATH.data" in the same folder. Throws IOError for a file that cannot be written; the old files remain.
void write_model(const char* op, const std::string& path, const GraphWriter& graph, const ModelFacts& facts);

}  // namespace ktape::nn::onnx
