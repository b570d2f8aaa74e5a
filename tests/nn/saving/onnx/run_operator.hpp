#pragma once
#include <ktape/ktape.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"
#include "onnx_bytes.hpp"

/// Returns the first output of a model with one node, whose inputs are those of the model.
inline ktape::Tensor run_operator(const std::string& op, const std::vector<ktape::Tensor>& inputs,
                                  const std::string& attributes = "", int opset = 17) {
  std::vector<std::string> names;
  std::string declared;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    const int type = inputs[i].dtype() == "int64"   ? 7
                     : inputs[i].dtype() == "int32" ? 6
                     : inputs[i].dtype() == "uint8" ? 2
                     : inputs[i].dtype() == "int8"  ? 3
                                                    : 1;
    declared += onnx_input(names.back(), type);
  }
  const Files files;
  return ktape::nn::onnx::load(files.write("m.onnx", onnx_file(onnx_node(op, names, "y", attributes) +
                                                                   declared + onnx_output("y"),
                                                               opset)))
      .apply(inputs)[0];
}
inline ktape::Tensor reals(const ktape::ArrayLike& value) {
  return ktape::backend::constant(value, {.dtype = "float32"});
}
inline ktape::Tensor longs(const ktape::ArrayLike& value) { return ints(value, "int64"); }
