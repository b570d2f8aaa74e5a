#include "../../../hdf5.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/saving/hdf5/hdf5.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>

#include <filesystem>
#include <set>

#include "../../../ops/check.hpp"
#include "../keras_models.hpp"
#include "../python.hpp"

using doctest::Contains;
using namespace keras_models;
using ktape::IOError, ktape::ValueError;
namespace K = ktape::backend;

TEST_CASE("weights come back from .h5 and .hdf5" * needs_hdf5) {
  const Files files;
  for (const char* name : {"/all.h5", "/all.hdf5"}) {
    const nn::Model model = with_random_weights(every_kind()), fresh = every_kind();
    model.save_weights(files.folder() + name);
    fresh.load_weights(files.folder() + name);
    CHECK(same(fresh, model));
  }
}

TEST_CASE("attributes and arrays are those that Keras's load_weights_from_hdf5_group looks for" *
          needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  K::reset_uids();
  const Tensor in = nn::Input({6, 4}, {.name = "steps"});
  Tensor h = nn::Bidirectional(nn::LSTM(3), {.name = "both"})(in);
  h = nn::Sequential({nn::Dense(2, {.name = "a"}), nn::BatchNormalization({.name = "b"})},
                     {.name = "inner"})(h);
  nn::Model(in, nn::Dense(1, {.name = "end"})(h)).save_weights(files.folder() + "/x.h5");
  CHECK(python(files, R"(
f = h5py.File('x.h5')
print(f.attrs['backend'], f.attrs['keras_version'], f.attrs['layer_names'].dtype.kind)
for layer in f.attrs['layer_names']:
  g = f[layer.decode()]
  print(layer.decode(), [(n.decode(), g[n.decode()].shape) for n in g.attrs['weight_names']])
print(len(f['top_level_model_weights'].attrs['weight_names']))
)") == R"(tensorflow 2.15.0 S
steps []
both [('both/forward_lstm/lstm_cell_1/kernel:0', (4, 12)), ('both/forward_lstm/lstm_cell_1/recurrent_kernel:0', (3, 12)), ('both/forward_lstm/lstm_cell_1/bias:0', (12,)), ('both/backward_lstm/lstm_cell_2/kernel:0', (4, 12)), ('both/backward_lstm/lstm_cell_2/recurrent_kernel:0', (3, 12)), ('both/backward_lstm/lstm_cell_2/bias:0', (12,))]
inner [('a/kernel:0', (6, 2)), ('a/bias:0', (2,)), ('b/gamma:0', (2,)), ('b/beta:0', (2,)), ('b/moving_mean:0', (2,)), ('b/moving_variance:0', (2,))]
end [('end/kernel:0', (2, 1)), ('end/bias:0', (1,))]
0
)");
}

TEST_CASE("names that are too many for one attribute stand in several" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/x.h5", long_name(900, 'n');
  const auto build = [&] {
    std::vector<nn::Layer> layers;
    for (int i = 0; i < 150; ++i) layers.push_back(nn::Dense(1, {.name = long_name + std::to_string(i)}));
    const nn::Sequential model(layers);
    model.build({K::None, 1});
    return model;
  };
  const nn::Model model = with_random_weights(build()), fresh = build();
  model.save_weights(path);
  fresh.load_weights(path);
  CHECK(same(fresh, model));
  if (!has_python("h5py")) return;
  CHECK(python(files, "f = h5py.File('x.h5')\nprint([(n, len(f.attrs[n])) for n in sorted(f.attrs)[2:]])") ==
        "[('layer_names0', 50), ('layer_names1', 50), ('layer_names2', 50)]\n");
}

TEST_CASE("files of Keras 2 are read: other names, models in models, frozen layers, CuDNN" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  python(files, R"(
def layer(f, name, arrays):
  g = f.create_group(name)
  g.attrs['weight_names'] = [n.encode() for n, a in arrays]
  for n, a in arrays: g[n] = np.asarray(a, 'f4')
f = h5py.File('old.h5', 'w')
f.attrs['layer_names'] = [b'input_3', b'lstm_7', b'model_2', b'dense_9']
f.attrs['backend'] = b'tensorflow'
f.attrs['keras_version'] = '2.2.4'
f.create_group('input_3').attrs['weight_names'] = []
# What CuDNNLSTM wrote: kernels of 4 gates, each with other strides; two biases.
k, r = np.arange(24).reshape(3, 8), np.arange(16).reshape(2, 8)
layer(f, 'lstm_7', [('lstm_7/kernel:0', k), ('lstm_7/recurrent_kernel:0', r), ('lstm_7/bias:0', np.arange(16))])
# A model in a model: trainable weights first.
layer(f, 'model_2', [('d/kernel:0', np.full((2, 2), 1)), ('d/bias:0', [2, 2]), ('n/gamma:0', [3, 3]), ('n/beta:0', [4, 4]),
  ('e/kernel:0', np.full((2, 2), 5)), ('e/bias:0', [6, 6]), ('n/moving_mean:0', [7, 7]), ('n/moving_variance:0', [8, 8])])
layer(f, 'dense_9', [('dense_9/kernel:0', [[9], [9]]), ('dense_9/bias:0', [10])])
)");
  for (const bool frozen : {false, true}) {
    const Tensor in = nn::Input({5, 3});
    const nn::Sequential inner({nn::Dense(2), nn::BatchNormalization(), nn::Dense(2)});
    const nn::Model model(in, nn::Dense(1)(inner(nn::LSTM(2)(in))));
    inner.set_trainable(!frozen);
    model.load_weights(files.folder() + "/old.h5");
    const std::vector<Tensor> weights = model.get_weights();
    // Gate 0 of the kernel, [[0, 1], [8, 9], [16, 17]], is [[0, 9], [1, 16], [8, 17]] in the other layout.
    CHECK(values(weights[0])[1] == 9);
    CHECK(values(weights[1])[1] == 8);
    CHECK(values(weights[2]) == Values{8, 10, 12, 14, 16, 18, 20, 22});
    const std::vector<double> expected = {1, 2, 3, 4, 7, 8, 5, 6, 9, 10};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(values(weights[3 + i])[0] == expected[i]);
  }
}

TEST_CASE("layers take the weights with their names, and weights of other shapes are skipped" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/x.h5";
  const nn::Sequential model({nn::Dense(4, {.name = "one"}), nn::Dense(3, {.name = "two"})});
  model.build({K::None, 4});
  with_random_weights(model).save_weights(path);
  const nn::Sequential other(
      {nn::Dense(4, {.name = "zero"}), nn::Dense(4, {.name = "one"}), nn::Dense(9, {.name = "two"})});
  other.build({K::None, 4});
  const Tensor before = other.get_weights()[4];
  CHECK_THROWS_WITH_AS(other.load_weights(path), Contains("x.h5"), ValueError);
  CHECK_THROWS_WITH_AS(other.load_weights(path, {.by_name = true}),
                       Contains("the weight 'kernel' of the layer 'two'"), ValueError);
  other.load_weights(path, {.by_name = true, .skip_mismatch = true});
  CHECK(values(other.get_weights()[2]) == values(model.get_weights()[0]));
  CHECK(values(other.get_weights()[4]) == values(before));
}

TEST_CASE("a file whose names lead nowhere is an error that names the object" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  python(files, R"(
def make(name, names):
  f = h5py.File(name, 'w')
  f.attrs['layer_names'] = names
  return f
make('gone.h5', [b'a'])
make('array.h5', [b'a']).create_group('a').attrs['weight_names'] = [b'k']
f = make('text.h5', [b'a']); g = f.create_group('a'); g.attrs['weight_names'] = [b'k']; g['k'] = 'text'
make('number.h5', 3)
h5py.File('nothing.h5', 'w')
)");
  const nn::Sequential model({nn::Dense(4, {.name = "a"})});
  model.build({K::None, 4});
  const auto check = [&](const std::string& name, const char* text) {
    CHECK_THROWS_WITH_AS(model.load_weights(files.folder() + '/' + name),
                         Contains((name + " (" + text).c_str()), IOError);
  };
  check("gone.h5", "/a: is missing");
  check("array.h5", "/a/k: is missing");
  check("text.h5", "/a/k: not an array of numbers");
  check("number.h5", "/: its attribute layer_names is no list of names");
  check("nothing.h5", "/: it has no attribute layer_names");
}

namespace {

namespace hdf5 = nn::saving::hdf5;

nn::Config config_in(const hdf5::File& file) {
  return nn::from_json(std::get<std::string>(*file.root.attribute("model_config"))).config();
}

/// Collects the objects in a config as "class.key" for each key, and each place where a module is named.
void collect_keys(const nn::Value& value, std::set<std::string>& keys) {
  if (value.is_list())
    for (const nn::Value& item : value.list()) collect_keys(item, keys);
  if (!value.is_config()) return;
  const nn::Config& object = value.config();
  const nn::Value name = object.get("class_name"), config = object.get("config");
  if (name.is_string() && config.is_config()) {
    keys.insert(name.string());
    for (const auto& [key, item] : config.config()) keys.insert(name.string() + '.' + key);
  }
  for (const auto& [key, item] : object) {
    if (key == "module" || key == "registered_name") keys.insert(key);
    collect_keys(item, keys);
  }
}

std::vector<ktape::Shape> shapes_in(const hdf5::File& file) {
  std::vector<ktape::Shape> shapes;
  const hdf5::Entry& root = file.at("model_weights");
  for (const std::string& layer : std::get<std::vector<std::string>>(*root.attribute("layer_names")))
    for (const std::string& weight :
         std::get<std::vector<std::string>>(*root.find(layer)->attribute("weight_names")))
      shapes.push_back(file.at("model_weights/" + layer + '/' + weight).value.shape());
  return shapes;
}

}  // namespace

TEST_CASE("files for Keras 2.15 have the form of its own files" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/m.h5";
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/model_files")) {
    const std::string given = entry.path().string() + "/tfkeras215.h5";
    if (!std::filesystem::exists(given)) continue;
    CAPTURE(given);
    const nn::Model model = nn::load_model(given);
    model.save(path, {.keras_version = 2});
    const hdf5::File theirs = hdf5::read_file("test", given), ours = hdf5::read_file("test", path);
    for (const char* name : {"backend", "keras_version", "model_config"}) {
      CAPTURE(name);
      REQUIRE(ours.root.attribute(name));
      REQUIRE(theirs.root.attribute(name));
    }
    const nn::Config a = config_in(theirs), b = config_in(ours);
    CHECK(b.at("class_name") == a.at("class_name"));
    // Keras 2.15 takes these keys, and does not write them.
    std::set<std::string> known{"Sequential.trainable", "Bidirectional.backward_layer",
                                "AlphaDropout.noise_shape"},
        written;
    collect_keys(a, known), collect_keys(b, written);
    for (const std::string& key : written) CHECK_MESSAGE(known.contains(key), key);
    CHECK(!written.contains("module"));
    const auto names = [](const hdf5::File& file) {
      return std::get<std::vector<std::string>>(*file.at("model_weights").attribute("layer_names"));
    };
    CHECK(names(ours) == names(theirs));
    CHECK(shapes_in(ours) == shapes_in(theirs));
    ++models;
  }
  CHECK(models == 14);
}

TEST_CASE("a class or an argument that Keras 2.15 lacks is refused, and nothing is written" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/m.h5";
  const auto check = [&](const nn::Model& model, const char* reason) {
    CHECK_THROWS_WITH_AS(model.save(path, {.keras_version = 2}), Contains(reason), ValueError);
    CHECK(!std::filesystem::exists(path));
  };
  check(nn::Sequential({nn::Input({4}), nn::RMSNormalization({.name = "norm"})}),
        "Keras 2.15 must have the class: received keras_version=2, 'norm' of the class RMSNormalization");
  const nn::Sequential gated({nn::Input({4}), nn::Dense(2)});
  gated.compile({.optimizer = nn::SGD(), .loss = nn::Dice()});
  check(gated, "of the class Dice");
  const Tensor in = nn::Input({5, 4});
  check(nn::Model(in, nn::MultiHeadAttention(2, 2, {.use_gate = true, .name = "heads"})({in, in})),
        "Keras 2.15 must have the argument: received keras_version=2, use_gate=true of 'heads'");
  gated.save(path);
  CHECK(nn::load_model(path).layers().size() == 1);
}
