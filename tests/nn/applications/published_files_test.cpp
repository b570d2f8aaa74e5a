#include "../../hdf5.hpp"

#include <ktape/nn/saving/keras/keras_layers.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "../saving/python.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>
#include <regex>

/// Files of weights laid out as those that Keras publishes, written by h5py: each array is filled with
/// another number, so that an array in a wrong place is found.
namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace nn::applications;

namespace {

using Names = std::vector<std::string>;

/// The layout of the files of an application, which differs between releases.
struct Published {
  const char* application;
  const char*
      weight_names;  ///< "keras 1": "conv_W_1:0" in the layer's group; "nested": "conv/kernel:0" below it
  const char* layer_names = "";  ///< "from 1": automatic ones count from it; "parts": "conv1/bn" for conv1_bn
  bool own_group = false;        ///< "top_level_model_weights", since Keras 2.7
};
const std::vector<Published> published{
    {"VGG16", "keras 1"},
    {"ResNet50", "nested"},
    {"ResNet50V2", "nested"},
    {"InceptionV3", "nested", "from 1"},
    {"Xception", "nested", "from 1"},
    {"MobileNetV2", "nested"},
    {"DenseNet121", "nested", "parts"},
    {"MobileNetV3Small", "nested", "parts"},
    {"EfficientNetB0", "nested"},
    {"ConvNeXtTiny", "nested", "", true},
};

/// Returns the name in a file of a layer that was named automatically: "conv2d" is "conv2d_1", and "conv2d_1"
/// is "conv2d_2".
std::string counted_from_one(const std::string& name) {
  std::smatch parts;
  const std::regex automatic(
      "(input_layer|conv2d|batch_normalization|activation|add|concatenate|average_pooling2d|max_pooling2d)(_("
      "[0-9]+))?");
  if (!std::regex_match(name, parts, automatic)) return name;
  const int number = parts[3].matched ? std::stoi(parts[3]) : 0;
  return parts[1].str() + '_' + std::to_string(number + 1);
}

/// Returns the name in the files of DenseNet121 and MobileNetV3Small: "conv1/bn", "Conv/BatchNorm",
/// "expanded_conv_1/squeeze_excite/Conv_1".
std::string in_parts(std::string name) {
  const auto replaced = [&](const char* pattern, const char* by) {
    name = std::regex_replace(name, std::regex(pattern), by);
  };
  replaced("^conv1_(conv|bn)$", "conv1/$1");
  replaced("^(expanded_conv(_[0-9]+)?)_(expand|depthwise|project|squeeze_excite)", "$1/$3");
  replaced("^conv(_[0-9])?(_bn)?$", "Conv$1$2");
  replaced("^logits$", "Logits");
  replaced("squeeze_excite_conv", "squeeze_excite/Conv");
  if (name.starts_with("Conv") || name.starts_with("expanded")) replaced("_bn$", "/BatchNorm");
  return name;
}

/// Returns the names of a model's layers as the published file has them.
Names names_in_file(const nn::Model& model, const Published& as) {
  const std::string kind = as.layer_names;
  Names names;
  for (const nn::Layer& layer : nn::saving::keras_layers(model))
    names.push_back(kind == "from 1"  ? counted_from_one(layer.name())
                    : kind == "parts" ? in_parts(layer.name())
                                      : layer.name());
  return names;
}

/// Returns the number that fills a weight in the file.
float fill_of(std::size_t layer, std::size_t weight) {
  return static_cast<float>(layer + 1) + static_cast<float>(weight) / 16;
}

/// Returns the layers of a model as a list in Python: (name in the file, [(name of the weight, shape), ...]).
std::string described(const nn::Model& model, const Names& names) {
  std::ostringstream out;
  out << "layers = [\n";
  std::size_t i = 0;
  for (const nn::Layer& layer : nn::saving::keras_layers(model)) {
    out << "('" << names[i++] << "', [";
    for (const ktape::Variable& weight : layer.weights())
      out << "('" << weight.name().substr(weight.name().rfind('/') + 1) << "', " << weight.shape() << "), ";
    out << "]),\n";
  }
  return out.str() + "]\n";
}

/// Writes weights.h5, with these names of layers.
void write_file(const Files& files, const nn::Model& model, const Published& as, const Names& layer_names) {
  python(files, described(model, layer_names) +
                    "keras_1 = " + (as.weight_names == std::string("keras 1") ? "True" : "False") +
                    "\nown_group = " + (as.own_group ? "True" : "False") + R"(
kinds = {'kernel': 'W', 'bias': 'b'}
texts = 'S' if keras_1 else h5py.string_dtype()  # of equal length, as h5py 2 wrote texts, or of any length

def name_in_file(layer, weight):
    return f'{layer}_{kinds[weight]}_1:0' if keras_1 else f'{layer}/{weight}:0'

with h5py.File('weights.h5', 'w') as file:
    names = [name for name, _ in layers]
    file.attrs['layer_names'] = np.array(names, texts)
    if not keras_1:
        file.attrs['backend'] = b'tensorflow'
        file.attrs['keras_version'] = b'2.4.3'
    for i, (name, (_, weights)) in enumerate(zip(names, layers)):
        group = file.require_group(name)  # Conv/BatchNorm is one in that of Conv
        group.attrs['weight_names'] = np.array([name_in_file(name, weight) for weight, _ in weights], texts if weights else float)
        for j, (weight, shape) in enumerate(weights):
            kind = 'int64' if weight == 'count' else 'float32'
            group[name_in_file(name, weight)] = np.full(shape, i + 1 + j / 16, kind)
    if own_group:
        file.create_group('top_level_model_weights').attrs['weight_names'] = []
)");
}

/// Returns the first weight that does not have the number that its place in the file has.
std::string misplaced(const nn::Model& model) {
  const std::vector<nn::Layer> layers = nn::saving::keras_layers(model);
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (std::size_t j = 0; j < layers[i].weights().size(); ++j) {
      const ktape::Variable weight = layers[i].weights()[j];
      const bool whole = weight.name().ends_with("/count");
      const float expected = whole ? std::floor(fill_of(i, j)) : fill_of(i, j);
      if (K::min(weight).item<float>() != expected || K::max(weight).item<float>() != expected)
        return weight.name();
    }
  return "none";
}

}  // namespace

TEST_CASE("files in the layouts that Keras publishes load, by name, too" * needs_hdf5) {
  if (!has_python("h5py")) return;
  for (const Published& as : published) {
    CAPTURE(as.application);
    const Files files;
    K::reset_uids();
    const nn::Model model = application(as.application).make({.include_top = false});
    const std::string path = files.folder() + "/weights.h5";
    const Names names = names_in_file(model, as);
    CHECK((names == names_in_file(model, {})) == (as.layer_names == std::string()));
    write_file(files, model, as, names);
    model.load_weights(path);
    CHECK(misplaced(model) == "none");
    for (const ktape::Variable& weight : model.weights()) K::update(weight, K::zeros_like(weight));
    model.load_weights(path, {.by_name = true});
    CHECK(misplaced(model) == "none");
  }
}

TEST_CASE("the names in published files are those of their time") {
  K::reset_uids();
  const nn::Model inception = InceptionV3({.include_top = false});
  const Names names = names_in_file(inception, {"InceptionV3", "nested", "from 1"});
  // The last layers, as Keras 2.0 lists them.
  const Names last{"activation_85",
                   "mixed9",
                   "conv2d_90",
                   "batch_normalization_90",
                   "activation_90",
                   "conv2d_87",
                   "conv2d_91",
                   "batch_normalization_87",
                   "batch_normalization_91",
                   "activation_87",
                   "activation_91",
                   "conv2d_88",
                   "conv2d_89",
                   "conv2d_92",
                   "conv2d_93",
                   "average_pooling2d_9",
                   "conv2d_86",
                   "batch_normalization_88",
                   "batch_normalization_89",
                   "batch_normalization_92",
                   "batch_normalization_93",
                   "conv2d_94",
                   "batch_normalization_86",
                   "activation_88",
                   "activation_89",
                   "activation_92",
                   "activation_93",
                   "batch_normalization_94",
                   "activation_86",
                   "mixed9_1",
                   "concatenate_2",
                   "activation_94",
                   "mixed10"};
  REQUIRE(names.size() == 311);
  CHECK(Names(names.end() - std::ssize(last), names.end()) == last);
  const auto has = [](const Names& all, const char* name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  const Names mobile = names_in_file(MobileNetV3Small(), {"MobileNetV3Small", "nested", "parts"});
  for (const char* name :
       {"Conv", "Conv/BatchNorm", "expanded_conv/depthwise", "expanded_conv/depthwise/BatchNorm",
        "expanded_conv/squeeze_excite/Conv", "expanded_conv/squeeze_excite/Conv_1", "expanded_conv/project",
        "expanded_conv_10/expand/BatchNorm", "Conv_1/BatchNorm", "Conv_2", "Logits"})
    CHECK_MESSAGE(has(mobile, name), name);
  const Names dense = names_in_file(DenseNet121(), {"DenseNet121", "nested", "parts"});
  for (const char* name : {"conv1/conv", "conv1/bn", "conv2_block1_0_bn", "pool2_conv", "bn"})
    CHECK_MESSAGE(has(dense, name), name);
}

TEST_CASE("layers that another program has counted are found by their position" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const nn::Model model = InceptionV3({.include_top = false});
  Names names;
  for (std::size_t i = 0; i < nn::saving::keras_layers(model).size(); ++i)
    names.push_back("layer_" + std::to_string(i));
  write_file(files, model, {"InceptionV3", "nested"}, names);
  model.load_weights(files.folder() + "/weights.h5");
  CHECK(misplaced(model) == "none");
}

TEST_CASE("an automatic name counts from 1 only where all layers of its kind fit" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const auto make = [](std::int64_t last) {
    K::reset_uids();
    return nn::Sequential({nn::Input({3}), nn::Dense(4), nn::Dense(last)});
  };
  write_file(files, make(5), {"", "nested"}, {"dense_1", "dense_2"});
  const std::string path = files.folder() + "/weights.h5";
  const nn::Sequential same = make(5);
  same.load_weights(path, {.by_name = true});
  CHECK(K::max(same.layers()[0].weights()[0]).item<float>() == 1);
  CHECK(K::max(same.layers()[1].weights()[0]).item<float>() == 2);
  const nn::Sequential other = make(2);
  CHECK_THROWS_WITH_AS(other.load_weights(path, {.by_name = true}), doctest::Contains("'dense_1'"),
                       ktape::ValueError);
}

TEST_CASE("a file with a classifier gives its features by name, and its classifier only to equal classes" *
          needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const auto make = [](bool top, std::int64_t classes) {
    return MobileNetV2({.input_shape = {32, 32, 3}, .alpha = 0.35, .include_top = top, .classes = classes});
  };
  const nn::Model trained = make(true, 1000);
  write_file(files, trained, {"MobileNetV2", "nested"}, names_in_file(trained, {}));
  const std::string path = files.folder() + "/weights.h5";
  const nn::Model whole = make(true, 1000);
  whole.load_weights(path);
  CHECK(misplaced(whole) == "none");
  const nn::Model features = make(false, 1000);
  features.load_weights(path, {.by_name = true});
  CHECK(misplaced(features) == "none");
  CHECK_THROWS_WITH_AS(make(true, 3).load_weights(path),
                       doctest::Contains("'predictions' must have the shape"), ktape::ValueError);
}
