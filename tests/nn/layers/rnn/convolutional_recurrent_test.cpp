#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

struct States {
  Tensor h, c;
};

/// Returns one step of the formula, with channels last.
States by_hand(const std::vector<Tensor>& w, const Tensor& x, const States& before,
               const K::ConvOptions& window) {
  K::ConvOptions input = window, recurrent{.padding = "same", .data_format = "channels_last"};
  input.data_format = "channels_last";
  const std::vector<Tensor> z =
      K::split(K::conv2d(x, w[0], input) + w[2] + K::conv2d(before.h, w[1], recurrent), 4, -1);
  const Tensor c = K::sigmoid(z[1]) * before.c + K::sigmoid(z[0]) * K::tanh(z[2]);
  return {K::sigmoid(z[3]) * K::tanh(c), c};
}

Tensor step_of(const Tensor& x, std::int64_t t) {
  return K::squeeze(K::slice(x, {0, t, 0, 0, 0}, {-1, 1, -1, -1, -1}), 1);
}

void give_random_weights(const nn::Layer& layer) {
  std::vector<Tensor> weights;
  int seed = 20;
  for (const Variable& weight : layer.weights())
    weights.push_back(0.3 * normal(weight.shape(), seed++, weight.dtype()));
  layer.set_weights(weights);
}

}  // namespace

TEST_CASE("a convolutional LSTM is its formula, whatever the window") {
  const Tensor x = normal({2, 3, 6, 5, 2}, 1);
  const auto check = [&](const nn::ConvLSTMOptions& options, const K::ConvOptions& window) {
    nn::ConvLSTMOptions given = options;
    given.return_sequences = given.return_state = true, given.dtype = ktape::DType::Float64;
    const nn::ConvLSTM2D layer(3, 2, given);
    layer.build(x.shape());
    give_random_weights(layer);
    const std::vector<Tensor> outputs = layer.apply(x);
    const Tensor zeros = K::zeros_like(outputs[1]);
    States states{zeros, zeros};
    for (std::int64_t t = 0; t < 3; ++t) {
      states = by_hand(layer.get_weights(), step_of(x, t), states, window);
      CHECK(close(step_of(outputs[0], t), states.h, {.atol = 1e-12}));
    }
    CHECK(close(outputs[1], states.h, {.atol = 1e-12}));
    CHECK(close(outputs[2], states.c, {.atol = 1e-12}));
  };
  check({}, {});
  check({.padding = "same"}, {.padding = "same"});
  check({.strides = {2, 1}}, {.strides = {2, 1}});
  check({.dilation_rate = 2}, {.dilation_rate = 2});
}

TEST_CASE("channels first equals channels last, transposed") {
  const Tensor x = normal({2, 3, 4, 5, 2}, 1);
  const nn::ConvLSTM2D last(3, 2, {.data_format = "channels_last", .dtype = "float64"});
  const nn::ConvLSTM2D first(3, 2, {.data_format = "channels_first", .dtype = "float64"});
  const Tensor expected = last(x), turned = K::permute_dimensions(x, {0, 1, 4, 2, 3});
  first.build(turned.shape());
  first.set_weights(last.get_weights());
  CHECK(close(first(turned), K::permute_dimensions(expected, {0, 3, 1, 2}), {.atol = 1e-12}));
}

TEST_CASE("over one axis it is the picture of height 1") {
  const Tensor x = normal({2, 3, 5, 2}, 1);
  const nn::ConvLSTM1D sequence(3, 2, {.dtype = "float64"});
  const nn::ConvLSTM2D picture(3, {1, 2}, {.dtype = "float64"});
  const Tensor expected = sequence(x), high = K::expand_dims(x, 2);
  picture.build(high.shape());
  std::vector<Tensor> weights = sequence.get_weights();
  weights[0] = K::expand_dims(weights[0], 0), weights[1] = K::expand_dims(weights[1], 0);
  picture.set_weights(weights);
  CHECK(close(K::squeeze(picture(high), 1), expected, {.atol = 1e-12}));
}

TEST_CASE("states may be given, are kept when stateful, and can be reset") {
  const Tensor x = normal({2, 4, 3, 3, 1}, 1);
  const std::vector<Tensor> halves = K::split(x, 2, 1);
  const nn::ConvLSTM2D whole(2, 2, {.padding = "same", .return_state = true, .dtype = "float64"});
  const std::vector<Tensor> expected = whole.apply(x);

  const std::vector<Tensor> first = whole.apply(halves[0]);
  CHECK(close(whole.apply(halves[1], {.initial_state = {first[1], first[2]}})[0], expected[0],
              {.atol = 1e-12}));

  const nn::ConvLSTM2D stateful(2, 2, {.padding = "same", .stateful = true, .dtype = "float64"});
  stateful.build(x.shape());
  stateful.set_weights(whole.get_weights());
  stateful(halves[0]);
  CHECK(close(stateful(halves[1]), expected[0], {.atol = 1e-12}));
  CHECK(close(stateful.states()[1], expected[2], {.atol = 1e-12}));
  stateful.reset_states();
  CHECK(close(stateful(x), expected[0], {.atol = 1e-12}));
  stateful.reset_states({first[1], first[2]});
  CHECK(close(stateful(halves[1]), expected[0], {.atol = 1e-12}));
  CHECK_THROWS_WITH_AS(stateful.reset_states({first[1], K::zeros({2, 2})}),
                       doctest::Contains("reset_states must have the shape (None, 3, 3, 2) for state 1"),
                       ktape::ValueError);
}

TEST_CASE("masked steps are skipped, and backwards is the reverse") {
  const Tensor x = normal({1, 3, 3, 3, 1}, 1);
  const Tensor mask = K::constant({{1, 0, 1}}, {.dtype = "bool"});
  const nn::ConvLSTM2D layer(2, 2, {.dtype = "float64"});
  const std::vector<Tensor> steps = K::split(x, 3, 1);
  CHECK(close(layer(x, {.mask = mask}), layer(K::concatenate({steps[0], steps[2]}, 1)), {.atol = 1e-12}));
  const nn::ConvLSTM2D backwards(2, 2, {.go_backwards = true, .dtype = "float64"});
  backwards.build(x.shape());
  backwards.set_weights(layer.get_weights());
  CHECK(close(backwards(x), layer(K::reverse(x, 1)), {.atol = 1e-12}));
}

TEST_CASE("both dropouts work in training only, and alike for all steps") {
  const Tensor x = K::ones({2, 3, 4, 4, 2});
  for (const auto& [dropout, recurrent_dropout] : {std::pair{0.5, 0.0}, {0.0, 0.5}}) {
    const nn::ConvLSTM2D layer(
        3, 3, {.padding = "same", .dropout = dropout, .recurrent_dropout = recurrent_dropout, .seed = 1});
    const nn::ConvLSTM2D again(
        3, 3, {.padding = "same", .dropout = dropout, .recurrent_dropout = recurrent_dropout, .seed = 1});
    const Tensor still = layer(x, {.training = false});
    CHECK(values(layer(x)) == values(still));
    const Tensor trained = layer(x, {.training = true});
    CHECK(values(trained) != values(still));
    again.build(x.shape());
    again.set_weights(layer.get_weights());
    CHECK(values(again(x, {.training = true})) == values(trained));
  }
}

TEST_CASE("a convolutional LSTM has gradients of first and second order") {
  const nn::ConvLSTM2D layer(1, 2, {.dtype = "float64"});
  const Tensor x = normal({1, 2, 3, 3, 1}, 1);
  layer.build(x.shape());
  check_gradients("ConvLSTM2D", [&](In in) { return layer(in[0]); }, {x});
}

TEST_CASE("a model of pictures over time learns, in either direction") {
  K::set_random_seed(2);
  nn::Sequential model({nn::Bidirectional(nn::ConvLSTM2D(2, 2)), nn::Flatten(), nn::Dense(1)});
  model.compile({.optimizer = nn::Adam(0.02), .loss = "mse"});
  const Tensor x = K::random_normal({32, 3, 4, 4, 1}, {.seed = 1}), y = K::mean(x, {1, 2, 3});
  const nn::History history = model.fit(x, y, {.epochs = 20, .verbose = 0});
  CHECK(history["loss"].back() < 0.5 * history["loss"].front());
}

TEST_CASE("convolutional LSTMs refuse bad arguments") {
  const auto check = [](const auto& f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), ktape::ValueError);
  };
  check([] { nn::ConvLSTM2D(0, 3); }, "[ConvLSTM2D] filters must be at least 1: received filters=0");
  check([] { nn::ConvLSTM2D(2, {3, 3, 3}); }, "[ConvLSTM2D] kernel_size must be one number, or one for each");
  check([] { nn::ConvLSTM1D(2, 3, {.padding = "causal"}); }, "[ConvLSTM1D] padding must be");
  check([] { nn::ConvLSTM2D(2, 3, {.strides = 2, .dilation_rate = 2}); },
        "[ConvLSTM2D] strides and dilation_rate must not both be above 1");
  check([] { nn::ConvLSTM2D(2, 3, {.recurrent_dropout = 1}); },
        "[ConvLSTM2D] recurrent_dropout must be in [0, 1): received recurrent_dropout=1");
  check(
      [] {
        nn::ConvLSTM2D(2, 3).build(Shape{None, None, None, 5, 1});
      },
      "the spatial extents of the input must be known");
  const nn::ConvLSTM2D layer(2, 2, {.name = "film"});
  check([&] { layer(K::ones({2, 3, 1, 1, 1})); }, "film");
  CHECK(layer(K::ones({2, 3, 4, 4, 1})).shape() == Shape{2, 3, 3, 2});
  check(
      [&] {
        layer.apply({K::ones({2, 3, 4, 4, 1}), K::zeros({2, 3, 3, 2})});
      },
      "[film] initial_state must be one tensor for each of the 2 states: received 1");
}
