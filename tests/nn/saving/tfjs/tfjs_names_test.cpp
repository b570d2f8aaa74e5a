#include "../tfjs_models.hpp"

namespace K = ktape::backend;
using namespace tfjs_models;
using doctest::Contains;
using ktape::IOError, ktape::ValueError;

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
