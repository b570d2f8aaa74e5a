#pragma once
#include <ktape/nn/saving/base/format.hpp>

/// ONNX as a format of `load_model`; `Model::export_to` writes the files. Internal: sources only.
namespace ktape::nn::saving {

extern const Format onnx_file;

}  // namespace ktape::nn::saving
