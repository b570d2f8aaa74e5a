#include <ktape/ktape.hpp>
#include <ktape/nn/saving/model_config.hpp>
#include <ktape/nn/saving/tfjs_file.hpp>
#include <ktape/nn/saving/tfjs_names.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <set>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace fs = std::filesystem;
using doctest::Contains;
using ktape::DType, ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

using Names = std::vector<std::string>;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Config json_of(const std::string& path) { return nn::from_json(content(path)).config(); }

Names names(const nn::Model& model) {
  Names names;
  for (const auto& [name, value] : nn::saving::tfjs_weights(model)) names.push_back(name);
  return names;
}

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

Closeness same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) { return close(a, b, exactly); }

/// Saved and loaded, it has the same weights and predicts the same.
void check_round_trip(const nn::Model& model, const std::vector<Tensor>& inputs) {
  const Files files;
  const std::string path = files.folder() + "/web/model.json";
  model.save(path);
  const nn::Model again = nn::load_model(path);
  CHECK(again.name() == model.name());
  CHECK(names(again) == names(model));
  CHECK(same(again.get_weights(), model.get_weights()));
  CHECK(same(again.predict_on_batch(inputs), model.predict_on_batch(inputs)));
}

/// All kinds of names: convolutions, weights that are not trained, layers of layers, counted names.
nn::Model network() {
  const Tensor in = nn::Input({8, 8, 3}, {.name = "image"});
  Tensor h =
      nn::Conv2D(4, {3, 3}, {.strides = {2, 2}, .padding = "same", .use_bias = false, .name = "conv"})(in);
  h = nn::ReLU({.max_value = 6})(nn::BatchNormalization({.name = "norm"})(h));
  h = nn::Add()({nn::DepthwiseConv2D({3, 3}, {.padding = "same", .name = "depthwise"})(h), h});
  h = nn::Bidirectional(nn::LSTM(3, {.return_sequences = true}), {.name = "rows"})(nn::Reshape({4, 16})(h));
  h = nn::GRU(2, {.name = "last"})(h);
  return nn::Model(in, nn::Dense(3, {.activation = "softmax"})(nn::Dropout(0.2)(h)));
}

nn::Sequential dense() {
  return nn::Sequential({nn::Input({2}), nn::Dense(3, {.name = "hidden"}), nn::Dense(1, {.name = "out"})});
}

/// A model.json with one group.
std::string manifest(const std::string& weights, const std::string& paths = "\"w.bin\"") {
  return R"({"format":"layers-model","modelTopology":null,"weightsManifest":[{"paths":[)" + paths +
         R"(],"weights":[)" + weights + "]}]}";
}

std::string weight(const char* name, const char* shape, const char* dtype, const char* more = "") {
  return std::string(R"({"name":")") + name + R"(","shape":)" + shape + R"(,"dtype":")" + dtype + '"' + more +
         '}';
}

std::string floats(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) bytes += little(std::bit_cast<std::uint32_t>(number));
  return bytes;
}

nn::saving::NamedTensors load(const std::string& path) {
  return nn::saving::TfjsFile("load_weights", path).weights();
}

}  // namespace

TEST_CASE("tfjs: weights have the names by which TensorFlow.js finds them") {
  const Tensor in = nn::Input({6, 3});
  const nn::Sequential inner(
      {nn::Input({4}), nn::Dense(4, {.name = "first"}), nn::Dense(4, {.name = "second"})}, {.name = "inner"});
  Tensor h = nn::BatchNormalization({.name = "norm"})(in);
  h = nn::Bidirectional(nn::LSTM(2, {.name = "lstm"}), {.name = "rows"})(h);
  h = nn::RepeatVector(2)(inner(h));
  h = nn::TimeDistributed(nn::Dense(3), {.name = "each"})(h);
  h = nn::GRU(2, {.return_sequences = true, .name = "gru"})(h);
  h = nn::RNN(nn::StackedRNNCells({nn::LSTMCell(2), nn::SimpleRNNCell(2)}), {.name = "stack"})(h);
  const nn::Model model(in, nn::Dense(1, {.name = "first"})(h));
  CHECK(names(model) == Names{"norm/gamma",
                              "norm/beta",
                              "norm/moving_mean",
                              "norm/moving_variance",
                              "rows/forward_lstm/kernel",
                              "rows/forward_lstm/recurrent_kernel",
                              "rows/forward_lstm/bias",
                              "rows/backward_lstm/kernel",
                              "rows/backward_lstm/recurrent_kernel",
                              "rows/backward_lstm/bias",
                              "first/kernel",
                              "first/bias",
                              "second/kernel",
                              "second/bias",
                              "each/kernel",
                              "each/bias",
                              "gru/kernel",
                              "gru/recurrent_kernel",
                              "gru/bias",
                              "stack/RNNCell_0/kernel",
                              "stack/RNNCell_0/recurrent_kernel",
                              "stack/RNNCell_0/bias",
                              "stack/RNNCell_1/kernel",
                              "stack/RNNCell_1/recurrent_kernel",
                              "stack/RNNCell_1/bias",
                              "first/kernel_1",
                              "first/bias_1"});
  check_round_trip(model, {K::random_normal({2, 6, 3})});
}

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

  // Nothing to train, and nothing at all.
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

  // TensorFlow.js writes its own names, beside the model.
  Config json = json_of(path);
  json.set("trainingConfig",
           nn::from_json(R"({"optimizer_config":{"class_name":"Adam","config":{"learning_rate":0.5,
      "beta1":0.8,"beta2":0.9,"epsilon":1e-7}},"loss":"mean_squared_error","metrics":["accuracy"]})"));
  files.write("model.json", nn::to_json(json));
  CHECK(nn::load_model(path).optimizer().get_config().at("beta_1") == Value(0.8));
}

TEST_CASE("tfjs: model.json is what TensorFlow.js reads") {
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

  // What a program leaves that ended before model.json was replaced, and before the old shards were removed.
  files.write(first, "cut off");
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", first});
  files.write(second, "left");
  files.write("mine.bin", "kept");
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", second, "mine.bin"});
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));

  // Browsers write names with a folder in front.
  Config json = json_of(path);
  json.set("weightsManifest",
           nn::from_json(R"([{"paths":["./)" + second + R"("],"weights":)" +
                         nn::to_json(json.at("weightsManifest").list()[0].config().at("weights")) + "}]"));
  files.write("model.json", nn::to_json(json));
  model.save(path);
  CHECK(files_in(files.folder()) == std::set<std::string>{"model.json", first, "mine.bin"});

  // Another model in the folder has shards of its own.
  const nn::Sequential other = dense();
  other.save(files.folder() + "/other-model.json");
  CHECK(files_in(files.folder()).contains("other-group1-shard1of1.bin"));
  CHECK(same(nn::load_model(path).get_weights(), model.get_weights()));
  CHECK(same(nn::load_model(files.folder() + "/other-model.json").get_weights(), other.get_weights()));
}

TEST_CASE("tfjs: what cannot be saved leaves everything as it was") {
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

TEST_CASE("tfjs: dtypes that TensorFlow.js lacks become those that it has") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  nn::saving::write_tfjs("save", path, {},
                         {{"a", counted({3}, "bool")},
                          {"b", counted({2}, "float64")},
                          {"c", counted({2}, "int64")},
                          {"d", counted({2}, "uint8")},
                          {"e", counted({2}, "float16")},
                          {"f", counted({0, 2})}});
  const auto weights = load(path);
  const char* dtypes[] = {"bool", "float32", "int32", "int32", "float32", "float32"};
  REQUIRE(weights.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(weights[i].second.dtype() == dtypes[i]);
  CHECK(values(weights[2].second) == values(counted({2}, "int64")));
  CHECK(weights[5].second.shape() == Shape{0, 2});
}

TEST_CASE("tfjs: weights by name, of other names by order, and some") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  const auto fresh = [](const char* hidden, const char* out) {
    return nn::Sequential({nn::Input({2}), nn::Dense(3, {.name = hidden}), nn::Dense(1, {.name = out})});
  };
  const nn::Sequential model = dense();
  model.save_weights(path);
  CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("modelTopology must describe a model"), IOError);
  for (const auto& [hidden, out] : {std::pair("hidden", "out"), std::pair("a", "b")}) {
    const nn::Sequential other = fresh(hidden, out);
    other.load_weights(path);
    CHECK(same(other.get_weights(), model.get_weights()));
  }
  // Names that are counted differ from one model to the next, also in layers of layers.
  const nn::Model one = network(), two = network();
  one.save_weights(files.folder() + "/counted-model.json");
  two.load_weights(files.folder() + "/counted-model.json");
  CHECK(same(two.get_weights(), one.get_weights()));

  const nn::Sequential wider({nn::Input({2}), nn::Dense(3, {.name = "hidden"}), nn::Dense(2, {.name = "out"}),
                              nn::PReLU({.name = "bent"})});
  const std::vector<Tensor> before = wider.get_weights();
  CHECK_THROWS_WITH_AS(
      wider.load_weights(path),
      Contains("weights of the model's layers, 'hidden', 'out', 'bent', unless by_name is set"), ValueError);
  CHECK_THROWS_WITH_AS(wider.load_weights(path, {.by_name = true}), Contains("must have the shape (3, 2)"),
                       ValueError);
  CHECK(same(wider.get_weights(), before));
  wider.load_weights(path, {.by_name = true, .skip_mismatch = true});
  CHECK(same(wider.get_layer("hidden").get_weights(), model.get_layer("hidden").get_weights()));
  CHECK(same(wider.get_layer("out").get_weights(), {before[2], before[3]}));

  const nn::Sequential norms({nn::Input({2}), nn::BatchNormalization(), nn::Dense(1)});
  CHECK_THROWS_WITH_AS(norms.load_weights(path), Contains("takes 4 weights: received 2 of 'hidden'"),
                       ValueError);
  const nn::Sequential scaled({nn::Input({2}), nn::LayerNormalization({.name = "n"}), nn::Dense(1)});
  CHECK_THROWS_WITH_AS(scaled.load_weights(path), Contains("the layer 'n' must have the weight 'gamma'"),
                       ValueError);
}

TEST_CASE("tfjs: the names of other writers") {
  const Files files;
  const nn::Sequential model(
      {nn::Input({2, 1}), nn::LSTM(1, {.name = "lstm"}), nn::Dense(1, {.name = "dense"})});
  files.write("w.bin", floats({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  const auto lstm = [](const std::string& group) {
    return weight((group + "/kernel").c_str(), "[1,4]", "float32") + ',' +
           weight((group + "/recurrent_kernel").c_str(), "[1,4]", "float32") + ',' +
           weight((group + "/bias").c_str(), "[4]", "float32") + ',';
  };
  const std::string optimizer = ',' + weight("Adam/m", "[1]", "float32", ",\"group\":\"optimizer\"");
  const std::string dense =
      weight("dense/kernel", "[1,1]", "float32") + ',' + weight("dense/bias", "[1]", "float32");
  const std::string numbered =
      weight("lstm/0", "[1,4]", "float32") + ',' + weight("lstm/1", "[1,4]", "float32") + ',' +
      weight("lstm/2", "[4]", "float32") + ',' + weight("dense/0", "[1,1]", "float32") + ',' +
      weight("dense/1", "[1]", "float32");
  for (const std::string& weights :
       {lstm("lstm") + dense, lstm("lstm/lstm_cell") + dense, lstm("lstm_4/lstm_cell_9") + dense, numbered}) {
    CAPTURE(weights);
    for (const Tensor& old : model.get_weights()) CHECK(old.defined());
    model.set_weights({K::zeros({1, 4}), K::zeros({1, 4}), K::zeros({4}), K::zeros({1, 1}), K::zeros({1})});
    model.load_weights(files.write("model.json", manifest(weights + optimizer)));
    CHECK(values(model.get_weights()[1]) == Values{5, 6, 7, 8});
    CHECK(values(model.get_weights()[4]) == Values{14});
  }
}

TEST_CASE("tfjs: weights that cuDNN had") {
  const Files files;
  const nn::Sequential model({nn::Input({2, 1}), nn::LSTM(1, {.name = "lstm"})});
  files.write("w.bin", floats({1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1, 2, 2, 2, 2}));
  model.load_weights(files.write("model.json", manifest(weight("lstm/kernel", "[1,4]", "float32") + ',' +
                                                        weight("lstm/recurrent_kernel", "[1,4]", "float32") +
                                                        ',' + weight("lstm/bias", "[8]", "float32"))));
  CHECK(values(model.get_weights()[2]) == Values{3, 3, 3, 3});
}

TEST_CASE("tfjs: groups, shards and quantized weights that others wrote") {
  const Files files;
  files.write("a.bin", std::string("\x00\x80\xff", 3) + little<std::uint16_t>(0x3e00));
  files.write("deep/b.bin", little<std::uint16_t>(0xc000) + little<std::uint16_t>(0xffff) + '\x01');
  files.write("c.bin", std::string("\x00", 1) + floats({1.5f}) + std::string("\x02\x00\xc8", 3) + little(-7));
  const std::string path = files.write(
      "model.json",
      R"({"weightsManifest":[{"paths":["./a.bin","deep//b.bin"],"weights":[)" +
          weight("u8", "[3]", "float32", R"(,"quantization":{"dtype":"uint8","scale":0.5,"min":-1})") + ',' +
          weight("f16", "[2,1]", "float32",
                 R"(,"quantization":{"dtype":"float16","original_dtype":"float32"})") +
          ',' + weight("u16", "[]", "float32", R"(,"quantization":{"dtype":"uint16","scale":2,"min":0.25})") +
          ',' + weight("i", "[1]", "int32", R"(,"quantization":{"dtype":"uint8","scale":-2.5,"min":0})") +
          R"(]},{"paths":["c.bin"],"weights":[)" + weight("no", "[1]", "bool") + ',' +
          weight("f", "[]", "float32") + ',' + weight("yes", "[2]", "bool", ",\"quantization\":null") + ',' +
          weight("b", "[1]", "uint8") + ',' + weight("n", "[1]", "int32") + "]}]}");
  const nn::saving::TfjsFile file("load_weights", path);
  CHECK(file.elements() == 3 + 2 + 1 + 1 + 1 + 1 + 2 + 1 + 1);
  const auto weights = file.weights();
  const std::tuple<const char*, DType, Values> expected[] = {{"u8", "float32", {-1, 63, 126.5}},
                                                             {"f16", "float32", {1.5, -2}},
                                                             {"u16", "float32", {131070.25}},
                                                             {"i", "int32", {-2}},
                                                             {"no", "bool", {0}},
                                                             {"f", "float32", {1.5}},
                                                             {"yes", "bool", {1, 0}},
                                                             {"b", "uint8", {200}},
                                                             {"n", "int32", {-7}}};
  REQUIRE(weights.size() == std::size(expected));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto& [name, dtype, numbers] = expected[i];
    CAPTURE(name);
    CHECK(weights[i].first == name);
    CHECK(weights[i].second.dtype() == dtype);
    CHECK(values(weights[i].second) == numbers);
  }
}

TEST_CASE("tfjs: files that are not just so are errors") {
  const Files files;
  files.write("w.bin", "12345678");
  files.write("v.bin", "1234");
  const auto error = [&](const std::string& json, const char* reason) {
    CAPTURE(json);
    const std::string path = files.write("model.json", json);
    CHECK_THROWS_WITH_AS(load(path), Contains(reason), IOError);
    CHECK_THROWS_WITH_AS(load(path), Contains(files.folder().c_str()), IOError);
  };
  error("", "must be JSON");
  error(R"({"weightsManifest":[)", "must be JSON");
  error(std::string(100'000, '['), "model.json (");
  error("[]", "model.json must be");
  error(R"({"weightsManifest":{}})", "weightsManifest must be a list");
  error(R"({"weightsManifest":[1]})", "weightsManifest[0] must be");
  error(R"({"weightsManifest":[{"weights":[]}]})", "paths");
  error(R"({"weightsManifest":[{"paths":[]}]})", "weights");
  error(manifest("1"), "weightsManifest[0].weights[0] must be");
  const std::string two = weight("a", "[2]", "float32");
  for (const char* path :
       {"\"../w.bin\"", "\"a/../../w.bin\"", "\"/etc/passwd\"", "\"\"", "\"w\\u0000.bin\""})
    error(manifest(two, path), "a shard must be a file in the folder");
  error(manifest(two, "\"./\""), "a shard must be a file in the folder");
  error(manifest(two, "1"), "weightsManifest[0].paths must be a string");
  error(manifest(two, "\"none.bin\""), "none.bin (No such file");
  error(manifest(two, "\".\\u002f..\""), "a shard must be a file in the folder");
  error(manifest(weight("a", "[4]", "float32"), R"("w.bin","./w.bin")"), "w.bin is there twice");
  error(manifest(two + ',' + weight("a", "[1]", "float32"), R"("w.bin","v.bin")"),
        "the weight 'a' is there twice");
  error(manifest(two, R"("w.bin","v.bin")"),
        "the weights from 'a' on take 8 bytes, and their shards have 12");
  error(manifest(weight("a", "[3]", "float32")), "take 12 bytes, and their shards have 8");
  error(manifest(""), "take 0 bytes, and their shards have 8");
  error(manifest(two, ""), "take 8 bytes, and their shards have 0");
  error(manifest(weight("a", "[-1]", "float32")),
        "weightsManifest[0].weights[0].shape has a negative extent");
  error(manifest(weight("a", "[null]", "float32")), "weights[0].shape must be an integer");
  error(manifest(weight("a", "[1,1,1,1,1,1,1,1,2]", "float32")), "more than 8 extents");
  error(manifest(weight("a", "[4294967296,4294967296]", "float32")), "beyond all memory");
  error(manifest(weight("a", "[0,9223372036854775807]", "float32")), "beyond all memory");
  error(manifest(weight("a", "[1152921504606846975]", "uint8") + ',' +
                 weight("b", "[1152921504606846975]", "uint8")),
        "and their shards have 8");
  error(manifest(weight("a", "[1]", "complex64")),
        "weights[0].dtype must be one of float32, float16, int32, uint8, bool: received 'complex64'");
  error(manifest(weight("a", "[1]", "string")), "received 'string'");
  error(manifest(R"({"name":1,"shape":[2],"dtype":"float32"})"), "weights[0].name must be a string");
  error(manifest(R"({"shape":[2],"dtype":"float32"})"), "name");
  const auto quantized = [&](const char* dtype, const char* quantization, const char* reason) {
    error(manifest(weight("a", "[8]", dtype, (std::string(",\"quantization\":") + quantization).c_str())),
          reason);
  };
  quantized("float32", "1", "quantization must be");
  quantized("float32", "{}", "dtype");
  quantized("float32", R"({"dtype":"int8"})", "must be one of uint8, uint16, float16: received 'int8'");
  quantized("float32", R"({"dtype":"uint8","min":0})", "scale");
  quantized("float32", R"({"dtype":"uint8","scale":1})", "min");
  quantized("bool", R"({"dtype":"uint8","scale":1,"min":0})", "cannot be of a weight of bool");
  quantized("int32", R"({"dtype":"float16"})", "cannot be of a weight of int32");
  quantized("int32", R"({"dtype":"uint8","scale":1e8,"min":0})", "leads beyond int32");
  quantized("float32", R"({"dtype":"uint8","scale":1e308,"min":0})", "leads beyond float32");
  quantized("float32", R"({"dtype":"uint8","scale":0,"min":-1e39})", "leads beyond float32");
  CHECK_THROWS_WITH_AS(load(files.folder() + "/none/model.json"), Contains("No such file"), IOError);
}

TEST_CASE("tfjs: models that are not just so are errors") {
  const Files files;
  const auto error = [&](const std::string& json, const char* reason) {
    CHECK_THROWS_WITH_AS(nn::load_model(files.write("model.json", json)), Contains(reason), IOError);
  };
  error("{}", "modelTopology must describe a model");
  error(R"({"format":"graph-model","modelTopology":{}})", "its format must be layers-model: \"graph-model\"");
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

TEST_CASE("tfjs: no damage does harm") {
  const Files shards;
  shards.write("w.bin", "12345678");
  const std::string json =
      manifest(weight("a", "[2]", "uint8") + ',' +
               weight("b", "[3]", "float32", R"(,"quantization":{"dtype":"uint16","scale":1,"min":2})"));
  check_damage("model.json", json, [&](const std::string& path) {
    fs::copy_file(shards.folder() + "/w.bin", fs::path(path).parent_path() / "w.bin",
                  fs::copy_options::skip_existing);
    return load(path);
  });
}
