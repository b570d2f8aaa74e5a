#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/base/shape.hpp>
#include <ktape/nn/core/registry.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The options of saving and loading.
namespace ktape::nn {

/// Options of `Model::save` and `Model::save_weights`.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
///     model.save("model.ktape", {.include_optimizer = false});
///     nn::Model same = nn::load_model("model.ktape");
///     Tensor x = K::random_normal({3, 2});
///     std::cout << K::all(K::equal(model(x), same(x)));
struct SaveOptions {
  bool overwrite = true;          ///< false: an existing file is an error
  bool include_optimizer = true;  ///< whether the optimizer's state is saved, if the format allows
  /// The version of Keras that must read the file: 3 (the default), or 2 (2.15): `.h5` in the form of Keras 2,
  /// without later classes and arguments.
  std::optional<int> keras_version = {};
  /// In GB: `save_weights("model.weights.json")` writes files of at most this size. 5 by default, as in Keras.
  std::optional<double> max_shard_size = {};
};

/// An input of an exported model, as Keras's InputSpec says.
///
///     nn::Sequential model({nn::Dense(2, {.input_shape = {3}})});
///     model.export_to(
///         "model.onnx",
///         {.input_signature = {{{None, 3}, ktape::DType::Float32, "pixels"}}});
///     std::cout << nn::onnx::load("model.onnx")
///                      .predict(K::ones({1, 3}), {.verbose = 0})
///                      .shape();
struct InputSignature {
  Shape shape;  ///< with the batch axis; None for an extent that may change from call to call
  DType dtype = DType::Float32;  ///< the dtype of the values
  std::string name = {};         ///< the name in the file; by default the name of the model's input
};

struct ExportOptions {
  std::string format = "onnx";  ///< the only format so far
  bool verbose = false;         ///< whether a line tells what was written
  /// The inputs; by default those of the model, or of the build of a model class of the user.
  std::vector<InputSignature> input_signature = {};
  std::optional<int> opset_version = {};  ///< the version of ONNX's operators, 17 to 21; 18 by default
  std::string doc_string = {};            ///< a text for people, in the file
  std::map<std::string, std::string> metadata = {};  ///< keys and values in the file
  /// Weights of more bytes together are written to a second file, "model.onnx.data". A file of ONNX cannot have
  /// more than 2 GB.
  std::uint64_t most_weights_inside = 1'900'000'000;
};

struct LoadOptions {
  CustomObjects custom_objects = {};  ///< classes that the library does not know, by name
  bool compile = true;                ///< whether the model is compiled, if the file has the arguments
  bool random_state = false;          ///< whether K's random generator gets its state in a `.ktape` file
};

/// A rule for the names of tensors in files that other programs wrote. A tensor whose whole name matches
/// `pattern`, a regular expression (ECMAScript), is the weight `name` of the model, "layer/weight", in which
/// $1 stands for the first group of the pattern. `transpose` permutes the axes, as `K::permute_dimensions`
/// does: {1, 0} for a matrix that is stored as (outputs, inputs), {2, 3, 1, 0} for kernels of convolutions
/// stored as (outputs, inputs, rows, columns).
///
///     model.load_weights("model.safetensors.index.json", {.names = {
///         {R"(bert\.layer\.(\d+)\.output\.weight)", "output_$1/kernel", {1, 0}},
///         {R"(bert\.layer\.(\d+)\.output\.bias)", "output_$1/bias"}}});
///
/// For example:
///
///     nn::save_safetensors("other.safetensors", {{"fc.weight", K::ones({2, 3})}});
///     nn::Sequential model(
///         {nn::Dense(2, {.use_bias = false, .input_shape = {3}, .name = "scores"})});
///     model.load_weights("other.safetensors",
///                        {.names = {{"fc\\.weight", "scores/kernel", {1, 0}}}});
///     std::cout << model.get_layer("scores").weight("kernel").shape();
struct WeightName {
  std::string pattern, name;
  std::vector<int> transpose = {};
};

/// Options of `Model::load_weights`.
///
///     nn::Sequential first({nn::Dense(
///         2, {.kernel_initializer = "ones", .input_shape = {3}, .name = "features"})});
///     first.save_weights("first.safetensors");
///     nn::Sequential second({nn::Dense(2, {.input_shape = {3}, .name = "features"}),
///                            nn::Dense(1, {.name = "score"})});
///     second.load_weights("first.safetensors", {.by_name = true});
///     std::cout << second.get_layer("features").weight("kernel");
struct LoadWeightsOptions {
  /// Whether layers get the weights that were saved under their names; other layers of the model and of the
  /// file are skipped. By default the file must have the weights of this architecture; as in Keras 3,
  /// `.keras` and `.weights.h5` may have more layers.
  bool by_name = false;
  /// Whether layers whose weights differ in number or shape are skipped.
  bool skip_mismatch = false;
  /// Rules for the names in a file that is a single list of tensors (`.safetensors`, its index, `.npz`): the
  /// first rule that matches a tensor's name is applied, and tensors that no rule matches are skipped. Each
  /// weight of the model must get a tensor, unless `by_name` is set, and each renamed tensor must be a weight
  /// of the model. Throws ValueError.
  std::vector<WeightName> names = {};
};

}  // namespace ktape::nn
