#include "../../ops/check.hpp"

#include <iostream>
#include <ktape/ktape.hpp>
#include <sstream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::All, ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// A class of the user's.
struct TwiceImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(4));
  TwiceImpl() : nn::ModelImpl("Twice") {}
  Tensor call(const Tensor& x) override { return dense(dense(x)); }
};
using Twice = nn::ModelOf<TwiceImpl>;

/// Returns the text that f writes to std::cout.
template <class F>
std::string written(F f) {
  struct Redirection {
    std::ostringstream out;
    std::streambuf* before = std::cout.rdbuf(out.rdbuf());
    ~Redirection() { std::cout.rdbuf(before); }
  } redirection;
  f();
  return redirection.out.str();
}

}  // namespace

TEST_CASE("predict shows its progress, as fit and evaluate, unless verbose is 0") {
  const nn::Sequential model({nn::Input({2}), nn::Dense(1)});
  const Tensor x = K::ones({5, 2});
  const std::string shown = written([&] { model.predict(x, {.batch_size = 2}); });
  CHECK(shown.find("3/3") != std::string::npos);
  CHECK(written([&] { model.predict(x); }).find("1/1") != std::string::npos);
  CHECK(written([&] { model.predict(x, {.verbose = 0}); }).empty());
}

TEST_CASE("a functional model runs its layers again") {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const nn::Dense first(3, {.activation = "tanh"}), second(2);
  const Tensor hidden = first(in);
  const nn::Model model(in, second(hidden), {.name = "net"});
  CHECK(model.name() == "net");
  CHECK(model.layers().size() == 3);
  CHECK(model.weights().size() == 4);
  CHECK(model.count_params() == 4 * 3 + 3 + 3 * 2 + 2);
  const Tensor x = normal({5, 4}, 1, "float32");
  CHECK(values(model(x)) == values(second(first(x))));
  CHECK(K::int_shape(model.output()) == Shape{None, 2});
  // A part of it shares the weights.
  const nn::Model part(in, hidden);
  CHECK(values(part(x)) == values(first(x)));
  // Gradients reach them.
  const auto slopes = ktape::gradients(K::sum(model(x)), model.weights());
  CHECK(slopes.size() == 4);
  CHECK(slopes[0].defined());
  CHECK(slopes[0].shape() == Shape{4, 3});
}

TEST_CASE("a model of several inputs and outputs, a shared layer and ops between") {
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const nn::Dense shared(2, {.name = "shared"});
  const Tensor both = nn::Concatenate()({shared(a), shared(b)});
  const nn::Model model({a, b}, {both, K::sum(K::square(both), -1)});
  CHECK(model.layers().size() == 4);
  CHECK(model.weights().size() == 2);
  const Tensor x = normal({2, 3}, 1, "float32"), y = normal({2, 3}, 2, "float32");
  const std::vector<Tensor> out = model.apply({x, y});
  const Tensor expected = K::concatenate({shared(x), shared(y)});
  CHECK(values(out[0]) == values(expected));
  CHECK(values(out[1]) == values(K::sum(K::square(expected), -1)));
  CHECK(shared.output_at(1).shape() == Shape{None, 2});
  CHECK_THROWS_WITH_AS(model.apply({x}), Contains("for each of its inputs 'a' and 'b': received 1"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.apply({x, K::ones({2, 4})}),
                       Contains("the input 'b' must have the shape (None, 3)"), ValueError);
}

TEST_CASE("models nest, and their graph can be looked into") {
  const Tensor in = nn::Input({4});
  const nn::Sequential inner({nn::Dense(3), nn::Activation("relu")}, {.name = "inner"});
  const Tensor hidden = inner(in);
  const nn::Model outer(in, nn::Dense(1)(hidden));
  CHECK(outer.layers().size() == 3);
  CHECK(outer.weights().size() == 4);
  const Tensor x = normal({2, 4}, 3, "float32");
  const auto f = K::function({outer.input()},
                             {outer.get_layer("inner").output(), K::gradients(outer.output(), {hidden})[0]});
  const auto seen = f({x});
  CHECK(values(seen[0]) == values(inner(x)));
  CHECK(seen[1].shape() == Shape{2, 3});
  const nn::Sequential deep({inner});
  CHECK(deep.layers().size() == 1);
  CHECK(values(deep(x)) == values(inner(x)));
}

TEST_CASE("a model in a model, held as a Layer, can be used as a model") {
  const Tensor in = nn::Input({2}), photo = nn::Input({2});
  const nn::Model base(in, nn::Dense(3, {.name = "inner"})(in), {.name = "base"});
  const nn::Model model(photo, nn::Dense(1, {.name = "outer"})(base(photo)));
  const nn::Model again(model.get_layer("base"));
  CHECK(again.is(base));
  CHECK(again.get_layer("inner").output().shape() == Shape{None, 3});
  CHECK_THROWS_WITH_AS(nn::Model(model.get_layer("outer")), Contains("'outer' of class Dense"), ValueError);
}

TEST_CASE("a Sequential is built by its first call, or by an input as its first layer") {
  const nn::Sequential late({nn::Dense(3, {.name = "first"}), nn::Dense(2, {.name = "second"})});
  CHECK(!late.built());
  CHECK_THROWS_AS(late.outputs(), ValueError);
  CHECK(late(K::ones({5, 4})).shape() == Shape{5, 2});
  CHECK(late.built());
  CHECK(K::int_shape(late.output()) == Shape{None, 2});
  CHECK(late.weights()[0].name() == "first/kernel");
  CHECK(late.get_layer("first").output().shape() == Shape{None, 3});

  const nn::Sequential early({nn::Input({4}), nn::Dense(3)});
  CHECK(early.built());
  CHECK(early.count_params() == 15);
  CHECK(early.layers().size() == 1);
  early.add(nn::Dense(2));
  CHECK(K::int_shape(early.output()) == Shape{None, 2});
  early.pop();
  CHECK(K::int_shape(early.output()) == Shape{None, 3});

  const nn::Sequential by_hand({nn::Dense(3)});
  by_hand.build({None, 7});
  CHECK(by_hand.count_params() == 24);
}

TEST_CASE("inputs take the dtype of the nn::Input of a Sequential, as in a functional model") {
  const Tensor in = nn::Input({2});
  const nn::Sequential model({in, nn::Dense(1, {.kernel_initializer = "ones"})});
  const Tensor x = K::cast(K::constant({{1.f, 2.f}, {3.f, 4.f}}), "int32");
  CHECK(values(model.predict(x, {.verbose = 0})) == Values{3, 7});
  CHECK(values(nn::Model(in, model(in)).predict(x, {.verbose = 0})) == Values{3, 7});
}

TEST_CASE("a model class of one's own") {
  const Twice model;
  CHECK(model(K::ones({2, 4})).shape() == Shape{2, 4});
  CHECK(model.weights().size() == 2);
  CHECK(model->dense.built());
  const Tensor in = nn::Input({4});
  const nn::Model wrapped(in, model(in));
  CHECK(values(wrapped(K::ones({1, 4}))) == values(model(K::ones({1, 4}))));
}

TEST_CASE("weights of frozen layers and models are not trainable, whatever is set inside") {
  const Tensor in = nn::Input({4});
  const nn::Sequential base({nn::Dense(3), nn::Dense(3)});
  const nn::Model model(in, nn::Dense(1)(base(in)));
  base.set_trainable(false);
  CHECK(model.trainable_weights().size() == 2);
  CHECK(model.non_trainable_weights().size() == 4);
  model.set_trainable(false);
  CHECK(model.trainable_weights().empty());
  base.layers()[1].set_trainable(true);
  CHECK(model.trainable_weights().empty());
}

TEST_CASE("losses of a model's tensors are computed with it") {
  const Tensor in = nn::Input({2});
  const Tensor out = nn::Dense(2, {.kernel_initializer = "ones"})(in);
  const nn::Model model(in, out);
  model.add_loss(K::mean(K::square(out)));
  CHECK(model.losses().empty());
  model(K::ones({3, 2}));
  CHECK(model.losses().size() == 1);
  CHECK(model.losses()[0].item() == 4);
}

TEST_CASE("inputs, layers and outputs of a model must fit together") {
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const Tensor sum = nn::Add({.name = "add"})({a, b});
  CHECK_THROWS_WITH_AS(nn::Model(a, sum), Contains("the outputs need the input 'b'"), ValueError);
  CHECK_THROWS_WITH_AS(nn::Model({a, a}, sum), Contains("named once"), ValueError);
  CHECK_THROWS_WITH_AS(nn::Model(K::ones({1}), sum), Contains("an input must be symbolic"), ValueError);
  const Tensor named = nn::Dense(1, {.name = "twin"})(nn::Dense(1, {.name = "twin"})(a));
  CHECK_THROWS_WITH_AS(nn::Model(a, named), Contains("two layers named 'twin'"), ValueError);
  const nn::Model model({a, b}, sum);
  CHECK_THROWS_WITH_AS(model.get_layer("ad"), Contains("did you mean 'a' or 'add'"), ValueError);
  CHECK_THROWS_WITH_AS(model.get_layer(3), Contains("must be in [-3, 3)"), ValueError);
}

TEST_CASE("a summary is Keras's table") {
  const Tensor a = nn::Input({3}, {.name = "a"}), b = nn::Input({3}, {.name = "b"});
  const nn::Dense shared(2, {.name = "shared"});
  const nn::Model model({a, b}, nn::Add({.name = "sum"})({shared(a), shared(b)}), {.name = "pair"});
  std::vector<std::string> lines;
  model.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(lines[0] == "Model: \"pair\"");
  const auto holds = [&](const char* text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(holds("Connected to"));
  CHECK(holds("│ a (InputLayer)"));
  CHECK(holds("│ (None, 3)"));
  CHECK(holds("shared (Dense)"));
  CHECK(holds("│ a[0][0],"));
  CHECK(holds("│ shared[0][0],"));
  CHECK(holds("│ shared[1][0] "));
  CHECK(holds(" Total params: 8 (32.00 B)"));
  CHECK(holds(" Non-trainable params: 0 (0.00 B)"));

  const nn::Sequential unbuilt({nn::Dense(2000, {.name = "wide"})});
  lines.clear();
  unbuilt.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(holds("│ wide (Dense)"));
  CHECK(holds("0 (unbuilt)"));
  CHECK(holds("?"));
  CHECK(!holds("Connected to"));
  unbuilt.build({ktape::None, 999});
  lines.clear();
  unbuilt.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(holds("2,000,000 │"));
  CHECK(holds(" Total params: 2,000,000 (7.63 MB)"));
  CHECK(!holds("Optimizer params"));

  const nn::Sequential trained({nn::Dense(1)});
  trained.compile({.optimizer = nn::SGD({.momentum = 0.9}), .loss = "mse"});
  trained.train_on_batch(K::ones({2, 3}), K::ones({2, 1}));
  lines.clear();
  trained.summary({.print_fn = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(holds(" Total params: 10 (44.00 B)"));
  CHECK(holds(" Trainable params: 4 (16.00 B)"));
  CHECK(holds(" Optimizer params: 6 (28.00 B)"));
}

TEST_CASE("a summary of a class of one's own shows the outputs of the models in it") {
  struct PairImpl : nn::ModelImpl {
    nn::Sequential first = add_layer(nn::Sequential({nn::Input({4}), nn::Dense(3)}, {.name = "first"}));
    Tensor call(const Tensor& x) override { return first(x); }
  };
  std::string text;
  nn::ModelOf<PairImpl>().summary({.print_fn = [&](const std::string& line) { text += line + '\n'; }});
  CHECK(text.find("first (Sequential)") != std::string::npos);
  CHECK(text.find("(None, 3)") != std::string::npos);
}
