#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/rnn/recurrent_arguments.hpp>

#include <cmath>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Builds a cell of one unit and one feature, and sets its weights.
template <class Cell>
Cell with_weights(const Cell& cell, const std::vector<Tensor>& weights) {
  cell.build(Shape{None, 1});
  cell.set_weights(weights);
  return cell;
}

Tensor one(double x) { return doubles({{x}}); }

/// Returns tanh as a function without a name in configs, for which no op over whole sequences is used.
nn::ActivationFunction unnamed_tanh() {
  return [](const Tensor& x) { return K::tanh(x); };
}

}  // namespace

TEST_CASE("a step of SimpleRNNCell follows the formula") {
  const auto cell = with_weights(nn::SimpleRNNCell(1, {.dtype = "float64"}),
                                 {doubles({{0.5}}), doubles({{-0.25}}), doubles({0.125})});
  const std::vector<Tensor> step = cell.apply({one(2), one(3)});
  const double h = std::tanh(0.5 * 2 - 0.25 * 3 + 0.125);
  CHECK(close(step[0].item<double>(), h));
  CHECK(close(step[1].item<double>(), h));
}

TEST_CASE("a step of LSTMCell follows the formula, with the gates in the order i, f, c, o") {
  const Values k{0.5, -1, 0.75, 0.25}, u{0.1, 0.2, -0.3, 0.4}, b{0.05, 1, -0.1, 0.3};
  const auto cell =
      with_weights(nn::LSTMCell(1, {.dtype = "float64"}), {doubles({k}), doubles({u}), doubles(b)});
  const double x = 2, h = 0.5, c = -1;
  const auto gate = [&](std::size_t i) { return k[i] * x + u[i] * h + b[i]; };
  const double next_c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * std::tanh(gate(2));
  const double next_h = sigmoid(gate(3)) * std::tanh(next_c);
  const std::vector<Tensor> step = cell.apply({one(x), one(h), one(c)});
  REQUIRE(step.size() == 3);
  CHECK(close(step[0].item<double>(), next_h));
  CHECK(close(step[1].item<double>(), next_h));
  CHECK(close(step[2].item<double>(), next_c));
}

TEST_CASE("a step of GRUCell follows the formula, with the reset after and before the product") {
  const Values k{0.5, -1, 0.75}, u{0.1, 0.2, -0.3}, b{0.05, 1, -0.1}, rb{0.2, -0.4, 0.6};
  const double x = 2, h = 0.5;
  const auto expected = [&](double recurrent_bias, bool after) {
    const auto gate = [&](std::size_t i) { return k[i] * x + b[i] + u[i] * h + recurrent_bias * rb[i]; };
    const double z = sigmoid(gate(0)), r = sigmoid(gate(1));
    const double recurrent = after ? r * (u[2] * h + recurrent_bias * rb[2]) : u[2] * (r * h);
    return z * h + (1 - z) * std::tanh(k[2] * x + b[2] + recurrent);
  };
  const auto after =
      with_weights(nn::GRUCell(1, {.dtype = "float64"}), {doubles({k}), doubles({u}), doubles({b, rb})});
  CHECK(close(after.apply({one(x), one(h)})[0].item<double>(), expected(1, true)));
  const auto before = with_weights(nn::GRUCell(1, {.reset_after = false, .dtype = "float64"}),
                                   {doubles({k}), doubles({u}), doubles(b)});
  CHECK(close(before.apply({one(x), one(h)})[0].item<double>(), expected(0, false)));
}

TEST_CASE("weights: names, shapes, and the bias of the forget gate") {
  const nn::LSTMCell lstm(2), closed(2, {.unit_forget_bias = false});
  lstm.build(Shape{None, 3}), closed.build(Shape{None, 3});
  CHECK(lstm.weight("kernel").shape() == Shape{3, 8});
  CHECK(lstm.weight("recurrent_kernel").shape() == Shape{2, 8});
  CHECK(values(lstm.weight("bias").value()) == Values{0, 0, 1, 1, 0, 0, 0, 0});
  CHECK(values(closed.weight("bias").value()) == Values(8, 0.));
  const nn::GRUCell gru(2), without_bias(2, {.use_bias = false});
  gru.build(Shape{None, 3}), without_bias.build(Shape{None, 3});
  CHECK(gru.weight("bias").shape() == Shape{2, 6});
  CHECK(without_bias.weights().size() == 2);
}

TEST_CASE("an op over whole sequences gives the results of the cell's steps") {
  const Tensor x = normal({3, 5, 4}, 1),
               mask = K::constant({{1, 1, 0, 1, 0}, {0, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}, {.dtype = "bool"});
  const auto check = [&](const nn::Layer& fused, const nn::Layer& stepped, bool backwards) {
    const nn::RNN one(fused, {.return_sequences = true, .go_backwards = backwards, .dtype = "float64"}),
        other(stepped, {.return_sequences = true, .go_backwards = backwards, .dtype = "float64"});
    one.build(x.shape()), other.build(x.shape());
    other.set_weights(one.get_weights());
    CAPTURE(fused.class_name());
    CHECK(close(one(x), other(x), {.atol = 1e-12}));
    CHECK(close(one(x, {.mask = mask}), other(x, {.mask = mask}), {.atol = 1e-12}));
  };
  for (const bool backwards : {false, true}) {
    check(nn::SimpleRNNCell(3, {.dtype = "float64"}),
          nn::SimpleRNNCell(3, {.activation = unnamed_tanh(), .dtype = "float64"}), backwards);
    check(nn::LSTMCell(3, {.dtype = "float64"}),
          nn::LSTMCell(3, {.activation = unnamed_tanh(), .dtype = "float64"}), backwards);
    for (const bool after : {false, true})
      check(nn::GRUCell(3, {.reset_after = after, .dtype = "float64"}),
            nn::GRUCell(3, {.activation = unnamed_tanh(), .reset_after = after, .dtype = "float64"}),
            backwards);
  }
}

TEST_CASE("stacked cells pass outputs on, and have the states of all cells in order") {
  const nn::SimpleRNNCell first(2, {.activation = "linear", .dtype = "float64"});
  const nn::LSTMCell second(1, {.dtype = "float64"});
  const nn::StackedRNNCells stack({first, second}, {.dtype = "float64"});
  auto& impl = nn::as_cell(stack, "test");
  CHECK(impl.state_size() == std::vector<std::int64_t>{2, 1, 1});
  CHECK(impl.output_size() == 1);
  const Tensor x = normal({4, 3}, 1), h = normal({4, 2}, 2), h2 = normal({4, 1}, 3), c2 = normal({4, 1}, 4);
  stack.build(x.shape());
  const std::vector<Tensor> all = stack.apply({x, h, h2, c2});
  const std::vector<Tensor> below = first.apply({x, h}), above = second.apply({below[0], h2, c2});
  REQUIRE(all.size() == 4);
  CHECK(close(all, {above[0], below[1], above[1], above[2]}, {.atol = 1e-13}));
  const nn::Layer again = nn::Layer::from_value(stack.to_value());
  CHECK(again.get_config() == stack.get_config());
  CHECK(nn::as_cell(again, "test").state_size() == impl.state_size());
}

TEST_CASE("inner layers without a dtype get the dtype of the outer layer") {
  const Value cell = nn::from_json(R"({"class_name": "LSTMCell", "config": {"units": 2}})");
  const Value own =
      nn::from_json(R"({"class_name": "LSTMCell", "config": {"units": 2, "dtype": "float32"}})");
  const auto dtype_of = [](const Value& layer) { return layer.config().at("config").config().get("dtype"); };
  const Config one = nn::inner_with_dtype(Config{{"dtype", "float64"}, {"cell", cell}});
  CHECK(dtype_of(one.at("cell")) == Value("float64"));
  CHECK(dtype_of(nn::inner_with_dtype(Config{{"dtype", "float64"}, {"cell", own}}).at("cell")) ==
        Value("float32"));
  const Config several =
      nn::inner_with_dtype(Config{{"dtype", "float64"}, {"cells", Value::List{cell, cell}}});
  CHECK(dtype_of(several.at("cells").list()[1]) == Value("float64"));
  const Value wrapped = Config{{"class_name", "RNN"}, {"config", Config{{"cell", cell}}}};
  const Config deep =
      nn::inner_with_dtype(Config{{"dtype", "float64"}, {"layer", wrapped}, {"backward_layer", Value()}});
  CHECK(dtype_of(deep.at("layer").config().at("config").config().at("cell")) == Value("float64"));
  CHECK(deep.at("backward_layer").is_null());
  const Config without{{"dtype", Value()}, {"cell", cell}};
  CHECK(nn::inner_with_dtype(without) == without);
}

TEST_CASE("errors name the cell") {
  CHECK_THROWS_WITH_AS(nn::LSTMCell(0), "[LSTMCell] units must be at least 1: received units=0", ValueError);
  CHECK_THROWS_WITH_AS(nn::GRUCell(1, {.dropout = 1}),
                       "[GRUCell] dropout must be in [0, 1): received dropout=1", ValueError);
  CHECK_THROWS_WITH_AS(nn::SimpleRNNCell(1, {.recurrent_dropout = -0.5}),
                       "[SimpleRNNCell] recurrent_dropout must be in [0, 1): received recurrent_dropout=-0.5",
                       ValueError);
  const nn::LSTMCell cell(2, {.name = "cell"});
  cell.build(Shape{None, 3});
  CHECK_THROWS_WITH_AS(cell.apply({K::ones({1, 3}), K::ones({1, 2})}),
                       Contains("[cell] a cell must be called on its input and 2 states: received 2 tensors"),
                       ValueError);
  CHECK_THROWS_WITH_AS(cell.apply({K::ones({1, 3}), K::ones({1, 2}), K::ones({1, 5})}),
                       Contains("[cell] input 2 must have ndim=2, shape[-1]=2: received shape=(1, 5)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::StackedRNNCells({}), "[StackedRNNCells] there must be a cell: received none",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::StackedRNNCells({cell, nn::Dense(1)}),
                       "[StackedRNNCells] cell must be a cell, such as an LSTMCell: received Dense",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::as_cell(nn::Layer(), "RNN"),
                       "[RNN] cell must be a cell, such as an LSTMCell: received None", ValueError);
}
