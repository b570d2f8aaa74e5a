#include "../../../hdf5.hpp"
#include "../../../ops/check.hpp"
#include "../keras_models.hpp"
#include "../python.hpp"

using doctest::Contains;
using namespace keras_models;
using ktape::IOError, ktape::ValueError;
namespace K = ktape::backend;

TEST_CASE("weights come back from .weights.h5" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/all.weights.h5";
  const nn::Model model = with_random_weights(every_kind()), fresh = every_kind();
  model.save_weights(path);
  CHECK(!same(fresh, model));
  fresh.load_weights(path);
  CHECK(same(fresh, model));
}

TEST_CASE("the groups are those in which Keras 3 looks for the variables of a model" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  every_kind().save_weights(files.folder() + "/all.weights.h5");
  // The groups that keras.src.saving.saving_lib._load_state reads: the group `vars` of every object, with
  // "0", "1", ...
  const std::string said = python(files, R"(
f = h5py.File('all.weights.h5')
def show(name, o):
  if isinstance(o, h5py.Dataset): print(name, o.shape, o.dtype)
f.visititems(show)
print('vars' in f, f['layers/conv2d/vars'].attrs['name'])
)");
  CHECK(said == R"(layers/batch_normalization/vars/0 (8,) float32
layers/batch_normalization/vars/1 (8,) float32
layers/batch_normalization/vars/2 (8,) float32
layers/batch_normalization/vars/3 (8,) float32
layers/bidirectional/backward_layer/cell/vars/0 (48, 16) float32
layers/bidirectional/backward_layer/cell/vars/1 (4, 16) float32
layers/bidirectional/backward_layer/cell/vars/2 (16,) float32
layers/bidirectional/forward_layer/cell/vars/0 (48, 16) float32
layers/bidirectional/forward_layer/cell/vars/1 (4, 16) float32
layers/bidirectional/forward_layer/cell/vars/2 (16,) float32
layers/conv2d/vars/0 (3, 3, 3, 8) float32
layers/dense/vars/0 (8, 8) float32
layers/dense/vars/1 (8,) float32
layers/dense_1/vars/0 (4, 3) float32
layers/dense_1/vars/1 (3,) float32
layers/depthwise_conv2d/vars/0 (3, 3, 8, 1) float32
layers/depthwise_conv2d/vars/1 (8,) float32
layers/gru/cell/vars/0 (3, 12) float32
layers/gru/cell/vars/1 (4, 12) float32
layers/gru/cell/vars/2 (2, 12) float32
layers/multi_head_attention/_key_dense/vars/0 (8, 2, 3) float32
layers/multi_head_attention/_key_dense/vars/1 (2, 3) float32
layers/multi_head_attention/_output_dense/vars/0 (2, 3, 8) float32
layers/multi_head_attention/_output_dense/vars/1 (8,) float32
layers/multi_head_attention/_query_dense/vars/0 (8, 2, 3) float32
layers/multi_head_attention/_query_dense/vars/1 (2, 3) float32
layers/multi_head_attention/_value_dense/vars/0 (8, 2, 3) float32
layers/multi_head_attention/_value_dense/vars/1 (2, 3) float32
layers/rnn/cell/cells/gru_cell/vars/0 (8, 12) float32
layers/rnn/cell/cells/gru_cell/vars/1 (4, 12) float32
layers/rnn/cell/cells/gru_cell/vars/2 (2, 12) float32
layers/rnn/cell/cells/lstm_cell/vars/0 (4, 12) float32
layers/rnn/cell/cells/lstm_cell/vars/1 (3, 12) float32
layers/rnn/cell/cells/lstm_cell/vars/2 (12,) float32
layers/separable_conv2d/vars/0 (3, 3, 8, 1) float32
layers/separable_conv2d/vars/1 (1, 1, 8, 8) float32
layers/separable_conv2d/vars/2 (8,) float32
layers/sequential/layers/dense/vars/0 (8, 8) float32
layers/sequential/layers/dense/vars/1 (8,) float32
layers/sequential/layers/dense_1/vars/0 (8, 8) float32
layers/sequential/layers/dense_1/vars/1 (8,) float32
layers/sequential/layers/layer_normalization/vars/0 (8,) float32
layers/sequential/layers/layer_normalization/vars/1 (8,) float32
layers/time_distributed/layer/vars/0 (8, 8) float32
layers/time_distributed/layer/vars/1 (8,) float32
True conv
)");
}

TEST_CASE("the layers of a list are in Keras's order: by their distance to the outputs" * needs_hdf5) {
  const auto build = [](bool other_way) {
    const Tensor in = nn::Input({4}, {.name = "in"});
    // Both models are equal, but their layers were called in different orders.
    Tensor near, far;
    const auto make_near = [&] { near = nn::Dense(2, {.name = "near"})(in); };
    if (!other_way) make_near();
    far = nn::Dense(3, {.name = "middle"})(nn::Dense(3, {.name = "far"})(in));
    if (other_way) make_near();
    return nn::Model(in, nn::Dense(2, {.name = "end"})(nn::Concatenate()({near, far})));
  };
  const Files files;
  const std::string path = files.folder() + "/x.weights.h5";
  const nn::Model model = with_random_weights(build(false)), other = build(true);
  model.save_weights(path);
  other.load_weights(path);
  for (const char* name : {"near", "middle", "far", "end"})
    CHECK(values(other.get_layer(name).get_weights()[0]) == values(model.get_layer(name).get_weights()[0]));
  if (!has_python("h5py")) return;
  CHECK(python(files,
               "f = h5py.File('x.weights.h5')\nprint([f['layers'][n]['vars'].attrs['name'] for n in "
               "('dense', 'dense_1', 'dense_2', 'dense_3')])") == "['far', 'near', 'middle', 'end']\n");
}

TEST_CASE("the layouts of other versions of Keras are read" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  python(files, R"(
def write(name, layers, dense, lstm, separator='/', attribute='query_dense', attention=None):
  with h5py.File(name, 'w') as f:
    f.create_group('vars')
    f.create_group('metrics/mean/vars')['0'] = np.float32(0)
    for k, n in enumerate(dense):
      g = f.create_group(separator.join([layers, n])).create_group('vars')
      g['0'] = np.full((4, 4), k + 1, 'f4')
      g['1'] = np.full(4, k + 5, 'f4')
    g = f.create_group(separator.join([layers, lstm, 'cell'])).create_group('vars')
    for k, shape in enumerate([(4, 16), (4, 16), (16,)]): g[str(k)] = np.full(shape, k + 9, 'f4')
write('new.weights.h5', 'layers', ['dense', 'dense_1'], 'lstm')
write('twice.weights.h5', '_layer_checkpoint_dependencies', ['dense', 'dense_2'], 'lstm')
write('windows.weights.h5', '_layer_checkpoint_dependencies', ['dense', 'dense_2'], 'lstm', '\\')
write('windows3.weights.h5', 'layers', ['dense', 'dense_1'], 'lstm', '\\')
)");
  for (const char* name : {"new", "twice", "windows", "windows3"}) {
    CAPTURE(name);
    const nn::Sequential model({nn::Dense(4), nn::Reshape({1, 4}), nn::LSTM(4), nn::Dense(4)});
    model.build({K::None, 4});
    model.load_weights(files.folder() + '/' + name + ".weights.h5");
    const auto first = [&](int i) { return values(model.get_weights()[static_cast<std::size_t>(i)])[0]; };
    for (int i = 0; i < 7; ++i)
      CHECK(first(i) == std::vector<double>{1, 5, 9, 10, 11, 2, 6}[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("attention is found under both names that Keras gives its parts" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const auto build = [] {
    const Tensor in = nn::Input({5, 4});
    return nn::Model(in, nn::MultiHeadAttention(2, 3)({in, in}));
  };
  const nn::Model model = with_random_weights(build()), fresh = build();
  model.save_weights(files.folder() + "/x.weights.h5");
  python(files, R"(
f = h5py.File('x.weights.h5', 'a')
g = f['layers/multi_head_attention']
for part in ('query', 'key', 'value', 'output'): g.move('_' + part + '_dense', part + '_dense')
)");
  fresh.load_weights(files.folder() + "/x.weights.h5");
  CHECK(same(fresh, model));
}

TEST_CASE("layers take the weights that were saved under their names" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/x.weights.h5";
  const nn::Sequential model({nn::Dense(4, {.name = "one"}), nn::Dense(3, {.name = "two"})});
  model.build({K::None, 4});
  with_random_weights(model).save_weights(path);
  const nn::Sequential other({nn::Dense(3, {.name = "two"}), nn::Dense(4, {.name = "new"})});
  other.build({K::None, 4});
  other.load_weights(path, {.by_name = true});
  CHECK(values(other.get_weights()[0]) == values(model.get_weights()[2]));
}

TEST_CASE("weights of another architecture are refused, and nothing changes" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/x.weights.h5";
  const nn::Sequential model({nn::Dense(4, {.name = "one"}), nn::Dense(3, {.name = "two"})});
  model.build({K::None, 4});
  with_random_weights(model).save_weights(path);
  const nn::Sequential wide({nn::Dense(4, {.name = "one"}), nn::Dense(5, {.name = "two"})});
  wide.build({K::None, 4});
  const std::vector<Tensor> before = wide.get_weights();
  CHECK_THROWS_WITH_AS(wide.load_weights(path), Contains("the weight 'kernel' of the layer 'two'"),
                       ValueError);
  CHECK(values(wide.get_weights()[0]) == values(before[0]));
  wide.load_weights(path, {.skip_mismatch = true});
  CHECK(values(wide.get_weights()[0]) == values(model.get_weights()[0]));
  CHECK(values(wide.get_weights()[2]) == values(before[2]));
  const nn::Sequential more({nn::Dense(4), nn::Dense(3), nn::Dense(3)});
  more.build({K::None, 4});
  CHECK_THROWS_WITH_AS(more.load_weights(path), Contains("x.weights.h5"), ValueError);
  CHECK_THROWS_WITH_AS(nn::Sequential({nn::Dense(4)}).save_weights(path), Contains("must be built"),
                       ValueError);
  CHECK_THROWS_WITH_AS(more.load_weights(files.write("y.weights.h5", "text")), Contains("y.weights.h5"),
                       IOError);
}
