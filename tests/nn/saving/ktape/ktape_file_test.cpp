#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>
#include <ktape/ops/random/random_scope.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

using Tensors = std::vector<std::pair<std::string, Tensor>>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Returns a model with everything that a training changes: weights, moving averages, positions in sequences
/// of random numbers.
nn::Model network() {
  const Tensor in = nn::Input({6});
  Tensor h = nn::Dense(8, {.activation = "tanh", .kernel_regularizer = "l2", .name = "hidden"})(in);
  h = nn::Dropout(0.3, {.name = "drop"})(nn::BatchNormalization({.name = "norm"})(h));
  h = nn::GaussianNoise(0.1, {.seed = 5, .name = "noise"})(h);
  return nn::Model(in, nn::Dense(3, {.activation = "softmax", .name = "scores"})(h));
}

void compile(const nn::Model& model, const nn::Optimizer& optimizer) {
  model.compile({.optimizer = optimizer,
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy", "sparse_categorical_crossentropy"}});
}

nn::Model compiled(const nn::Optimizer& optimizer = "adam") {
  const nn::Model model = network();
  compile(model, optimizer);
  return model;
}

Tensor samples() { return K::random_normal({32, 6}, {.dtype = "float32", .seed = 1}); }
Tensor labels() { return K::random_uniform({32}, {.maxval = 3, .dtype = "int32", .seed = 2}); }

nn::History train(const nn::Model& model, int from, int to) {
  return model.fit(
      samples(), labels(),
      {.batch_size = 5, .epochs = to, .verbose = 0, .validation_split = 0.25, .initial_epoch = from});
}

std::vector<Values> all_values(const std::vector<Variable>& variables) {
  std::vector<Values> all;
  for (const Variable& variable : variables) all.push_back(values(variable.value()));
  return all;
}

/// Checks that both models would continue equally.
void check_same(const nn::Model& model, const nn::Model& other) {
  CHECK(all_values(other.weights()) == all_values(model.weights()));
  CHECK(all_values(other.optimizer().variables()) == all_values(model.optimizer().variables()));
}

/// Writes the file again with something changed.
void change(const std::string& path,
            const std::function<void(Tensors&, std::map<std::string, std::string>&)>& f) {
  Tensors tensors = nn::load_safetensors(path);
  const Metadata metadata = nn::load_safetensors_metadata(path);
  std::map<std::string, std::string> texts(metadata.begin(), metadata.end());
  texts.erase("checksums");
  f(tensors, texts);
  nn::save_safetensors(path, tensors, Metadata(texts.begin(), texts.end()));
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

}  // namespace

TEST_CASE("a resumed training is the uninterrupted one, bit for bit") {
  const Files files;
  const std::string path = files.folder() + "/half.ktape";
  const auto start = [] {
    K::set_random_seed(3);
    return compiled(nn::Adam(nn::ExponentialDecay(0.01, 5, 0.9)));
  };
  const nn::Model whole = start();
  const nn::History expected = train(whole, 0, 4);

  const nn::Model half = start();
  train(half, 0, 2);
  half.save(path);
  K::set_random_seed(99);
  network();  // takes the names of the layers that are counted
  const nn::Model resumed = nn::load_model(path, {.random_state = true});
  check_same(half, resumed);
  const nn::History rest = train(resumed, 2, 4);
  for (const char* name :
       {"loss", "accuracy", "sparse_categorical_crossentropy", "val_loss", "val_accuracy"}) {
    CAPTURE(name);
    const std::vector<double> all = expected[name];
    CHECK(rest[name] == std::vector<double>(all.begin() + 2, all.end()));
  }
  check_same(whole, resumed);
  CHECK(values(resumed.predict(samples(), {.verbose = 0})) ==
        values(whole.predict(samples(), {.verbose = 0})));
}

TEST_CASE("every optimizer resumes from its saved state") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  std::vector<nn::Optimizer> optimizers;
  for (const std::string& name : nn::registered_names("optimizer")) optimizers.emplace_back(name);
  optimizers.push_back(nn::SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}));
  optimizers.push_back(nn::Adam({.use_ema = true, .gradient_accumulation_steps = 3}));
  for (const nn::Optimizer& optimizer : optimizers) {
    CAPTURE(optimizer.name());
    const nn::Model model = compiled(optimizer);
    for (int step = 0; step < 2; ++step) model.train_on_batch(samples(), labels());
    if (!optimizer.impl().options().learning_rate.schedule().defined()) optimizer.set_learning_rate(0.004);
    model.save(path);
    const nn::Model resumed = nn::load_model(path);
    check_same(model, resumed);
    K::set_random_seed(1);
    model.train_on_batch(samples(), labels());
    K::set_random_seed(1);
    resumed.train_on_batch(samples(), labels());
    check_same(model, resumed);
  }
}

TEST_CASE("the optimizer keeps to the weights that it began with, and to those that do not decay") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::AdamW adam({.learning_rate = 0.01, .weight_decay = 0.1});
  const nn::Model model = compiled(adam);
  adam.exclude_from_weight_decay({model.get_layer("hidden").weights()[0]}, {"bias", "gamma"});
  model.train_on_batch(samples(), labels());
  model.get_layer("hidden").set_trainable(false);
  model.save(path);
  const nn::Model resumed = nn::load_model(path);
  CHECK(!resumed.get_layer("hidden").trainable());
  check_same(model, resumed);
  for (const nn::Model& each : {model, resumed}) {
    K::set_random_seed(1);
    each.get_layer("hidden").set_trainable(true);
    compile(each, each.optimizer());
    for (int step = 0; step < 3; ++step) each.train_on_batch(samples(), labels());
  }
  check_same(model, resumed);
}

TEST_CASE("a .ktape file is a .safetensors file, the weights first") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Model model = compiled();
  model.train_on_batch(samples(), labels());
  model.save(path);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : nn::load_safetensors(path)) names.push_back(name);
  REQUIRE(names.size() == 8 + 3 + 2 + 2 * 6);
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 8) ==
        std::vector<std::string>{"hidden/kernel", "hidden/bias", "norm/gamma", "norm/beta",
                                 "norm/moving_mean", "norm/moving_variance", "scores/kernel", "scores/bias"});
  const auto draws = [](const std::string& name) {
    return name.starts_with("layers/") && name.ends_with("/draws");
  };
  CHECK(std::count_if(names.begin(), names.end(), draws) == 1);
  CHECK(std::count(names.begin(), names.end(), "optimizer/13") == 1);
  std::vector<std::string> keys;
  for (const auto& [key, text] : nn::load_safetensors_metadata(path)) keys.push_back(key);
  CHECK(keys ==
        std::vector<std::string>{"format", "version", "architecture", "compile", "training", "checksums"});
}

TEST_CASE("a model that was not compiled, and a layer of the program's own") {
  struct ScaleImpl : nn::LayerImpl {
    double by;
    explicit ScaleImpl(double by) : nn::LayerImpl("Scale"), by(by) {}
    Tensor call(const Tensor& x) override { return x * by; }
    nn::Config get_config() const override { return {{"by", by}}; }
  };
  const Files files;
  const std::string path = files.folder() + "/scaled.ktape";
  const nn::Sequential model({nn::Dense(2), nn::LayerOf<ScaleImpl>(0.5)});
  CHECK_THROWS_WITH_AS(model.save(path), Contains("the model must be built"), ValueError);
  CHECK(!std::filesystem::exists(path));
  const Tensor x = K::ones({1, 4}), halves = model.predict(x, {.verbose = 0});
  model.save(path);
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("Scale"), ValueError);
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains(path.c_str()), ValueError);
  const nn::Factory scale = [](const nn::Config& config) {
    return nn::LayerOf<ScaleImpl>(config.at("by").number());
  };
  const nn::Model again = nn::load_model(path, {.custom_objects = {{"Scale", scale}}});
  CHECK(values(again.predict(x, {.verbose = 0})) == values(halves));
  CHECK_THROWS_WITH_AS(again.optimizer(), Contains("must be compiled"), ValueError);
}

namespace {

/// A layer that holds a model whose layers have counted names, of which one draws random numbers.
struct TowerImpl : nn::LayerImpl {
  nn::Sequential inside =
      add_layer(nn::Sequential({nn::Dense(4), nn::Dropout(0.5, {.seed = 1}), nn::Dense(2)}));
  TowerImpl() : nn::LayerImpl("Tower") {}
  Tensor call(const Tensor& x) override { return inside(x); }
};
using Tower = nn::LayerOf<TowerImpl>;

/// A model class whose layers have counted names.
struct TwinsImpl : nn::ModelImpl {
  nn::Dense first = add_layer(nn::Dense(3)), second = add_layer(nn::Dense(2));
  TwinsImpl() : nn::ModelImpl("Twins") {}
  Tensor call(const Tensor& x) override { return second(first(x)); }
  nn::Config get_config() const override { return {}; }
};
using Twins = nn::ModelOf<TwinsImpl>;

}  // namespace

TEST_CASE("trained models whose layers have counted names resume") {
  const nn::CustomObjects classes{{"Tower", [](const nn::Config&) { return Tower(); }},
                                  {"Twins", [](const nn::Config&) { return Twins(); }}};
  const nn::custom_object_scope scope(classes);
  const Files files;
  const std::string path = files.folder() + "/counted.ktape";
  const Tensor x = K::random_normal({8, 3}, {.seed = 1}), y = K::random_normal({8, 2}, {.seed = 2});
  const nn::Sequential of_tower({nn::Input({3}), Tower()});
  for (const nn::Model& model : {nn::Model(of_tower), nn::Model(Twins())}) {
    CAPTURE(model.name());
    model.compile({.optimizer = "adam", .loss = "mse"});
    model.train_on_batch(x, y);
    model.save(path);
    const nn::Model again = nn::load_model(path);
    check_same(model, again);
    model.train_on_batch(x, y);
    again.train_on_batch(x, y);
    check_same(model, again);
  }
}

TEST_CASE("a tensor whose bytes have changed is found by its checksum") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Model model = compiled();
  model.train_on_batch(samples(), labels());
  model.save(path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  bytes[bytes.size() - 3] ^= 1;
  files.write("model.ktape", bytes);
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("have changed"), IOError);
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains(path.c_str()), IOError);
}

TEST_CASE("include_optimizer = false leaves out the state of the training") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Model model = compiled();
  model.train_on_batch(samples(), labels());
  model.save(path, {.include_optimizer = false});
  CHECK(nn::load_safetensors(path).size() == 8);
  K::set_random_seed(1);
  const nn::Model again = nn::load_model(path);
  CHECK(all_values(again.weights()) == all_values(model.weights()));
  CHECK(again.optimizer().iterations().item<int>() == 0);
  CHECK(!again.optimizer().impl().built());
  CHECK(K::random_state().seed == 1);
}

TEST_CASE("load_model with compile = false, and load_weights, take the weights alone") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Model model = compiled();
  model.train_on_batch(samples(), labels());
  K::set_random_seed(8);
  model.save(path);
  K::set_random_seed(1);
  const nn::Model again = nn::load_model(path, {.compile = false});
  CHECK(all_values(again.weights()) == all_values(model.weights()));
  CHECK_THROWS_WITH_AS(again.optimizer(), Contains("must be compiled"), ValueError);
  CHECK(K::random_state().seed == 1);

  const nn::Model other = compiled();
  other.load_weights(path);
  CHECK(all_values(other.weights()) == all_values(model.weights()));
  CHECK(other.optimizer().iterations().item<int>() == 0);
  CHECK(K::random_state().seed == 1);
  const std::uint64_t drawn = K::random_state().drawn;
  nn::load_model(path);
  CHECK(K::random_state().seed == 1);
  CHECK(K::random_state().drawn == drawn);
  nn::load_model(path, {.random_state = true});
  CHECK(K::random_state().seed == 8);

  const nn::Sequential transfer(
      {nn::Input({6}), nn::Dense(8, {.name = "hidden"}), nn::Dense(9, {.name = "scores"})});
  CHECK_THROWS_WITH_AS(transfer.load_weights(path), Contains("unless by_name is set"), ValueError);
  transfer.load_weights(path, {.by_name = true, .skip_mismatch = true});
  CHECK(values(transfer.get_weights()[0]) == values(model.get_weights()[0]));
  CHECK_THROWS_WITH_AS(model.save_weights(path),
                       Contains("[save_weights] the format .ktape must support this call"), ValueError);
}

TEST_CASE("an optimizer of weights that do not belong to the model") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Model model = compiled();
  Variable other(K::ones({2}), "other");
  model.optimizer().apply({K::ones({2})}, {other});
  CHECK_THROWS_WITH_AS(model.save(path),
                       "[save] the optimizer must have been applied to weights of the model, unless "
                       "include_optimizer is false: received 'other'",
                       ValueError);
  CHECK(!std::filesystem::exists(path));
  model.save(path, {.include_optimizer = false});
  CHECK(nn::load_model(path).optimizer().iterations().item<int>() == 0);
}

TEST_CASE("a model of another floatx comes back in its own dtype") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  K::set_floatx("float64");
  const nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  model.compile({.optimizer = nn::Adam(0.25), .loss = "mse"});
  model.train_on_batch(K::ones({3, 2}), K::ones({3, 1}));
  model.save(path);
  K::set_floatx("float32");
  const nn::Model again = nn::load_model(path);
  CHECK(again.weights()[0].dtype() == "float64");
  check_same(model, again);
}

TEST_CASE(".ktape files with other contents are errors") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Sequential model({nn::Input({2}), nn::Dense(3, {.name = "dense"})});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(K::ones({3, 2}), K::ones({3, 3}));
  const auto check = [&](const std::string& reason, const auto& how) {
    CAPTURE(reason);
    model.save(path);
    change(path, how);
    K::set_random_seed(4);
    bool thrown = false;
    try {
      nn::load_model(path, {.random_state = true});
    } catch (const ktape::Error& error) {
      thrown = true;
      const std::string text = error.what();
      CAPTURE(text);
      CHECK(text.find(reason) != std::string::npos);
      CHECK(text.find("model.ktape") != std::string::npos);
    }
    CHECK(thrown);
    CHECK(K::random_state().seed == 4);
  };
  const auto edit = [](const char* part, const char* from, const char* to) {
    return [=](Tensors&, auto& texts) { texts[part] = replaced(texts[part], from, to); };
  };
  const auto lacks = [](const std::string& name) {
    return [=](Tensors& tensors, auto&) {
      std::erase_if(tensors, [&](auto& entry) { return entry.first == name; });
    };
  };
  check("its metadata must have format=ktape", [](Tensors&, auto& texts) { texts.clear(); });
  check("its version must be 1", edit("version", "1", "2"));
  check("its metadata must have an architecture", [](Tensors&, auto& texts) { texts.erase("architecture"); });
  check("(architecture: line 1, column ", edit("architecture", "{", ""));
  check("(in the architecture of ", edit("architecture", "\"Sequential\"", "\"Dense\""));
  check("must not be larger than the file", edit("architecture", "\"units\":3", "\"units\":3000000000000"));
  check("must not be larger than the file", edit("architecture", "\"units\":3", "\"units\":4"));
  check("must have the shape (2, 2)", edit("architecture", "\"units\":3", "\"units\":2"));
  check("(in the compile of ", edit("compile", "\"Adam\"", "\"Eve\""));
  check("must not be larger than the file", lacks("dense/kernel"));
  check("the weight 'kernel' of the layer 'dense' must be in the file: received 'weight'",
        [](Tensors& tensors, auto&) {
          for (auto& [name, tensor] : tensors)
            if (name == "dense/kernel") name = "dense/weight";
        });
  check("the tensor 'optimizer/3' is missing", lacks("optimizer/3"));
  check("the optimizer has 6 variables: 5 are there", [&](Tensors& tensors, auto& texts) {
    lacks("optimizer/5")(tensors, texts);
    texts["training"] = replaced(texts["training"], ",\"optimizer/5\"", "");
  });
  check("the optimizer has 2 variables: 6 are there",
        edit("training", "\"variables\":[0,1]", "\"variables\":[]"));
  for (const char* places : {"[0,0]", "[0,2]", "[-1,0]", "[0,\"other\"]"})
    check(", which is no weight, or twice", [&](Tensors&, auto& texts) {
      texts["training"] =
          replaced(texts["training"], "\"variables\":[0,1]", std::string("\"variables\":") + places);
    });
  check("'random/seed' is named twice", edit("training", "\"random/drawn\"", "\"random/seed\""));
  check("(in the training of ", edit("training", "\"tensors\"", "\"others\""));
  check("(in the training of ", edit("training", "[", "[7,"));
  check("(training: line 1, column ", edit("training", "{", ""));
  check("'optimizer/2' must be float32 of the shape (2, 3): it is int64 of the shape ()",
        [](Tensors& tensors, auto&) {
          for (auto& [name, tensor] : tensors)
            if (name == "optimizer/2") tensor = counted({}, "int64");
        });
  check("'random/drawn' must be int64 with 0 axes", [](Tensors& tensors, auto&) {
    for (auto& [name, tensor] : tensors)
      if (name == "random/drawn") tensor = counted({}, "float64");
  });
  CHECK_THROWS_WITH_AS(nn::load_model(files.folder() + "/none.ktape"), Contains("none.ktape"), IOError);
}

TEST_CASE("damaged files are errors that name them, or models") {
  const Files files;
  const std::string path = files.folder() + "/model.ktape";
  const nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.save(path);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto load = [&](const std::string& content) {
    try {
      nn::load_model(files.write("model.ktape", content));
      return true;
    } catch (const ktape::Error& error) {
      const std::string text = error.what();
      CAPTURE(text);
      CHECK(text.find("model.ktape") != std::string::npos);
      return false;
    }
  };
  CHECK(load(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) CHECK(!load(bytes.substr(0, size)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CAPTURE(i);
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    load(other);
  }
}
