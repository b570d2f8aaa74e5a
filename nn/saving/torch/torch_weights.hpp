#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>
#include <utility>
#include <vector>

/// Weights that PyTorch trained, for models of the library.
namespace ktape::nn {

/// Options of `load_torch_weights`.
///
///     nn::Sequential model(
///         {nn::Dense(2, {.use_bias = false, .input_shape = {3}, .name = "scores"})});
///     auto report = nn::load_torch_weights(
///         model, "linear.pt",
///         {.rename = {{"fc\\.weight", "scores/kernel"}, {"fc\\.bias"}}});
///     std::cout << report.matched.size() << " of " << model.weights().size();
struct TorchWeightsOptions {
  /// Rules for the names of tensors, as in `LoadWeightsOptions::names`: the first rule whose pattern matches gives
  /// the weight "layer/weight". The kernel is transposed as the layer needs it, unless the rule has `transpose`. A
  /// rule without a name leaves the tensor out.
  std::vector<WeightName> rename = {};
  /// The layout of the tensors: "torch", (outputs, inputs) for matrices and (outputs, inputs, rows, columns) for
  /// convolutions, or "keras", in which nothing is transposed.
  std::string layout = "torch";
  /// Whether each weight of the model must get a tensor, and each tensor must be used.
  bool strict = true;
};

/// The result of `load_torch_weights`.
struct TorchWeightsReport {
  std::vector<std::pair<std::string, std::string>>
      matched;                       ///< weights of the model, and the names of their tensors
  std::vector<std::string> missing;  ///< weights of the model that got no tensor
  std::vector<std::string> unused;   ///< tensors that no weight got
};

/// Sets the weights of a model to the tensors of a file: `torch.save`d (`data::load_torch`), or Hugging Face's
/// `.safetensors` and `.safetensors.index.json`. Returns what became of each weight and tensor.
///
/// Tensors are matched with weights by the rules of `rename`; then modules of the file, "encoder.0" of
/// "encoder.0.weight", with layers of the same path, "encoder/0"; then the other modules with the other layers by
/// their order. A module becomes a layer as follows:
///
///   Linear                weight (out, in) -> kernel (in, out)
///   Conv1d, 2d, 3d        weight (out, in, ...) -> kernel (..., in, out); depthwise: (channels * m, 1, ...)
///   ConvTranspose         weight (in, out, ...) -> kernel (..., out, in)
///   BatchNorm             weight, bias, running_mean, running_var -> gamma, beta, moving_mean, moving_variance
///   LayerNorm, GroupNorm  weight, bias -> gamma, beta; of RMSNorm weight -> scale
///   Embedding             weight -> embeddings
///   LSTM, GRU, RNN        weight_ih_l0, ... -> kernel, recurrent_kernel, bias, with the gates in Keras's order; a
///                         module of several layers becomes several layers, a bidirectional one Bidirectional
///   MultiheadAttention    in_proj_weight (3 * heads * dim, in), in_proj_bias -> kernels (in, heads, dim) and biases of
///                         query, key and value, a third each; out_proj.weight -> attention_output/kernel. Four modules
///                         Linear, "attention.query" to "attention.attention_output", are accepted, too
///
/// num_batches_tracked is left out. Throws ValueError, naming modules, layers and shapes, for tensors that do not
/// fit, for an unknown layout and, with `strict`, for weights or tensors that are left over; IOError for a file that
/// cannot be read. The model changes only if nothing is thrown.
///
///     const auto report = nn::load_torch_weights(model, "model.pt");
///
/// For example:
///
///     nn::Sequential model({nn::Dense(2, {.input_shape = {3}, .name = "scores"})});
///     auto report = nn::load_torch_weights(model, "linear.pt");
///     for (const auto& [weight, tensor] : report.matched)
///       std::cout << weight << " <- " << tensor << "\n";
///     std::cout << model.get_layer("scores").weight("kernel");
TorchWeightsReport load_torch_weights(const Model& model, const std::string& path,
                                      const TorchWeightsOptions& options = {});

}  // namespace ktape::nn
