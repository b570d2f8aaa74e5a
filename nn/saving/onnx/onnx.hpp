#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>
#include <vector>

/// Models in the format of ONNX (Open Neural Network Exchange), which PyTorch, TensorFlow, Keras and others write.
namespace ktape::nn::onnx {

/// Returns the model in a .onnx file. Floating initializers of rank 1 or more are trainable weights, except the
/// moving statistics of batch normalizations; other floating initializers are weights that are not trainable.
/// Inputs and outputs have the names and the order of the file, and the axes of the file: images are usually
/// (samples, channels, height, width). Dropout and batch normalization run as in inference. Weights that stand in
/// other files of the folder (external data) are read, too.
///
/// Operators are those of the domain "ai.onnx", in the versions of the opsets 6 to 21; `operators()` lists
/// them. uint16 becomes int32, uint32 and uint64 int64. A model runs on values: an op whose
/// result has a shape that depends on values (Reshape to a computed shape, NonZero) needs no symbolic shape. Nodes may
/// stand in any order. Nodes of float16 compute in float32, as in ONNX Runtime; outputs have the dtypes of the file.
///
/// Throws IOError, naming the file, for a file that is missing, truncated or not a model, for a graph with a
/// cycle or a tensor that nothing makes, and for external data that are not in the folder of the file, or that a
/// symbolic link in the folder takes from elsewhere. Throws ValueError, naming the operators, their domain and how many
/// nodes use them, for operators that the library does not have, and for another opset. Errors of a call name the node.
///
///     nn::Model model = nn::onnx::load("resnet50.onnx");
///     Tensor y = model.predict(images);
///
/// For example:
///
///     nn::Sequential model(
///         {nn::Dense(2, {.kernel_initializer = "ones", .input_shape = {3}})});
///     model.export_to("model.onnx");  // or a file that PyTorch wrote
///     nn::Model loaded = nn::onnx::load("model.onnx");
///     std::cout << loaded.predict(K::ones({1, 3}), {.verbose = 0});
Model load(const std::string& path);

/// Returns the names of the operators that `load` accepts, sorted.
std::vector<std::string> operators();

}  // namespace ktape::nn::onnx
