#include "../../../hdf5.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/files/npy.hpp>
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using nn::saving::LayerWeights, nn::saving::NamedTensors;

namespace {

using Names = std::vector<std::string>;

template <class Pairs>
Names names(const Pairs& pairs) {
  Names names;
  for (const auto& [name, value] : pairs) names.push_back(name);
  return names;
}

/// Layers of layers, a model in the model, weights that are not trained, and names that are counted.
nn::Model network() {
  const Tensor in = nn::Input({6, 3});
  const nn::Sequential tail({nn::Dense(4, {.activation = "tanh"}), nn::Dense(4)}, {.name = "tail"});
  Tensor h = nn::BatchNormalization({.name = "norm"})(in);
  h = nn::Bidirectional(nn::LSTM(2), {.name = "rows"})(h);
  return nn::Model(in, nn::Dense(2, {.name = "scores"})(tail(nn::Dropout(0.5)(h))));
}

/// Returns a model of two layers of equal shape.
nn::Sequential twins(const char* first, const char* second) {
  return nn::Sequential({nn::Input({2}), nn::Dense(2, {.bias_initializer = "glorot_uniform", .name = first}),
                         nn::Dense(2, {.bias_initializer = "glorot_uniform", .name = second})});
}

Closeness same(const nn::Layer& a, const nn::Layer& b) {
  return close(a.get_weights(), b.get_weights(), exactly);
}

/// Returns the error of loading, and checks that loading changes nothing.
std::string error_of(const nn::Model& model, const std::string& path,
                     const nn::LoadWeightsOptions& options = {}) {
  const std::vector<Tensor> before = model.get_weights();
  std::string text;
  try {
    model.load_weights(path, options);
  } catch (const ktape::Error& error) {
    text = error.what();
  }
  const std::vector<Tensor> after = model.get_weights();
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(values(before[i]) == values(after[i]));
  return text;
}

}  // namespace

TEST_CASE("weights: names are paths of layers, and numbers that count classes are left out inside layers") {
  const nn::Model model = network();
  const std::vector<LayerWeights> layers = nn::saving::collect_weights(model);
  Names all, of_layers;
  for (const auto& [layer, weights] : layers) {
    all.push_back(layer);
    if (!weights.empty()) of_layers.push_back(layer);
  }
  CHECK(of_layers == Names{"norm", "rows", "tail", "scores"});
  CHECK(all.size() == model.layers().size());
  CHECK(names(layers.back().weights) == Names{"kernel", "bias"});
  Names in_norm;
  for (const std::string& name : names(nn::saving::flat_weights(model)))
    if (name.starts_with("norm/")) in_norm.push_back(name);
  CHECK(in_norm == Names{"norm/gamma", "norm/beta", "norm/moving_mean", "norm/moving_variance"});
  CHECK(names(nn::saving::named_weights(model.get_layer("rows")))[5].ends_with("/lstm_cell/bias"));
  const nn::RNN stack(std::vector<nn::Layer>{nn::GRUCell(2), nn::GRUCell(2)});
  stack(K::ones({1, 2, 3}));
  CHECK(names(nn::saving::named_weights(stack)) ==
        Names{"stacked_rnn_cells/gru_cell/kernel", "stacked_rnn_cells/gru_cell/recurrent_kernel",
              "stacked_rnn_cells/gru_cell/bias", "stacked_rnn_cells/gru_cell_1/kernel",
              "stacked_rnn_cells/gru_cell_1/recurrent_kernel", "stacked_rnn_cells/gru_cell_1/bias"});
}

TEST_CASE("weights: their order is that of the layer's weights, each once") {
  const nn::Model model = network();
  const nn::saving::NamedVariables named = nn::saving::named_weights(model);
  const std::vector<ktape::Variable> weights = model.weights();
  REQUIRE(named.size() == weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK(named[i].second.is(weights[i]));
}

TEST_CASE(
    "save_weights and load_weights: a model of equal architecture takes the weights, whatever its names") {
  const Files files;
  const Tensor x = normal({3, 6, 3}, 1, "float32");
  const nn::Model model = network();
  for (const char* name : {"w.npz", "w.safetensors"}) {
    const std::string path = files.folder() + '/' + name;
    CAPTURE(path);
    model.save_weights(path);
    const nn::Model fresh = network();
    REQUIRE_FALSE(same(fresh, model));
    fresh.load_weights(path);
    CHECK(same(fresh, model));
    CHECK(values(fresh.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
  }
}

TEST_CASE("load_weights: equal names decide, whatever the order") {
  const Files files;
  const std::string path = files.folder() + "/twins.safetensors";
  const nn::Sequential model = twins("a", "b"), turned = twins("b", "a");
  model.save_weights(path);
  turned.load_weights(path);
  CHECK(same(turned.get_layer("a"), model.get_layer("a")));
  CHECK(same(turned.get_layer("b"), model.get_layer("b")));
  // Tools may sort tensors by name; this order must not be taken for the order of the model.
  NamedTensors sorted = nn::load_safetensors(path);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  nn::save_safetensors(path, sorted);
  const nn::Sequential again = twins("a", "b");
  again.load_weights(path);
  CHECK(same(again, model));
  CHECK(error_of(twins("c", "d"), path) ==
        "[load_weights] the weight 'kernel' of the layer 'c' must be in the file: "
        "received 'bias' of 'a' in its place in " +
            path);
}

TEST_CASE("load_weights: weights of another model are errors that name layers, weights and shapes") {
  const Files files;
  const std::string path = files.folder() + "/model.npz";
  network().save_weights(path);
  const nn::Sequential other({nn::Input({3}), nn::Dense(7, {.name = "scores"})});
  CHECK(
      error_of(other, path) ==
      "[load_weights] the file must have the weights of the model's layers, 'scores', unless by_name is set: "
      "received " +
          path + ", of 'norm', 'rows', 'tail', 'scores'");
  CHECK(error_of(other, path, {.by_name = true}) ==
        "[load_weights] the weight 'kernel' of the layer 'scores' must have the shape (3, 7): received "
        "shape=(4, 2) in " +
            path);
  const nn::Sequential bare({nn::Input({4}), nn::Dense(2, {.use_bias = false, .name = "scores"})});
  CHECK(error_of(bare, path, {.by_name = true}) ==
        "[load_weights] the layer 'scores' takes 1 weights: received 2 of 'scores' in " + path);
  CHECK(error_of(other, files.folder() + "/none.npz").find("none.npz") != std::string::npos);
  CHECK_THROWS_WITH_AS(other.load_weights("model.txt"), Contains("must end in one of"), ValueError);
  CHECK_THROWS_WITH_AS(other.load_weights("model.txt"), Contains(".safetensors"), ValueError);
}

TEST_CASE("load_weights: a layer of an inner model is named by its path" * needs_hdf5) {
  const auto model = [](std::int64_t units) {
    const nn::Sequential inner({nn::Dense(units, {.name = "conv"}), nn::Dense(2, {.name = "end"})},
                               {.name = "net"});
    const nn::Sequential outer({nn::Input({2}), nn::Sequential({inner}, {.name = "block"})},
                               {.name = "outer"});
    return outer;
  };
  const Files files;
  for (const char* name : {"w.npz", "w.safetensors", "w.weights.h5", "w.h5", "w.keras"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    if (path.ends_with(".keras")) model(3).save(path);
    else model(3).save_weights(path);
    const std::string text = error_of(model(4), path);
    CAPTURE(text);
    CHECK(text ==
          "[load_weights] the weight 'kernel' of the layer 'block/net/conv' must have the shape (2, 4): "
          "received shape=(2, 3) in " +
              path);
  }
}

TEST_CASE("load_weights: nothing changes where the last layer does not fit") {
  const Files files;
  const std::string path = files.folder() + "/model.npz";
  network().save_weights(path);
  NamedTensors arrays = data::load_npz(path);
  arrays.back().second = K::zeros({5});
  data::save_npz(path, arrays);
  CHECK(error_of(network(), path) ==
        "[load_weights] the weight 'bias' of the layer 'scores' must have the shape "
        "(2,): received shape=(5,) in " +
            path);
}

TEST_CASE(
    "load_weights: by_name takes the layers with known names, skip_mismatch those with fitting shapes") {
  const Files files;
  const std::string path = files.folder() + "/model.npz";
  const nn::Model model = network();
  model.save_weights(path);
  const nn::Sequential transfer({nn::Input({6, 3}), nn::BatchNormalization({.name = "norm"}),
                                 nn::Dense(4, {.name = "new"}), nn::Dense(9, {.name = "scores"})});
  const std::vector<Tensor> before = transfer.get_layer("scores").get_weights();
  model.get_layer("norm").set_weights({K::ones({3}), K::ones({3}), K::ones({3}), 2.f * K::ones({3})});
  model.save_weights(path);
  CHECK_FALSE(error_of(transfer, path, {.by_name = true}).empty());
  transfer.load_weights(path, {.by_name = true, .skip_mismatch = true});
  CHECK(same(transfer.get_layer("norm"), model.get_layer("norm")));
  CHECK(values(transfer.get_layer("scores").get_weights()[0]) == values(before[0]));
  // In order, too: the first layers fit.
  const nn::Sequential longer = twins("c", "d"), wider({nn::Input({2}), nn::Dense(2), nn::Dense(5)});
  longer.save_weights(path);
  wider.load_weights(path, {.skip_mismatch = true});
  CHECK(same(wider.get_layer(0), longer.get_layer(0)));
}

TEST_CASE("load_weights: numbers take the dtypes of the weights") {
  const Files files;
  const nn::Sequential model({nn::Input({2}), nn::Dense(2, {.name = "a"})});
  const std::string path = files.folder() + "/w.npz";
  data::save_npz(path, {{"a/bias", doubles({1.5, 2.5})}, {"a/kernel", ints({{1, 2}, {3, 4}})}});
  model.load_weights(path);
  CHECK(model.weights()[0].dtype() == "float32");
  CHECK(values(model.get_weights()[0]) == Values{1, 2, 3, 4});
  CHECK(values(model.get_weights()[1]) == Values{1.5, 2.5});
}

TEST_CASE("weights: layers with equal names, and weights of the model itself, in a user's model") {
  struct MineImpl : nn::ModelImpl {
    nn::Dense first = add_layer(nn::Dense(2, {.name = "same"}));
    nn::Dense second = add_layer(nn::Dense(2, {.name = "same"}));
    ktape::Variable scale = add_weight("scale", {2});
    Tensor call(const Tensor& x) override { return second(first(x)) * scale; }
  };
  using Mine = nn::ModelOf<MineImpl>;
  const Files files;
  const std::string path = files.folder() + "/mine.npz";
  const Mine mine, other;
  CHECK_THROWS_WITH_AS(mine.save_weights(path), Contains("must be built, by a call or by build()"),
                       ValueError);
  mine(K::ones({1, 2}));
  mine.save_weights(path);
  CHECK(names(data::load_npz(path)) ==
        Names{"same/kernel", "same/bias", "same_1/kernel", "same_1/bias", "scale"});
  CHECK_THROWS_WITH_AS(other.load_weights(path), Contains("must be built, by a call or by build()"),
                       ValueError);
  other(K::ones({1, 2}));
  other.load_weights(path);
  CHECK(same(other, mine));
}
