#pragma once
#include <ktape/nn/core/registry.hpp>

#include <string>
#include <vector>

/// The options of saving and loading.
namespace ktape::nn {

struct SaveOptions {
  bool overwrite = true;          ///< false: a file that is there is an error
  bool include_optimizer = true;  ///< the state of the optimizer, where the format has a place for it
};

struct LoadOptions {
  CustomObjects custom_objects = {};  ///< classes that the library does not know, by name
  bool compile = true;                ///< compiles the model as in the file, where the file says how
  bool random_state = false;          ///< sets K's random generator to its state in a `.ktape` file
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
struct WeightName {
  std::string pattern, name;
  std::vector<int> transpose = {};
};

struct LoadWeightsOptions {
  /// Layers take the weights that were saved under their name; others on either side are passed over. By
  /// default the file must have the weights of this very architecture; as in Keras 3, `.keras` and
  /// `.weights.h5` may have more layers.
  bool by_name = false;
  /// Passes over the layers whose weights have other shapes or another number.
  bool skip_mismatch = false;
  /// The names of a file that is one list of tensors (`.safetensors`, its index, `.npz`): the first rule that
  /// matches a tensor's name decides, and tensors that no rule matches are passed over. Each weight of the
  /// model must get a tensor, unless `by_name` is set, and each renamed tensor must be a weight of the model.
  /// Throws ValueError.
  std::vector<WeightName> names = {};
};

}  // namespace ktape::nn
