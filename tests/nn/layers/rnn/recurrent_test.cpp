#include "../../../close.hpp"
#include "../../../ops/check.hpp"
#include "../../policies.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

/// A cell that adds up its inputs, each time forgetting a part of the sum.
struct LeakySumImpl : nn::CellImpl {
  double kept;
  explicit LeakySumImpl(double kept) : nn::CellImpl("LeakySum"), kept(kept) {}
  std::vector<std::int64_t> state_size() const override { return {2}; }
  std::vector<Tensor> call(const std::vector<Tensor>& inputs) override {
    const Tensor sum = inputs[1] * kept + inputs[0];
    return {sum, sum};
  }
  nn::Config get_config() const override { return {{"kept", kept}}; }
};
using LeakySum = nn::LayerOf<LeakySumImpl>;

/// A cell with a weight, and a clock as its second state.
struct ClockedImpl : nn::CellImpl {
  Variable kernel;
  ClockedImpl() : nn::CellImpl("Clocked") {}
  std::vector<std::int64_t> state_size() const override { return {3, 1}; }
  void build(const Shape& input) override { kernel = add_weight("kernel", {input[-1], 3}); }
  std::vector<Tensor> call(const std::vector<Tensor>& inputs) override {
    const Tensor h = K::tanh(K::dot(inputs[0], kernel) + inputs[1]);
    return {h, h, inputs[2] + 1};
  }
};
using Clocked = nn::LayerOf<ClockedImpl>;

}  // namespace

TEST_CASE("a user-defined cell runs over the steps") {
  const nn::RNN layer(LeakySum(0.5), {.return_sequences = true, .return_state = true});
  const Tensor x = K::ones({1, 3, 2});
  const std::vector<Tensor> outputs = layer.apply(x);
  CHECK(values(outputs[0]) == Values{1, 1, 1.5, 1.5, 1.75, 1.75});
  CHECK(values(outputs[1]) == Values{1.75, 1.75});

  SUBCASE("with a mask") {
    const Tensor mask = K::constant({{1, 0, 1}}, {.dtype = "bool"});
    CHECK(values(layer.apply(x, {.mask = mask})[0]) == Values{1, 1, 1, 1, 1.5, 1.5});
  }
  SUBCASE("stacked, and beside the library's") {
    const nn::RNN stack({LeakySum(0.5), nn::GRUCell(2), LeakySum(0)});
    CHECK(stack(x).shape() == Shape{1, 2});
    CHECK(stack.weights().size() == 3);
  }
  SUBCASE("with weights, and states of several sizes") {
    const nn::RNN clocked(Clocked(), {.return_state = true, .name = "clocked"});
    const std::vector<Tensor> after = clocked.apply(x);
    CHECK(after.size() == 3);
    CHECK(values(after[2]) == Values{3});
    CHECK(clocked.weights().at(0).name().starts_with("clocked/"));
    CHECK(ktape::gradients(K::sum(after[0]), clocked.weights())[0].defined());
  }
  SUBCASE("in a model") {
    const Tensor in = nn::Input({None, 2});
    const nn::Model model(in, nn::RNN(LeakySum(0.5))(in));
    CHECK(values(model(x)) == Values{1.75, 1.75});
  }
  CHECK_THROWS_WITH_AS(nn::RNN(nn::Dense(3)), doctest::Contains("cell must be a cell"), ktape::ValueError);
}

TEST_CASE("recurrent dropout drops equal units of the state at each step, in training") {
  // With a kernel of zeros and a recurrent kernel of ones on the diagonal the state only passes through
  // dropout.
  const nn::SimpleRNN layer(
      40, {.activation = "linear", .recurrent_dropout = 0.25, .return_sequences = true, .seed = 1});
  const Tensor x = K::zeros({2, 3, 5});
  layer.build(x.shape());
  layer.set_weights({K::zeros({5, 40}), K::eye(40), K::zeros({40})});
  const nn::CallArguments from_ones{.training = true, .initial_state = K::ones({2, 40})};
  const std::vector<Tensor> steps = K::split(layer(x, from_ones), 3, 1);
  int dropped = 0;
  for (const double value : values(steps[0])) {
    CHECK(close(value, value == 0 ? 0 : 1 / 0.75, {.rtol = 1e-6}));
    dropped += value == 0;
  }
  CHECK(dropped > 5);
  CHECK(dropped < 40);
  CHECK(values(steps[1] * 0.75) == values(steps[0] * steps[0] * 0.75));
  CHECK(values(layer(x, from_ones)) != values(K::concatenate(steps, 1)));
  const Tensor still = layer(x, {.training = false, .initial_state = K::ones({2, 40})});
  CHECK(values(still) == values(K::ones({2, 3, 40})));
}

TEST_CASE("dropout of the inputs and of the state work in every cell") {
  const Tensor x = K::ones({2, 4, 3});
  for (const double recurrent : {0.0, 0.5}) {
    const double dropout = 0.5 - recurrent;
    for (const nn::Layer& layer : std::vector<nn::Layer>{
             nn::SimpleRNN(6, {.dropout = dropout, .recurrent_dropout = recurrent, .seed = 1}),
             nn::LSTM(6, {.dropout = dropout, .recurrent_dropout = recurrent, .seed = 1}),
             nn::GRU(6, {.dropout = dropout, .recurrent_dropout = recurrent, .seed = 1}),
             nn::RNN({nn::LSTMCell(6, {.dropout = dropout, .recurrent_dropout = recurrent, .seed = 1}),
                      nn::GRUCell(6, {.recurrent_dropout = recurrent})})}) {
      const Tensor still = layer(x, {.training = false});
      CHECK(values(layer(x, {.training = true})) != values(still));
      CHECK(values(layer(x)) == values(still));
    }
  }
}

TEST_CASE("a dtype policy of Keras 3 in a config reaches cells and layers inside") {
  const nn::Config policy{{"module", "keras"},
                          {"class_name", "DTypePolicy"},
                          {"config", nn::Config{{"name", "float64"}}},
                          {"registered_name", nn::Value()}};
  const auto with_policy = [&](const nn::Layer& layer) {
    const nn::Config config = with_dtype(layer.get_config(), policy);
    return nn::Layer::from_value(nn::Config{{"class_name", layer.class_name()}, {"config", config}});
  };
  const Tensor x = normal({2, 3, 4});
  for (const nn::Layer& layer : std::vector<nn::Layer>{
           nn::Dense(2), nn::LSTM(2), nn::RNN(nn::GRUCell(2)), nn::RNN({nn::LSTMCell(2), nn::GRUCell(2)}),
           nn::Bidirectional(nn::GRU(2)), nn::TimeDistributed(nn::Dense(2)),
           nn::TimeDistributed(nn::TimeDistributed(nn::Dense(2)))}) {
    const nn::Layer again = with_policy(layer);
    CAPTURE(layer.class_name());
    const Tensor y = again(layer.class_name() == "TimeDistributed" ? K::expand_dims(x) : x);
    CHECK(y.dtype() == ktape::DType::Float64);
    for (const Variable& weight : again.weights()) CHECK(weight.dtype() == ktape::DType::Float64);
  }
  const nn::Layer attention = with_policy(nn::MultiHeadAttention(2, 3));
  CHECK(attention({x, x}).dtype() == ktape::DType::Float64);
  CHECK(attention.weights()[0].dtype() == ktape::DType::Float64);
}
