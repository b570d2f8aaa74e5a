#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/rnn/recurrent_loop.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

Tensor reversed(const Tensor& x) { return K::reverse(x, 1); }

/// A layer whose output is the sum of the steps so far: weights of 1, no activation.
nn::SimpleRNN summing(nn::SimpleRNNOptions options) {
  options.activation = "linear", options.kernel_initializer = "ones", options.recurrent_initializer = "ones";
  return nn::SimpleRNN(1, options);
}

}  // namespace

TEST_CASE("outputs are the last step, all steps, and the states") {
  const Tensor x = K::constant({{{1.f}, {2.f}, {4.f}}});
  CHECK(values(summing({})(x)) == Values{7});
  CHECK(values(summing({.return_sequences = true})(x)) == Values{1, 3, 7});
  CHECK(values(summing({.return_sequences = true, .go_backwards = true})(x)) == Values{4, 6, 7});
  const std::vector<Tensor> both = summing({.return_state = true}).apply(x);
  REQUIRE(both.size() == 2);
  CHECK(values(both[1]) == Values{7});
  CHECK(values(summing({.return_sequences = true, .unroll = true})(x)) == Values{1, 3, 7});
}

TEST_CASE("going backwards is going forwards over the reversed steps") {
  const nn::LSTM forwards(3, {.return_sequences = true, .dtype = "float64"}),
      backwards(3, {.return_sequences = true, .go_backwards = true, .dtype = "float64"});
  const Tensor x = normal({2, 4, 5}, 1);
  forwards.build(x.shape()), backwards.build(x.shape());
  backwards.set_weights(forwards.get_weights());
  CHECK(close(backwards(x), forwards(reversed(x)), {.atol = 1e-13}));
  const Tensor mask = K::constant({{1, 0, 1, 1}, {1, 1, 0, 0}}, {.dtype = "bool"});
  CHECK(
      close(backwards(x, {.mask = mask}), forwards(reversed(x), {.mask = reversed(mask)}), {.atol = 1e-13}));
}

TEST_CASE("masked steps repeat the output, or give zeros, and sequences keep the mask") {
  const Tensor mask = K::constant({{0, 1, 0, 1}}, {.dtype = "bool"});
  const Tensor x = nn::with_mask(K::constant({{{1.f}, {2.f}, {4.f}, {8.f}}}), mask);
  const Tensor repeated = summing({.return_sequences = true})(x);
  CHECK(values(repeated) == Values{0, 2, 2, 10});
  CHECK(values(nn::mask_of(repeated)) == Values{0, 1, 0, 1});
  CHECK(values(summing({.return_sequences = true, .zero_output_for_mask = true})(x)) == Values{0, 2, 0, 10});
  const std::vector<Tensor> last = summing({.return_state = true}).apply(x);
  CHECK(values(last[0]) == Values{10});
  CHECK_FALSE(nn::mask_of(last[0]).defined());
  CHECK_FALSE(nn::mask_of(last[1]).defined());
}

TEST_CASE("initial states come as an argument or as further inputs") {
  const nn::GRU layer(3, {.dtype = "float64"});
  const Tensor x = normal({2, 4, 5}, 1), h = normal({2, 3}, 2);
  const Tensor from_argument = layer(x, {.initial_state = h});
  CHECK(values(layer({x, h})) == values(from_argument));
  CHECK(values(layer(x)) != values(from_argument));
  CHECK(values(layer(x, {.initial_state = K::zeros_like(h)})) == values(layer(x)));
}

TEST_CASE("a batch of unknown size begins with zeros") {
  const nn::LSTM layer(3);
  const Tensor in = nn::Input({None, 5});
  const auto f = K::function({in}, {layer(in)});
  const Tensor x = normal({4, 2, 5}, 1, "float32");
  CHECK(close(f({x})[0], layer(x), {.atol = 1e-6}));
  CHECK(f({K::zeros({0, 2, 5})})[0].shape() == Shape{0, 3});
}

TEST_CASE("a stateful layer continues from its last states until it is reset") {
  const nn::LSTM layer(3, {.stateful = true, .dtype = "float64"});
  const Tensor x = normal({2, 4, 5}, 1);
  const std::vector<Tensor> halves = K::split(x, 2, 1);
  const Tensor expected = layer(x);
  CHECK(layer.states().size() == 2);
  layer.reset_states();
  CHECK(layer.states().empty());
  const Tensor first = layer(halves[0]);
  CHECK(close(layer(halves[1]), expected, {.atol = 1e-12}));
  layer.reset_states();
  CHECK(close(layer(halves[0]), first, {.atol = 1e-12}));

  const std::vector<Tensor> given{normal({2, 3}, 7), normal({2, 3}, 8)};
  layer.reset_states(given);
  const Tensor from_given = layer(x);
  CHECK(close(layer(x, {.initial_state = given}), from_given, {.atol = 1e-12}));
  CHECK_THROWS_WITH_AS(
      layer(normal({1, 4, 5})),
      doctest::Contains("a stateful layer must see batches of one size until reset_states() is "
                        "called: received 1 samples after 2"),
      ktape::ValueError);
  CHECK_THROWS_WITH_AS(layer.reset_states({given[0]}),
                       doctest::Contains("reset_states must be one tensor for each of the 2 states"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(layer.reset_states({given[0], normal({2, 4})}),
                       doctest::Contains("must have the shape (None, 3) for state 1: received shape=(2, 4)"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(nn::RecurrentLayer(nn::Dense(2)), doctest::Contains("must be recurrent"),
                       ktape::ValueError);
}

TEST_CASE("kept states pass no gradients, and symbolic calls keep none") {
  const nn::LSTM layer(2, {.stateful = true});
  layer(nn::Input({3, 4}, {.batch_size = 2}));
  CHECK(layer.states().empty());
  const Tensor x = normal({2, 3, 4}, 1, "float32");
  ktape::GradientTape tape;
  tape.watch(x);
  layer(x);
  const Tensor second = layer(normal({2, 3, 4}, 2, "float32"));
  CHECK_FALSE(tape.gradient(second, x).defined());
}

TEST_CASE("kept states are part of an archive") {
  const nn::LSTM layer(2, {.stateful = true}), other(2, {.stateful = true});
  const Tensor x = normal({2, 3, 4}, 1, "float32");
  layer(x);
  other.build(x.shape());
  other.set_weights(layer.get_weights());
  nn::Archive archive;
  layer.impl().state(archive);
  nn::Archive again(archive.entries());
  other.impl().state(again);
  CHECK(values(other.states()[1]) == values(layer.states()[1]));
  CHECK(values(other(x)) == values(layer(x)));
}

TEST_CASE("inputs and states that do not fit are errors, and a failing call keeps the states") {
  const nn::LSTM layer(3, {.stateful = true, .name = "l"});
  const Tensor x = K::ones({2, 4, 5});
  layer(x);
  const Values kept = values(layer.states()[0]);
  CHECK_THROWS_WITH_AS(layer(K::ones({2, 5})),
                       "[l] the input must have ndim=3, shape[2]=5: received shape=(2, 5)", ValueError);
  CHECK_THROWS_WITH_AS(layer(K::ones({2, 4, 6})),
                       "[l] the input must have ndim=3, shape[2]=5: received shape=(2, 4, 6)", ValueError);
  CHECK_THROWS_WITH_AS(layer(x, {.initial_state = K::ones({2, 3})}),
                       Contains("[l] initial_state must be one tensor for each of the 2 states: received 1"),
                       ValueError);
  CHECK_THROWS_WITH_AS(layer(x, {.initial_state = {K::ones({2, 3}), Tensor()}}),
                       Contains("[l] initial_state must be tensors: received None"), ValueError);
  CHECK_THROWS_WITH_AS(
      layer(x, {.initial_state = {K::ones({2, 3}), K::ones({1, 3})}}),
      Contains("[l] initial_state must have the shape (2, 3) for state 1: received shape=(1, 3)"),
      ValueError);
  CHECK(values(layer.states()[0]) == kept);
}

namespace {

using Made = nn::Layer (*)(const nn::DTypePolicy& outer, const nn::DTypePolicy& inner);

/// Layers with layers inside, of other policies.
const std::vector<std::pair<const char*, Made>>& layers_of_two_policies() {
  using P = nn::DTypePolicy;
  static const std::vector<std::pair<const char*, Made>> all{
      {"LSTMCell",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::RNN(nn::LSTMCell(3, {.dtype = i}),
                        {.return_sequences = true, .return_state = true, .dtype = o});
       }},
      {"GRUCell",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::RNN(nn::GRUCell(3, {.activation = "relu", .dtype = i}), {.dtype = o});
       }},
      {"SimpleRNNCell",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::RNN(nn::SimpleRNNCell(3, {.dropout = 0.5, .recurrent_dropout = 0.5, .dtype = i}),
                        {.dtype = o});
       }},
      {"StackedRNNCells",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::RNN(
             nn::StackedRNNCells({nn::LSTMCell(3, {.dtype = i}), nn::GRUCell(2, {.dtype = o})}, {.dtype = o}),
             {.return_state = true, .dtype = o});
       }},
      {"StackedRNNCells of the inner policy",
       [](const P& o, const P& i) -> nn::Layer {
         const nn::GRUCell above(2, {.recurrent_dropout = 0.5, .dtype = o});
         return nn::RNN(nn::StackedRNNCells({nn::LSTMCell(3, {.dtype = i}), above}, {.dtype = i}),
                        {.dtype = o});
       }},
      {"Bidirectional",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::Bidirectional(nn::LSTM(3, {.return_sequences = true, .dtype = i}), {.dtype = o});
       }},
      {"Bidirectional RNN",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::Bidirectional(nn::RNN(nn::GRUCell(3, {.dtype = i}), {.dtype = o}),
                                  {.merge_mode = "mul", .dtype = i});
       }},
      {"Bidirectional of two",
       [](const P& o, const P& i) -> nn::Layer {
         const nn::LSTM back(3, {.go_backwards = true, .dtype = o});
         return nn::Bidirectional(nn::LSTM(3, {.dtype = i}),
                                  {.merge_mode = "ave", .backward_layer = back, .dtype = o});
       }},
      {"TimeDistributed",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::TimeDistributed(nn::Dense(3, {.dtype = i}), {.dtype = o});
       }},
      {"TimeDistributed LSTM",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::TimeDistributed(nn::BatchNormalization({.dtype = i}), {.dtype = o});
       }},
      {"ConvLSTM1D",
       [](const P& o, const P& i) -> nn::Layer {
         return nn::TimeDistributed(nn::ConvLSTM1D(2, 2, {.padding = "same", .dtype = i}), {.dtype = o});
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("wrappers and loops compute with layers of other policies, alone, in models and in clones") {
  const char* const policies[] = {"float32", "float16",       "bfloat16",
                                  "float64", "mixed_float16", "mixed_bfloat16"};
  for (const auto& [name, make] : layers_of_two_policies())
    for (const char* outer : policies)
      for (const char* inner : policies) {
        CAPTURE(std::string(name) + " of " + outer + " and " + inner);
        const Shape shape = std::string(name) == "ConvLSTM1D" ? Shape{2, 3, 4, 3, 2} : Shape{2, 3, 4};
        const Tensor x = normal(shape, 1, "float32");
        const nn::Layer layer = make(outer, inner), exact = make("float64", "float64");
        std::vector<Tensor> got;
        CHECK_NOTHROW(got = layer.apply({x}));
        if (got.empty()) continue;
        exact.build(shape);
        exact.set_weights(layer.get_weights());
        const std::vector<Tensor> wanted = exact.apply({x});
        REQUIRE(got.size() == wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i)
          CHECK(close(K::cast(got[i], "float64"), K::cast(wanted[i], "float64"), {.rtol = 0.1, .atol = 0.1}));
        const Tensor in = nn::Input(Shape(shape.begin() + 1, shape.rank() - 1));
        const nn::Model model(in, layer.apply({in}));
        const nn::Model again = nn::clone_model(model);
        again.set_weights(model.get_weights());
        for (const nn::Model& one : {model, again}) {
          const std::vector<Tensor> outputs = one.apply({x});
          for (std::size_t i = 0; i < got.size(); ++i) {
            CHECK(outputs[i].dtype() == got[i].dtype());
            CHECK(model.outputs()[i].dtype() == got[i].dtype());
            CHECK(close(K::cast(outputs[i], "float64"), K::cast(got[i], "float64"),
                        {.rtol = 0.02, .atol = 0.02}));
          }
        }
        ktape::GradientTape tape;
        const Tensor loss = K::sum(K::square(K::cast(layer.apply({x})[0], "float32")));
        for (const Tensor& gradient : tape.gradient(loss, layer.trainable_weights()))
          CHECK(gradient.defined());
      }
}
