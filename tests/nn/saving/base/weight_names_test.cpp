#include "../../../hdf5.hpp"
#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

/// Returns the tensors of a network under PyTorch's names and in its layouts.
std::vector<std::pair<std::string, Tensor>> foreign() {
  return {{"net.conv.weight", counted({4, 1, 3, 2}, "float32")},  // (outputs, inputs, rows, columns)
          {"net.conv.bias", counted({4}, "float32")},
          {"net.heads.7.weight", counted({3, 4}, "float32")},  // (outputs, inputs)
          {"net.heads.7.bias", counted({3}, "float32")},
          {"net.position_ids", counted({5}, "float32")}};
}

const std::vector<nn::WeightName> names = {{R"(net\.conv\.weight)", "conv/kernel", {2, 3, 1, 0}},
                                           {R"(net\.heads\.(\d+)\.weight)", "head_$1/kernel", {1, 0}},
                                           {R"(net\.heads\.(\d+)\.bias)", "head_$1/bias"},
                                           {R"(net\.(\w+)\.bias)", "$1/bias"}};

nn::Sequential network() {
  return nn::Sequential({nn::Input({6, 6, 1}), nn::Conv2D(4, {3, 2}, {.name = "conv"}),
                         nn::GlobalAveragePooling2D(), nn::Dense(3, {.name = "head_7"})});
}

void check_loaded(const nn::Model& model) {
  const auto weights = model.get_weights();
  CHECK(values(weights[0]) == values(K::permute_dimensions(foreign()[0].second, {2, 3, 1, 0})));
  CHECK(values(weights[1]) == values(foreign()[1].second));
  CHECK(values(weights[2]) == values(K::transpose(foreign()[2].second)));
  CHECK(values(weights[3]) == values(foreign()[3].second));
}

}  // namespace

TEST_CASE("load_weights: names lead from a foreign file's tensors to the weights of a model") {
  const Files files;
  const std::string folder = files.folder() + '/';
  nn::save_safetensors(folder + "model.safetensors", foreign());
  ktape::data::save_npz(folder + "model.npz", foreign());
  const std::string index = files.write("model.safetensors.index.json", R"({"weight_map": {
      "net.conv.weight": "model.safetensors", "net.conv.bias": "model.safetensors",
      "net.heads.7.weight": "model.safetensors", "net.heads.7.bias": "model.safetensors",
      "net.position_ids": "model.safetensors"}})");
  for (const std::string& path : {folder + "model.safetensors", folder + "model.npz", index}) {
    INFO(path);
    const nn::Sequential model = network();
    model.load_weights(path, {.names = names});
    check_loaded(model);
  }
}

TEST_CASE("load_weights: with by_name, layers without a tensor keep their weights") {
  const Files files;
  const std::string path = files.folder() + "/model.safetensors";
  nn::save_safetensors(path, foreign());
  const nn::Sequential model = network();
  const Tensor kernel = model.get_weights()[0];
  model.load_weights(path, {.by_name = true, .names = {names[1], names[2]}});
  CHECK(values(model.get_weights()[0]) == values(kernel));
  CHECK(values(model.get_weights()[2]) == values(K::transpose(foreign()[2].second)));
}

TEST_CASE("load_weights: names that do not fit are errors that change nothing" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/model.safetensors";
  nn::save_safetensors(path, foreign());
  const nn::Sequential model = network();
  const auto before = model.get_weights();
  const auto check_error = [&](const std::vector<nn::WeightName>& wrong, const char* text) {
    CHECK_THROWS_WITH_AS(model.load_weights(path, {.names = wrong}), Contains(text), ValueError);
    for (std::size_t i = 0; i < before.size(); ++i)
      CHECK(values(model.get_weights()[i]) == values(before[i]));
  };
  check_error({{"net.(", "x"}},
              "[load_weights] names must have regular expressions: received pattern='net.('");
  check_error({{".*bias", "conv/bias"}},
              "[load_weights] names must give each tensor a different name: received 'conv/bias' for "
              "'net.heads.7.bias' and another of");
  check_error({{"net.conv.bias", "conf/bias"}},
              "[load_weights] names must map tensors to weights of the model: received 'conf/bias'");
  check_error(
      {names[0], names[1], names[2]},
      "[load_weights] names must map a tensor to each weight of the model, unless by_name is set: received");
  check_error(
      {{names[0].pattern, names[0].name, {1, 0}}},
      "[load_weights] transpose must have each axis of the tensor once: received 'net.conv.weight' of "
      "shape=(4, 1, 3, 2)");
  check_error({{names[0].pattern, names[0].name}, names[1], names[2], names[3]},
              "must have the shape (3, 2, 1, 4)");

  model.save_weights(files.folder() + "/model.weights.h5");
  CHECK_THROWS_WITH_AS(model.load_weights(files.folder() + "/model.weights.h5", {.names = names}),
                       Contains("[load_weights] names are for files that are one list of tensors"),
                       ValueError);
}
