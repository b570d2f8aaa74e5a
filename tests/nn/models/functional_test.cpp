#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <optional>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

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

TEST_CASE("an inner model, held as a Layer, can be used as a model") {
  const Tensor in = nn::Input({2}), photo = nn::Input({2});
  const nn::Model base(in, nn::Dense(3, {.name = "inner"})(in), {.name = "base"});
  const nn::Model model(photo, nn::Dense(1, {.name = "outer"})(base(photo)));
  const nn::Model again(model.get_layer("base"));
  CHECK(again.is(base));
  CHECK(again.get_layer("inner").output().shape() == Shape{None, 3});
  CHECK_THROWS_WITH_AS(nn::Model(model.get_layer("outer")), Contains("'outer' of class Dense"), ValueError);
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

TEST_CASE("random draws, and callables that read tensors of the model, run in a model in another model") {
  namespace random = ktape::random;
  namespace ops = ktape::ops;
  using Function = Tensor (*)(const Tensor& x);
  const std::pair<const char*, Function> cases[] = {
      {"normal", [](const Tensor& x) { return random::normal(K::shape(x), 0, 1, {}, 7); }},
      {"uniform", [](const Tensor& x) { return x + K::random_uniform(K::shape(x), {.seed = 7}); }},
      {"dropout", [](const Tensor& x) { return random::dropout(x, 0.5, {}, 7); }},
      {"categorical", [](const Tensor& x) { return random::categorical(x, 5, {}, 7); }},
      {"shuffle", [](const Tensor& x) { return random::shuffle(x, 1, 7); }},
      {"gamma",
       [](const Tensor& x) {
         return random::gamma({3}, K::abs(x[{0, ktape::Slice(0, 3)}]) + 1.f, {}, 7);
       }},
      {"elastic_transform",
       [](const Tensor& x) {
         return ops::elastic_transform(K::reshape(x, {-1, 2, 2, 1}),
                                       {.alpha = K::abs(x[{0, 0}]), .sigma = 1., .seed = 7});
       }},
      {"segment_sum",
       [](const Tensor& x) {
         return ops::segment_sum(x, K::constant({0, 1}, {.dtype = "int32"}), 3);
       }},
      {"switch",
       [](const Tensor& x) {
         return K::switch_(
             K::sum(x) > 0, [&] { return x * 2.f; }, [&] { return -x; });
       }},
      {"map_fn",
       [](const Tensor& x) { return K::map_fn([&](const Tensor& row) { return row * K::max(x); }, x); }},
      {"foldl",
       [](const Tensor& x) {
         return K::foldl([&](const Tensor& a, const Tensor& b) { return a + b * K::max(x); }, x);
       }},
  };
  const Tensor x = normal({2, 4}, 3, "float32");
  for (const auto& [name, f] : cases) {
    CAPTURE(std::string(name));
    const Tensor in = nn::Input({4}), z = nn::Input({4}), batch = nn::Input({4}, {.batch_size = 2});
    const nn::Model inner(in, f(in));
    const Tensor wanted = f(x);
    for (const Tensor& outer_input : {z, batch}) {
      std::optional<nn::Model> outer;
      CHECK_NOTHROW(outer = nn::Model(outer_input, inner(outer_input * 1.f)));
      if (outer) CHECK(close((*outer)(x), wanted, {.rtol = 1e-6, .atol = 1e-6}));
    }
  }
}
