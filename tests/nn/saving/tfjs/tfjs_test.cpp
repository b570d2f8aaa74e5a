#include "../tfjs_models.hpp"

namespace K = ktape::backend;
using namespace tfjs_models;
using doctest::Contains;
using ktape::IOError, ktape::ValueError;
using nn::Value;

TEST_CASE("tfjs: a model that is loaded is the one that was saved") {
  K::set_random_seed(1);
  check_round_trip(network(), {K::random_normal({3, 8, 8, 3})});
  check_round_trip(nn::Sequential({nn::Input({2}), nn::Dense(3, {.activation = "hard_sigmoid"})}),
                   {K::random_normal({3, 2})});
  check_round_trip(dense(), {K::random_normal({3, 2})});

  // One layer, called twice, and in two models.
  const nn::Dense shared(4, {.name = "shared"});
  const Tensor a = nn::Input({4}), b = nn::Input({4});
  const nn::Sequential tower({nn::Input({4}), shared, nn::Dense(2)}, {.name = "tower"});
  check_round_trip(nn::Model({a, b}, {nn::Concatenate()({tower(shared(a)), tower(b)})}),
                   {K::random_normal({3, 4}), K::random_normal({3, 4})});

  // A model without weights, and a model without layers that compute.
  check_round_trip(nn::Sequential({nn::Input({2}), nn::ReLU()}), {K::random_normal({3, 2})});
}

TEST_CASE("tfjs: how a model was compiled is kept, unless it is left out") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  const nn::Sequential model = dense();
  model.compile({.optimizer = nn::Adam({.learning_rate = 0.25}), .loss = "mean_squared_error"});
  const Tensor x = K::ones({4, 2}), y = K::ones({4, 1});
  model.save(path);
  const nn::Model again = nn::load_model(path);
  CHECK(again.optimizer().class_name() == "Adam");
  CHECK(again.optimizer().get_config().at("learning_rate") == Value(0.25));
  CHECK(again.evaluate(x, y, {.verbose = 0})["loss"] == model.evaluate(x, y, {.verbose = 0})["loss"]);
  CHECK(nn::compile_config(nn::load_model(path, {.compile = false})).is_null());
  model.save(path, {.include_optimizer = false});
  CHECK(nn::compile_config(nn::load_model(path)).is_null());

  // TensorFlow.js writes shards with its own names beside the model.
  Config json = json_of(path);
  json.set("trainingConfig",
           nn::from_json(R"({"optimizer_config":{"class_name":"Adam","config":{"learning_rate":0.5,
      "beta1":0.8,"beta2":0.9,"epsilon":1e-7}},"loss":"mean_squared_error","metrics":["accuracy"]})"));
  files.write("model.json", nn::to_json(json));
  CHECK(nn::load_model(path).optimizer().get_config().at("beta_1") == Value(0.8));
}

TEST_CASE("tfjs: model.json has the form that TensorFlow.js reads") {
  const Files files;
  const std::string path = files.folder() + "/web/model.json";
  dense().save(path);
  const Config json = json_of(path);
  CHECK(json.at("format") == Value("layers-model"));
  CHECK(json.at("convertedBy").is_null());
  const Config topology = json.at("modelTopology").config();
  CHECK(topology.at("backend") == Value("tensorflow"));
  CHECK(topology.at("model_config").config().at("class_name") == Value("Sequential"));
  const Value::List layers = topology.at("model_config").config().at("config").config().at("layers").list();
  CHECK(layers[0].config().at("config").config().at("batch_input_shape") == nn::from_json("[null,2]"));
  CHECK(nn::to_json(json.at("weightsManifest")) ==
        R"([{"paths":["group1-shard1of1.bin"],"weights":[)" + weight("hidden/kernel", "[2,3]", "float32") +
            ',' + weight("hidden/bias", "[3]", "float32") + ',' + weight("out/kernel", "[3,1]", "float32") +
            ',' + weight("out/bias", "[1]", "float32") + "]}]");
  CHECK(fs::file_size(files.folder() + "/web/group1-shard1of1.bin") == 4 * (6 + 3 + 3 + 1));
  CHECK(files_in(files.folder() + "/web") == std::set<std::string>{"model.json", "group1-shard1of1.bin"});
}

TEST_CASE("tfjs: shards of 4 MB, which weights may cross") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  const nn::Sequential model({nn::Input({1100}), nn::Dense(1000), nn::Dense(500)});
  model.save(path);
  CHECK(files_in(files.folder()) ==
        std::set<std::string>{"model.json", "group1-shard1of2.bin", "group1-shard2of2.bin"});
  CHECK(fs::file_size(files.folder() + "/group1-shard1of2.bin") == 4 << 20);
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));
}

TEST_CASE("tfjs: saving again never touches the shards that are in use") {
  const Files files;
  const std::string path = files.folder() + "/model.json", first = "group1-shard1of1.bin",
                    second = "group2-shard1of1.bin";
  dense().save(path);
  const std::string old_json = content(path), old_shard = content(files.folder() + '/' + first);
  const nn::Sequential model = dense();
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", second});
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));

  // The files after the end of a program before model.json was replaced, and before the old shards were
  // removed.
  files.write(first, "cut off");
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", first});
  files.write(second, "left");
  files.write("mine.bin", "kept");
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", second, "mine.bin"});
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));

  // Browsers write names that begin with a folder.
  Config json = json_of(path);
  json.set("weightsManifest",
           nn::from_json(R"([{"paths":["./)" + second + R"("],"weights":)" +
                         nn::to_json(json.at("weightsManifest").list()[0].config().at("weights")) + "}]"));
  files.write("model.json", nn::to_json(json));
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", first, "mine.bin"});

  // Another model in the folder has other shards.
  const nn::Sequential other = dense();
  other.save(files.folder() + "/other-model.json");
  CHECK(files_in(files.folder()).contains("other-group1-shard1of1.bin"));
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));
  CHECK(same(nn::load_model(files.folder() + "/other-model.json").get_weights(), other.get_weights()));
}

TEST_CASE("tfjs: a save that fails leaves the files as they were") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  dense().save(path);
  const std::string before = content(path);
  CHECK_THROWS_WITH_AS(nn::Sequential({nn::Dense(2)}).save(path), Contains("must be built"), ValueError);
  CHECK_THROWS_WITH_AS(dense().save(path, {.overwrite = false}), Contains("must not exist"), IOError);
  CHECK_THROWS_WITH_AS(dense().save(path + "/model.json"), Contains("model.json"), IOError);
  CHECK_THROWS_WITH_AS(dense().save(files.folder() + "/\xff-model.json"), Contains("must be UTF-8"),
                       ValueError);
  CHECK(content(path) == before);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", "group1-shard1of1.bin"});
  fs::create_directory(files.folder() + "/group2-shard1of1.bin");
  CHECK_THROWS_WITH_AS(dense().save(path), Contains("group2-shard1of1.bin"), IOError);
  CHECK(content(path) == before);
  CHECK_NOTHROW(nn::load_model(path));

  const Config json{{"format", "layers-model"}};
  CHECK_THROWS_WITH_AS(
      nn::saving::write_tfjs("save", path, json, {{"count", K::full({1}, std::int64_t{1} << 40, "int64")}}),
      Contains("[save] TensorFlow.js has no integers beyond int32: received 1099511627776 in 'count'"),
      ValueError);
}

TEST_CASE("tfjs: invalid models are errors") {
  const Files files;
  const auto error = [&](const std::string& json, const char* reason) {
    CHECK_THROWS_WITH_AS(nn::load_model(files.write("model.json", json)), Contains(reason), IOError);
  };
  error("{}", "modelTopology must describe a model");
  for (const char* graph :
       {R"({"format":"graph-model","modelTopology":{}})", R"({"modelTopology":{"node":[]}})"})
    error(graph,
          "it is a graph model, which has operations of TensorFlow in place of layers: convert it by "
          "`python -m tf2onnx.convert --tfjs model.json --output model.onnx` for nn::onnx::load");
  error(R"({"format":"other","modelTopology":{}})", "its format must be layers-model: \"other\"");
  CHECK_THROWS_AS(nn::load_model(files.write("model.json", R"({"modelTopology":{}})")), ktape::Error);

  const std::string path = files.folder() + "/model.json";
  dense().save(path);
  Config json = json_of(path);
  std::string large = content(path);
  large.replace(large.find("\"units\":3"), 9, "\"units\":4000000000");
  CHECK_THROWS_WITH_AS(nn::load_model(files.write("model.json", large)),
                       Contains("[hidden] the weights must not be larger than the file"), ValueError);

  json.erase("weightsManifest");
  files.write("model.json", nn::to_json(json));
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("hidden"), ValueError);
}

TEST_CASE("tfjs: RNN has the arguments of its cell beside its own, as TensorFlow.js writes them") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  const Tensor x = K::random_normal({2, 5, 4});
  const auto check = [&](const nn::RNN& rnn) {
    const nn::Sequential model({nn::Input({5, 4}), rnn});
    model.save(path);
    Config json = json_of(path), topology = json.at("modelTopology").config(),
           whole = topology.at("model_config").config(), sequence = whole.at("config").config();
    Value::List layers = sequence.at("layers").list();
    Config layer = layers.back().config(), own = layer.at("config").config();
    for (const auto& [name, value] : own.at("cell").config().at("config").config())
      if (!own.contains(name)) own.set(name, value);
    layer.set("config", own), layers.back() = layer;
    sequence.set("layers", layers), whole.set("config", sequence), topology.set("model_config", whole);
    json.set("modelTopology", topology);
    files.write("model.json", nn::to_json(json));
    CHECK(values(nn::load_model(path)(x)) == values(model(x)));
  };
  check(nn::RNN(nn::LSTMCell(3)));
  check(nn::RNN(nn::GRUCell(3), {.return_sequences = true}));
  check(nn::RNN(nn::SimpleRNNCell(3)));
  check(nn::RNN(std::vector<nn::Layer>{nn::LSTMCell(3), nn::GRUCell(2)}));
}
