#include "../../hdf5.hpp"

#include <ktape/nn/layers/preprocessing/lookup.hpp>
#include <ktape/nn/layers/preprocessing/numeric.hpp>
#include <ktape/nn/layers/preprocessing/text.hpp>
#include <ktape/nn/optimizers/adam.hpp>
#include <ktape/nn/optimizers/sgd.hpp>
#include <ktape/nn/saving/saving.hpp>

#include "../../ops/check.hpp"
#include "keras_models.hpp"
#include "python.hpp"

using doctest::Contains;
using namespace keras_models;
using ktape::IOError, ktape::ValueError;
namespace K = ktape::backend;

namespace {

float distance(const Tensor& a, const Tensor& b) { return K::max(K::abs(a - b)).item<float>(); }

constexpr const char* formats[] = {".keras", ".h5"};

}  // namespace

TEST_CASE("a model of layers of every kind comes back from Keras's files" * needs_hdf5) {
  const Files files;
  const Tensor x = K::random_normal({2, 12, 12, 3}, {.seed = 1});
  const nn::Model model = with_random_weights(every_kind());
  for (const std::string format : formats) {
    CAPTURE(format);
    const std::string path = files.folder() + "/model" + format;
    model.save(path);
    const nn::Model again = nn::load_model(path);
    CHECK(distance(again.predict(x, {.verbose = 0}), model.predict(x, {.verbose = 0})) < 1e-6f);
    CHECK(again.name() == model.name());
    CHECK_THROWS_WITH_AS(model.save(path, {.overwrite = false}), Contains("must not exist"), IOError);
  }
}

TEST_CASE("a training that resumes from Keras's files continues as if it had not stopped" * needs_hdf5) {
  const Files files;
  const Tensor x = K::random_normal({32, 4}, {.seed = 1}), y = K::random_normal({32, 2}, {.seed = 2});
  for (const std::string format : formats) {
    CAPTURE(format);
    const std::string path = files.folder() + "/model" + format;
    const nn::Sequential model(
        {nn::Dense(8, {.activation = "relu"}), nn::BatchNormalization(), nn::Dense(2)});
    model.compile({.optimizer = nn::Adam({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae"}});
    const nn::FitOptions options{.batch_size = 8, .epochs = 2, .verbose = 0, .shuffle = false};
    model.fit(x, y, options);
    model.save(path);
    const nn::Model resumed = nn::load_model(path);
    CHECK(resumed.optimizer().iterations().item<std::int64_t>() == 8);
    const nn::History here = model.fit(x, y, options), there = resumed.fit(x, y, options);
    CHECK(here["loss"] == there["loss"]);
    CHECK(here["mae"] == there["mae"]);
    CHECK_THROWS_WITH_AS(nn::load_model(path, {.compile = false}).optimizer(), Contains("compile"),
                         ValueError);
    model.save(path, {.include_optimizer = false});
    CHECK(nn::load_model(path).optimizer().iterations().item<std::int64_t>() == 0);
  }
}

TEST_CASE("the files are those that Keras looks for" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const nn::Sequential model({nn::Dense(2, {.name = "one"}), nn::Dense(1, {.name = "two"})},
                             {.name = "both"});
  model.compile({.optimizer = nn::Adam(0.01), .loss = "mse"});
  model.fit(K::ones({4, 3}), K::ones({4, 1}), {.epochs = 1, .verbose = 0});
  model.save(files.folder() + "/m.keras");
  model.save(files.folder() + "/m.h5");
  model.save(files.folder() + "/m2.h5", {.keras_version = 2});
  CHECK(python(files, R"(
import io, zipfile
z = zipfile.ZipFile('m.keras')
print(z.namelist(), z.testzip(), sorted(json.loads(z.read('metadata.json'))))
c = json.loads(z.read('config.json'))
print(c['class_name'], c['module'], c['config']['name'], [l['class_name'] for l in c['config']['layers']])
print(c['compile_config']['loss']['class_name'], c['compile_config']['optimizer']['class_name'])
f = h5py.File(io.BytesIO(z.read('model.weights.h5')))
print([f['optimizer/vars'][str(i)].shape for i in range(len(f['optimizer/vars']))])
f = h5py.File('m.h5')
print(sorted(f), sorted(f.attrs), [type(f.attrs[a]).__name__ for a in ('model_config', 'training_config')])
c = json.loads(f.attrs['model_config'])
print(c['class_name'], c['config']['layers'][0]['config'].get('batch_shape'), f.attrs['keras_version'])
g = h5py.File('m2.h5')
c = json.loads(g.attrs['model_config'])
print(c['class_name'], c['config']['layers'][0]['config'].get('batch_input_shape'), g.attrs['keras_version'])
print(json.loads(f.attrs['training_config'])['optimizer_config']['class_name'])
print([n.decode() for n in f['optimizer_weights'].attrs['weight_names']][:3], f['model_weights'].attrs['keras_version'])
)") == R"(['metadata.json', 'config.json', 'model.weights.h5'] None ['date_saved', 'keras_version']
Sequential keras both ['InputLayer', 'Dense', 'Dense']
MeanSquaredError Adam
[(), (), (3, 2), (3, 2), (2,), (2,), (2, 1), (2, 1), (1,), (1,)]
['model_weights', 'optimizer_weights'] ['backend', 'keras_version', 'model_config', 'training_config'] ['str', 'str']
Sequential [None, 3] 3.8.0
Sequential [None, 3] 2.15.0
Adam
['adam/iteration:0', 'adam/one_kernel_momentum:0', 'adam/one_kernel_velocity:0'] 2.15.0
)");
}

TEST_CASE("vocabularies and statistics are restored, also from separate files in Keras's archives" *
          needs_hdf5) {
  const Files files;
  const auto learned = [] {
    const nn::Sequential model({nn::Normalization(), nn::Dense(1)});
    const Tensor data = K::random_normal({20, 3}, {.mean = 5, .seed = 3});
    model.layers()[0].adapt(data);
    model.build({K::None, 3});
    return model;
  };
  const nn::Model model = learned();
  const Tensor x = K::ones({2, 3});
  for (const std::string format : formats) {
    model.save(files.folder() + "/n" + format);
    CHECK(distance(nn::load_model(files.folder() + "/n" + format).predict(x, {.verbose = 0}),
                   model.predict(x, {.verbose = 0})) == 0.f);
  }
  if (!has_python("h5py")) return;
  python(files, R"(
import io, zipfile
layers = [{'class_name': 'InputLayer', 'config': {'batch_shape': [None, 1], 'dtype': 'int64', 'name': 'in'}},
          {'class_name': 'IntegerLookup', 'config': {'name': 'ids', 'vocabulary': None, 'has_input_vocabulary': False}}]
config = {'module': 'keras', 'class_name': 'Sequential', 'config': {'name': 's', 'layers': layers}, 'registered_name': None}
b = io.BytesIO()
h5py.File(b, 'w').create_group('vars')
with zipfile.ZipFile('ids.keras', 'w', zipfile.ZIP_DEFLATED) as z:
  z.writestr('metadata.json', json.dumps({'keras_version': '3.3.0', 'date_saved': '2024-05-01@12:00:00'}))
  z.writestr('config.json', json.dumps(config))
  z.writestr('model.weights.h5', b.getvalue())
  z.writestr('assets/layers/integer_lookup/vocabulary.txt', '-1\n7\n9')
)");
  const nn::Model ids = nn::load_model(files.folder() + "/ids.keras");
  CHECK(values(ids.predict(K::constant({{9}, {7}, {8}}, {.dtype = "int64"}), {.verbose = 0})) ==
        Values{2, 1, 0});
}

TEST_CASE(
    "the state of Keras 2's first optimizers is read: one kind after the other, without a learning rate" *
    needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const nn::Sequential model({nn::Dense(2, {.name = "one"})});
  model.build({K::None, 2});
  model.compile({.optimizer = nn::Adam(0.01), .loss = "mse"});
  const std::string path = files.folder() + "/m.h5";
  model.save(path);
  for (const std::string names :
       {"['training/Adam/iterations:0'] + ['training/Adam/Variable_%d:0' % i for i in range(6)]",
        "['Adam/iter:0', 'Adam/one/kernel/m:0', 'Adam/one/bias/m:0', 'Adam/one/kernel/v:0', "
        "'Adam/one/bias/v:0']"}) {
    python(files, "names = " + names + R"(
f = h5py.File('m.h5', 'a')
if 'optimizer_weights' in f: del f['optimizer_weights']
g = f.create_group('optimizer_weights')
g.attrs['weight_names'] = [n.encode() for n in names]
values = [np.int64(5), np.full((2, 2), 1.), np.full(2, 2.), np.full((2, 2), 3.), np.full(2, 4.), np.zeros(1), np.zeros(1)]
for n, v in zip(names, values): g[n] = v
)");
    const nn::Model again = nn::load_model(path);
    std::vector<double> first;
    for (const ktape::Variable& variable : again.optimizer().variables())
      first.push_back(values(variable.value())[0]);
    REQUIRE(first.size() == 6);
    CHECK(first[0] == 5);
    CHECK(std::vector<double>(first.begin() + 2, first.end()) == std::vector<double>{1, 3, 2, 4});
  }
}

TEST_CASE(
    "the state of an optimizer in .h5 is read without a learning rate, as in Keras 2, and with one, as in "
    "Keras 3" *
    needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const std::string path = files.folder() + "/m.h5";
  const nn::Sequential model({nn::Dense(2, {.name = "one"})});
  model.build({K::None, 2});
  model.compile({.optimizer = nn::SGD({.learning_rate = 0.5, .momentum = 0.9}), .loss = "mse"});
  model.save(path);
  CHECK(nn::load_model(path).optimizer().learning_rate().item<float>() == 0.5f);
  for (const std::string rate : {"", "'SGD/learning_rate', "}) {
    python(files, "names = ['SGD/iteration', " + rate + R"('SGD/one_kernel_momentum', 'SGD/one_bias_momentum']
f = h5py.File('m.h5', 'a')
del f['optimizer_weights']
g = f.create_group('optimizer_weights')
g.attrs['weight_names'] = [n.encode() for n in names]
values = [np.int64(5), np.float32(0.125), np.full((2, 2), 3.), np.full(2, 4.)]
if len(names) == 3: del values[1]
for n, v in zip(names, values): g[n] = v
)");
    std::vector<double> state;
    for (const ktape::Variable& variable : nn::load_model(path).optimizer().variables())
      state.push_back(values(variable.value())[0]);
    CHECK(state == std::vector<double>{5, rate.empty() ? 0.5 : 0.125, 3, 4});
  }
}

TEST_CASE("files that are no models are errors that name them" * needs_hdf5) {
  const Files files;
  const auto check = [&](const std::string& path, const char* text) {
    CHECK_THROWS_WITH_AS(nn::load_model(path), Contains(text), IOError);
  };
  check(files.folder() + "/missing.keras", "missing.keras");
  check(files.write("text.keras", "text"), "text.keras");
  check(files.write("text.h5", "text"), "text.h5");
  const nn::Sequential model({nn::Dense(2)});
  CHECK_THROWS_WITH_AS(model.save(files.folder() + "/x.keras"), Contains("must be built"), ValueError);
  CHECK(!std::filesystem::exists(files.folder() + "/x.keras"));
  model.build({K::None, 2});
  model.save_weights(files.folder() + "/w.h5");
  check(files.folder() + "/w.h5", "a file of weights alone");
  if (!has_python("h5py")) return;
  python(files, R"(
import zipfile
def make(name, **parts):
  with zipfile.ZipFile(name, 'w') as z:
    for n, t in parts.items(): z.writestr(n.replace('_', '.'), t)
make('none.keras', metadata_json='{}')
make('bad.keras', config_json='{"class_name": ')
make('list.keras', config_json='[1]')
make('weightless.keras', config_json='{"class_name": "Sequential", "config": {"layers": []}}')
f = h5py.File('config.h5', 'w')
f.attrs['model_config'] = 'nonsense'
f.close()
h5py.File('number.h5', 'w').attrs['model_config'] = 3
)");
  check(files.folder() + "/none.keras", "has a file config.json");
  const std::string bad = files.folder() + "/bad.keras";
  CHECK_THROWS_WITH_AS(nn::load_model(bad),
                       Contains(("[load_model] the file must hold JSON: received " + bad +
                                 " (config.json: line 1, column 16: ")
                                    .c_str()),
                       IOError);
  check(files.folder() + "/list.keras", "list.keras ([1])");
  check(files.folder() + "/weightless.keras", "has a file model.weights.h5");
  check(files.folder() + "/config.h5", "config.h5 (attribute model_config: line 1, column ");
  check(files.folder() + "/number.h5", "model_config is no text");
}
