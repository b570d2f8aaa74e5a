#include <ktape/nn/saving/keras_layers.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "../saving/python.hpp"

#include <ktape/ktape.hpp>

/// Files of weights laid out as those that Keras publishes, written by h5py: each array is filled with a
/// number of its own, so that one in a wrong place is seen.
namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace nn::applications;

namespace {

/// How the files of an application are laid out, over the years.
struct Published {
  const char* application;
  const char*
      weight_names;  ///< "keras 1": "conv_W_1:0" in the layer's group; "nested": "conv/kernel:0" below it
  bool own_group = false;  ///< "top_level_model_weights", since Keras 2.7
};
const std::vector<Published> published{
    {"VGG16", "keras 1"},         {"ResNet50", "nested"},
    {"ResNet50V2", "nested"},     {"InceptionV3", "nested"},
    {"Xception", "nested"},       {"MobileNetV2", "nested"},
    {"DenseNet121", "nested"},    {"MobileNetV3Small", "nested"},
    {"EfficientNetB0", "nested"}, {"ConvNeXtTiny", "nested", true},
};

/// The number that fills a weight in the file.
float fill_of(std::size_t layer, std::size_t weight) {
  return static_cast<float>(layer + 1) + static_cast<float>(weight) / 16;
}

/// The layers of a model as a list in Python: (name, [(name of the weight, shape), ...]).
std::string described(const nn::Model& model) {
  std::ostringstream out;
  out << "layers = [\n";
  for (const nn::Layer& layer : nn::saving::keras_layers(model)) {
    out << "('" << layer.name() << "', [";
    for (const ktape::Variable& weight : layer.weights())
      out << "('" << weight.name().substr(weight.name().rfind('/') + 1) << "', " << weight.shape() << "), ";
    out << "]),\n";
  }
  return out.str() + "]\n";
}

/// Writes weights.h5, with the names of the layers or, as another program would have counted them, "layer_7".
void write_file(const Files& files, const nn::Model& model, const Published& as, bool other_names) {
  python(files, described(model) +
                    "keras_1 = " + (as.weight_names == std::string("keras 1") ? "True" : "False") +
                    "\nown_group = " + (as.own_group ? "True" : "False") +
                    "\nother_names = " + (other_names ? "True" : "False") + R"(
kinds = {'kernel': 'W', 'bias': 'b'}
texts = 'S' if keras_1 else h5py.string_dtype()  # of one length, as h5py 2 wrote them, or each of its own

def name_in_file(layer, weight):
    return f'{layer}_{kinds[weight]}_1:0' if keras_1 else f'{layer}/{weight}:0'

with h5py.File('weights.h5', 'w') as file:
    names = [f'layer_{i}' if other_names else name for i, (name, _) in enumerate(layers)]
    file.attrs['layer_names'] = np.array(names, texts)
    if not keras_1:
        file.attrs['backend'] = b'tensorflow'
        file.attrs['keras_version'] = b'2.4.3'
    for i, (name, (_, weights)) in enumerate(zip(names, layers)):
        group = file.create_group(name)
        group.attrs['weight_names'] = np.array([name_in_file(name, weight) for weight, _ in weights], texts if weights else float)
        for j, (weight, shape) in enumerate(weights):
            kind = 'int64' if weight == 'count' else 'float32'
            group[name_in_file(name, weight)] = np.full(shape, i + 1 + j / 16, kind)
    if own_group:
        file.create_group('top_level_model_weights').attrs['weight_names'] = []
)");
}

/// The first weight that does not have the number that its place in the file has.
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

TEST_CASE("files in the layouts that Keras publishes load, by name, too") {
  if (!has_python("h5py")) return;
  for (const Published& as : published) {
    CAPTURE(as.application);
    const Files files;
    const nn::Model model = application(as.application).make({.include_top = false});
    const std::string path = files.folder() + "/weights.h5";
    write_file(files, model, as, false);
    model.load_weights(path);
    CHECK(misplaced(model) == "none");
    for (const ktape::Variable& weight : model.weights()) K::update(weight, K::zeros_like(weight));
    model.load_weights(path, {.by_name = true});
    CHECK(misplaced(model) == "none");
  }
}

TEST_CASE("layers that another program has counted are found by their position") {
  if (!has_python("h5py")) return;
  const Files files;
  const nn::Model model = InceptionV3({.include_top = false});
  write_file(files, model, {"InceptionV3", "nested"}, true);
  model.load_weights(files.folder() + "/weights.h5");
  CHECK(misplaced(model) == "none");
}

TEST_CASE("a file with the classifier gives its features by name, and its classifier to nobody else") {
  if (!has_python("h5py")) return;
  const Files files;
  const auto make = [](bool top, std::int64_t classes) {
    return MobileNetV2({.alpha = 0.35, .include_top = top, .input_shape = {32, 32, 3}, .classes = classes});
  };
  write_file(files, make(true, 1000), {"MobileNetV2", "nested"}, false);
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
