#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

// The first layer of a Sequential may say the shape of its input, as in
// Keras 2.

TEST_CASE(
    "a Sequential is built at once when its first layer says the shape "
    "of its input") {
  const nn::Sequential model({nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
  CHECK(model.built());
  CHECK(model.count_params() == 21);
  CHECK(model.layers().size() == 2);
  CHECK(model.input().shape() == Shape{None, 3});
  CHECK(model.output().shape() == Shape{None, 1});
  CHECK(model.predict(K::ones({2, 3}), {.verbose = 0}).shape() == Shape{2, 1});
  const nn::Sequential grown;
  grown.add(nn::Conv2D(2, 3, {.input_shape = {8, 8, 1}, .name = "first"}));
  grown.add(nn::Flatten());
  CHECK(grown.output().shape() == Shape{None, 72});
  CHECK(grown.impl().input_names()[0] == "first_input");
}

TEST_CASE(
    "the shape may be given with the batch, or as a number of features "
    "or steps") {
  CHECK(nn::Sequential({nn::Dense(4, {.batch_input_shape = {2, 3}})}).input().shape() == Shape{2, 3});
  CHECK(nn::Sequential({nn::Dense(4, {.batch_input_shape = {None, None, 3}})}).input().shape() ==
        Shape{None, None, 3});
  CHECK(nn::Sequential({nn::Dense(4, {.input_dim = 3})}).input().shape() == Shape{None, 3});
  const nn::Sequential words({nn::Embedding(10, 4, {.input_length = 6}), nn::Flatten()});
  CHECK(words.output().shape() == Shape{None, 24});
  CHECK(values(words.predict(ints({{9, 0, 1, 2, 3, 4}}), {.verbose = 0})).size() == 24);
}

TEST_CASE("layers of every kind say the shape of their input") {
  const std::vector<std::pair<nn::Layer, Shape>> layers = {
      {nn::LSTM(3, {.input_shape = {5, 2}}), {None, 3}},
      {nn::Bidirectional(nn::GRU(3), {.input_shape = {5, 2}}), {None, 6}},
      {nn::TimeDistributed(nn::Dense(3), {.input_shape = {5, 2}}), {None, 5, 3}},
      {nn::ConvLSTM1D(2, 2, {.input_shape = {3, 6, 1}}), {None, 5, 2}},
      {nn::RNN(nn::LSTMCell(3), {.input_shape = {5, 2}}), {None, 3}},
      {nn::Flatten({.input_shape = {4, 4}}), {None, 16}},
      {nn::Reshape({2, 8}, {.input_shape = {4, 4}}), {None, 2, 8}},
      {nn::Activation("relu", {.input_shape = {4, 4}}), {None, 4, 4}},
      {nn::Dropout(0.5, {.input_shape = {4, 4}}), {None, 4, 4}},
      {nn::BatchNormalization({.input_shape = {4, 4}}), {None, 4, 4}},
      {nn::ZeroPadding1D(1, {.input_shape = {4, 4}}), {None, 6, 4}},
      {nn::MaxPooling1D(2, {.input_shape = {4, 4}}), {None, 2, 4}},
      {nn::Masking(0, {.input_shape = {4, 4}}), {None, 4, 4}},
      {nn::Rescaling(0.5, {.input_shape = {4, 4}}), {None, 4, 4}},
      {nn::Lambda([](const Tensor& x) { return x * 2; }, {.input_shape = {4, 4}}), {None, 4, 4}},
  };
  for (const auto& [given_layer, output] : layers) {
    const auto& layer = given_layer;
    CAPTURE(layer.class_name());
    CHECK(nn::Sequential({layer}).output().shape() == output);
  }
  struct TwiceImpl : nn::LayerImpl {
    explicit TwiceImpl(const nn::LayerOptions& options) : nn::LayerImpl("Twice", options) {}
    Tensor call(const Tensor& x) override { return x + x; }
  };
  CHECK(nn::Sequential({nn::LayerOf<TwiceImpl>(nn::LayerOptions{.input_shape = {3}})}).built());
}

TEST_CASE("an Input, or an earlier layer, decides the input shape alone") {
  const nn::Sequential model(
      {nn::Input({5}), nn::Dense(4, {.input_shape = {3}}), nn::Dense(1, {.input_shape = {7}})});
  CHECK(model.input().shape() == Shape{None, 5});
  CHECK(model.count_params() == 29);
  const Tensor in = nn::Input({5});
  CHECK(nn::Model(in, nn::Dense(4, {.input_shape = {3}})(in)).count_params() == 24);
  CHECK_THROWS_WITH_AS(nn::Sequential({nn::Dense(4, {.batch_input_shape = Shape()})}),
                       Contains("the shape of the input must begin with the batch"), ValueError);
}

TEST_CASE("the config of a layer keeps the shape as Keras 2's batch_input_shape") {
  const nn::Dense dense(4, {.input_shape = {3}, .name = "first"});
  CHECK(dense.get_config().at("batch_input_shape").shape() == Shape{None, 3});
  const nn::Layer again = nn::Layer::from_value(dense.to_value());
  CHECK(again.get_config() == dense.get_config());
  CHECK(nn::Sequential({again}).built());
  CHECK(!nn::Dense(4).get_config().contains("batch_input_shape"));
}

TEST_CASE("models keep the shape of their input in every format" * needs_hdf5) {
  const Files files;
  const nn::Sequential model(
      {nn::TimeDistributed(nn::Dense(4, {.activation = "hard_sigmoid", .input_shape = {3}}),
                           {.input_shape = {5, 3}}),
       nn::GRU(2, {.recurrent_activation = "hard_sigmoid"}), nn::Dense(1, {.input_shape = {2}})});
  const Tensor x = normal({2, 5, 3}, 1, "float32"), y = model.predict(x, {.verbose = 0});
  CHECK(model.to_json().find("batch_input_shape") == std::string::npos);
  for (const std::string name : {"model.ktape", "model.keras", "model.h5", "model.json"}) {
    CAPTURE(name);
    model.save(files.folder() + '/' + name);
    const nn::Model again = nn::load_model(files.folder() + '/' + name);
    CHECK(again.built());
    CHECK(again.input().shape() == Shape{None, 5, 3});
    CHECK(values(again.predict(x, {.verbose = 0})) == values(y));
  }
  const nn::Model cloned = nn::clone_model(model);
  cloned.set_weights(model.get_weights());
  CHECK(values(cloned.predict(x, {.verbose = 0})) == values(y));
  const nn::Model remade = nn::model_from_json(
      nn::to_json(nn::Config{{"class_name", "Sequential"}, {"config", model.get_config()}}));
  remade.set_weights(model.get_weights());
  CHECK(values(remade.predict(x, {.verbose = 0})) == values(y));
}
