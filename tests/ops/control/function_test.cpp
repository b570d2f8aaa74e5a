#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../catalogue.hpp"
#include "../check.hpp"

#include <cmath>
#include <thread>

using doctest::Contains;
namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError, ktape::Variable;

TEST_CASE("a placeholder has a shape, a dtype and a name, and no value") {
  const Tensor x = K::placeholder({.shape = {None, 3}, .dtype = "float64", .name = "x"});
  CHECK(K::int_shape(x) == Shape{None, 3});
  CHECK(K::dtype(x) == "float64");
  CHECK(K::is_placeholder(x));
  CHECK(!K::is_placeholder(x + 1.));
  CHECK(!K::is_placeholder(K::ones({2})));
  CHECK(K::int_shape(K::placeholder({.ndim = 2})) == Shape{None, None});
  CHECK(ktape::to_string(x) == "tensor(symbolic 'x', shape=(None, 3), dtype=float64)");
  CHECK(ktape::to_string(K::exp(x)) == "tensor(symbolic exp, shape=(None, 3), dtype=float64)");
  CHECK_THROWS_WITH_AS(K::placeholder(K::PlaceholderOptions{}),
                       Contains("[placeholder] a shape or ndim must be given"), ValueError);
  CHECK_THROWS_WITH_AS(K::placeholder({-3}), Contains("received"), ValueError);
}

TEST_CASE("reading a symbolic value is an error that names the placeholder") {
  const Tensor x = K::placeholder({.shape = {2}, .name = "the_input"}), y = K::sum(x);
  CHECK_THROWS_WITH_AS(K::eval(y), Contains("waits for the placeholder 'the_input'"), ValueError);
  CHECK_THROWS_WITH_AS(y.item(), Contains("'the_input'"), ValueError);
  CHECK_THROWS_WITH_AS(x.data<float>(), Contains("'the_input'"), ValueError);
  CHECK_THROWS_WITH_AS(Variable v(x), Contains("'the_input'"), ValueError);
  Variable w = K::variable({1.f, 2.f});
  CHECK_THROWS_WITH_AS(K::set_value(w, x), Contains("'the_input'"), ValueError);
  CHECK_THROWS_AS(K::count_params(K::placeholder({None, 2})), ValueError);
}

TEST_CASE("shapes are computed through the ops, and unknown extents stay unknown") {
  const Tensor images = K::placeholder({None, 32, 32, 3}), any = K::placeholder({None, None, None, 3});
  const Tensor kernel = K::zeros({3, 3, 3, 8});
  CHECK(K::int_shape(K::conv2d(images, kernel, {.padding = "same"})) == Shape{None, 32, 32, 8});
  CHECK(K::int_shape(K::conv2d(any, kernel)) == Shape{None, None, None, 8});
  CHECK(K::int_shape(K::pool2d(images, {2, 2}, {.strides = {2, 2}})) == Shape{None, 16, 16, 3});
  CHECK(K::int_shape(K::batch_flatten(images)) == Shape{None, 3072});
  CHECK(K::int_shape(K::mean(images, {1, 2})) == Shape{None, 3});
  CHECK(K::int_shape(K::reshape(images, {-1, 96})) == Shape{None, 96});
  CHECK(K::int_shape(images[{0}]) == Shape{32, 32, 3});
  CHECK(K::int_shape(K::concatenate({images, images}, 0)) == Shape{None, 32, 32, 3});
  CHECK(K::int_shape(K::permute_dimensions(images, {0, 3, 1, 2})) == Shape{None, 3, 32, 32});
  CHECK(K::int_shape(K::placeholder({None, 1}) + K::placeholder({None, 5})) == Shape{None, 5});
  const std::vector<Tensor> parts = K::split(K::placeholder({None, 6}), 3, 1);
  CHECK(parts.size() == 3);
  CHECK(K::int_shape(parts[2]) == Shape{None, 2});
  CHECK(K::dtype(K::argmax(images)) == "int64");
  CHECK_THROWS_WITH_AS(K::dot(K::placeholder({None, 3}), K::ones({4, 2})),
                       Contains("received x=(None, 3), y=(4, 2)"), ValueError);
}

TEST_CASE("a function checks its arguments") {
  const Tensor x = K::placeholder({None, 3}), z = K::placeholder({.shape = {2}, .name = "z"});
  CHECK_THROWS_WITH_AS(K::function({x}, {K::sum(x) + K::sum(z)}), Contains("a value for the placeholder 'z'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::function({K::ones({2})}, {x}), Contains("must be a placeholder"), ValueError);
  CHECK_THROWS_WITH_AS(K::function({x, x}, {x}), Contains("named once"), ValueError);
  CHECK_THROWS_WITH_AS(K::function({x}, {Tensor()}), Contains("[function] outputs[0] must be a tensor"),
                       ValueError);
  const auto f = K::function({x}, {K::sum(x)}, {}, {.name = "total"});
  CHECK_THROWS_WITH_AS(f({K::ones({2, 4})}),
                       Contains("[total] input 0 must have the shape (None, 3): received shape=(2, 4)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(f({K::ones({3})}), Contains("received shape=(3,)"), ValueError);
  CHECK_THROWS_WITH_AS(f({}), Contains("one value per input: received 0 for 1"), ValueError);
  CHECK_THROWS_WITH_AS(f({x}), Contains("has a value only inside a function"), ValueError);
}

TEST_CASE("values are converted to the placeholder's dtype, and literals are values") {
  const Tensor x = K::placeholder({None, 2}), labels = K::placeholder({.shape = {None}, .dtype = "int32"});
  const auto f = K::function({x, labels}, {K::sum(x, 1), labels + 1});
  const auto out = f({K::constant({{1, 2}, {3, 4}}, {.dtype = "int64"}), {5.f, 6.f}});
  CHECK(values(out[0]) == Values{3, 7});
  CHECK(K::dtype(out[0]) == "float32");
  CHECK(K::dtype(out[1]) == "int32");
  CHECK(values(out[1]) == Values{6, 7});
}

TEST_CASE("an intermediate tensor may be an input: then it is not computed") {
  const Tensor x = K::placeholder({None}), h = K::square(x), y = h + 1.f;
  CHECK(K::function({h}, {y})({K::constant({2.f})})[0].item<float>(0) == 3.f);
}

TEST_CASE("updates come after the outputs, read old values, and change nothing while the graph is built") {
  const Tensor x = K::placeholder({None});
  Variable a = K::variable(1.f), b = K::variable(10.f);
  const auto f = K::function({x}, {a + K::sum(x)},
                             {K::update(a, b + K::sum(x) * 0.f), K::update_add(b, K::sum(x)),
                              K::moving_average_update(a, K::sum(x), 0.5)});
  CHECK(a.item<float>() == 1.f);
  CHECK(f({{2.f, 3.f}})[0].item<float>() == 6.f);
  CHECK(a.item<float>() == 7.5f);
  CHECK(b.item<float>() == 15.f);
}

TEST_CASE("an update in a step callable happens when the function runs, not when its shape is learned") {
  const Tensor x = K::placeholder({None});
  Variable calls = K::variable(0.f);
  const auto f =
      K::function({x}, {K::map_fn([&](const Tensor& e) { return K::update_add(calls, 1.f), e * 2.f; }, x)});
  CHECK(calls.item<float>() == 0.f);
  f({{1.f, 2.f, 3.f}});
  CHECK(calls.item<float>() == 3.f);
}

TEST_CASE("gradients of symbolic losses: first and second order, None without a connection") {
  const Tensor x = K::placeholder({None, 2}), other = K::placeholder({None});
  Variable w = K::variable({{1.f}, {2.f}}), unused = K::variable(0.f);
  const Tensor loss = K::sum(K::square(K::dot(x, w)));
  const std::vector<Tensor> g = K::gradients(loss, {x, w, unused, other});
  CHECK(K::int_shape(g[0]) == Shape{None, 2});
  CHECK(!g[2].defined());
  CHECK(!g[3].defined());
  const Tensor penalty = K::gradients(K::sum(K::square(g[0])), {w})[0];
  const auto out = K::function({x}, {g[0], g[1], penalty})({K::constant({{1.f, 1.f}})});
  CHECK(values(out[0]) == Values{6, 12});     // 2 (x w) w
  CHECK(values(out[1]) == Values{6, 6});      // 2 (x w) x
  CHECK(values(out[2]) == Values{192, 264});  // of 4 (x w)^2 w w
}

TEST_CASE("gradients with respect to a tensor inside the graph (Grad-CAM)") {
  const Tensor image = K::placeholder({None, 4, 4, 1});
  Variable kernel = K::variable(K::ones({3, 3, 1, 2}));
  const Tensor features = K::relu(K::conv2d(image, kernel));
  const Tensor score = K::sum(features * features);
  const Tensor weights = K::mean(K::gradients(score, {features})[0], {0, 1, 2});
  const auto out = K::function({image}, {weights, features})({K::ones({1, 4, 4, 1})});
  CHECK(values(out[0]) == Values{18, 18});
  CHECK(out[1].shape() == Shape{1, 2, 2, 2});
}

TEST_CASE(
    "switch_, map_fn, foldl and rnn are deferred, and their callables may use symbolic tensors from "
    "outside") {
  const Tensor x = K::placeholder({None, 3}), scale = K::placeholder({.shape = ktape::Shape()}),
               steps = K::placeholder({None, None, 3});
  const Tensor chosen = K::switch_(
      K::sum(x) > 0.f, [&] { return x * scale; }, [&] { return x; });
  CHECK(K::int_shape(chosen) == Shape{None, 3});
  const Tensor mapped = K::map_fn([&](const Tensor& row) { return K::sum(row) * scale; }, x);
  CHECK(K::int_shape(mapped) == Shape{None});
  const auto step = [scale](const Tensor& in, const std::vector<Tensor>& states) {
    const Tensor h = states[0] + in * scale;
    return std::pair{h, std::vector{h}};
  };
  const auto looped = K::rnn(step, steps, {K::zeros_like(steps[{ktape::All, 0}])});
  CHECK(K::int_shape(looped.outputs) == Shape{None, None, 3});
  const auto f = K::function(
      {x, scale, steps}, {chosen, mapped, K::foldl([](const Tensor& a, const Tensor& e) { return a + e; }, x),
                          looped.last_output, K::gradients(K::sum(looped.last_output), {scale})[0]});
  const auto out = f({K::ones({2, 3}), 10.f, K::ones({1, 4, 3})});
  CHECK(values(out[0]) == Values(6, 10));
  CHECK(values(out[1]) == Values{30, 30});
  CHECK(values(out[2]) == Values{2, 2, 2});
  CHECK(values(out[3]) == Values{40, 40, 40});
  CHECK(out[4].item<float>() == 12.f);
  CHECK(values(f({-K::ones({1, 3}), 10.f, K::ones({1, 1, 3})})[0]) == Values(3, -1));
}

TEST_CASE("an exception of a callable reaches the caller, whatever values the callable is traced with") {
  const Tensor x = K::placeholder({None, 3});
  CHECK_THROWS_WITH_AS(
      K::map_fn([](const Tensor& row) -> Tensor { throw ValueError(std::to_string(row.ndim())); }, x), "1",
      ValueError);
}

TEST_CASE("the learning phase as an input of a function (Monte Carlo dropout)") {
  const Tensor x = K::placeholder({None, 1000});
  const Tensor noisy = K::in_train_phase([&] { return K::dropout(x, 0.5, {.seed = 7}); }, x);
  const auto f = K::function({x, K::learning_phase()}, {noisy});
  const Tensor ones = K::ones({1, 1000});
  CHECK(K::get_value(K::mean(f({ones, 0})[0]))() == 1.f);
  const auto dropped = f({ones, 1})[0];
  CHECK(K::get_value(K::min(dropped))() == 0.f);
  CHECK(std::fabs(K::get_value(K::mean(dropped))() - 1.f) < 0.1f);
  CHECK(K::learning_phase() == 0);
  CHECK_THROWS_WITH_AS(f({ones, 3}), "[function] the learning phase must be 0 or 1: received 3", ValueError);
  CHECK_THROWS_WITH_AS(
      f({ones, {0, 1}}),
      "[function] the learning phase must be the number 0 or 1: received a tensor of shape=(2,)", ValueError);
  CHECK_THROWS_WITH_AS(f({ones, K::placeholder({.shape = Shape()})}),
                       Contains("received a symbolic tensor of shape=()"), ValueError);
}

TEST_CASE("random ops draw when the function runs, and building a graph draws nothing") {
  K::set_random_seed(3);
  const float first = K::random_uniform({1}).item(), second = K::random_uniform({1}).item();
  K::set_random_seed(3);
  const Tensor x = K::placeholder({None}), dropped = K::dropout(x, 0.5);
  CHECK(K::random_uniform({1}).item() == first);
  CHECK(K::random_uniform({1}).item() == second);
  const auto f = K::function({x}, {dropped});
  CHECK(values(f({K::ones({64})})[0]) != values(f({K::ones({64})})[0]));
}

TEST_CASE("a function keeps nothing alive but its graph, and its results are not recorded") {
  const Tensor x = K::placeholder({None, 100});
  Variable w = K::variable(K::ones({100, 100}));
  const Tensor loss = K::sum(K::tanh(K::dot(x, w)));
  const auto f = K::function({x}, {loss, K::gradients(loss, {w})[0]});
  f({K::ones({10, 100})});
  const auto before = ktape::memory_stats().live_bytes;
  for (int i = 0; i < 3; ++i) CHECK(f({K::ones({10, 100})})[1].node() == nullptr);
  CHECK(ktape::memory_stats().live_bytes == before);
  CHECK(ktape::tape().size() == 0);
}

TEST_CASE("a deep graph runs and is destroyed without recursion, and outlives its placeholders' handles") {
  Tensor y;
  const auto f = [&] {
    const Tensor x = K::placeholder({1});
    y = x;
    for (int i = 0; i < 20000; ++i) y = y + 1.f;
    return K::function({x}, {y});
  }();
  y = Tensor();
  CHECK(f({{0.f}})[0].item<float>() == 20000.f);
}

TEST_CASE("several threads may call one function") {
  const Tensor x = K::placeholder({None, 8});
  Variable w = K::variable(K::ones({8, 8}));
  const auto f =
      K::function({x, K::learning_phase()}, {K::sum(K::in_train_phase(K::dot(x, w) * 2.f, K::dot(x, w)))});
  float results[2] = {};
  {
    std::jthread one([&] {
      for (int i = 0; i < 50; ++i) results[0] = f({K::ones({2, 8}), 0})[0].item();
    });
    std::jthread two([&] {
      for (int i = 0; i < 50; ++i) results[1] = f({K::ones({2, 8}), 1})[0].item();
    });
  }
  CHECK(results[0] == 128.f);
  CHECK(results[1] == 256.f);
}

TEST_CASE("sparse placeholders take sparse tensors, and dot works on the stored elements") {
  const Tensor s = K::placeholder({.shape = {None, 3}, .sparse = true, .name = "s"});
  CHECK(K::is_sparse(s));
  CHECK(K::is_placeholder(s));
  CHECK(!K::is_sparse(K::to_dense(s)));
  CHECK(!K::is_sparse(K::placeholder({2})));
  Variable w = K::variable({{1.f}, {2.f}, {3.f}});
  const Tensor product = K::dot(s, w), twice = K::concatenate({s, s}, 0);
  CHECK(K::int_shape(product) == Shape{None, 1});
  CHECK(K::is_sparse(twice));
  const auto f =
      K::function({s}, {product, K::to_dense(s), K::gradients(K::sum(product), {w})[0], K::dot(twice, w)});
  const ktape::SparseTensor value({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 3});
  const auto out = f({value});
  CHECK(values(out[0]) == Values{6, 4});
  CHECK(values(out[1]) == Values{0, 3, 0, 4, 0, 0});
  CHECK(values(out[2]) == Values{4, 3, 0});
  CHECK(values(out[3]) == Values{6, 4, 6, 4});
  CHECK_THROWS_WITH_AS(f({K::ones({2, 3})}), Contains("input 0 must be sparse: received a dense tensor"),
                       TypeError);
  CHECK_THROWS_WITH_AS(K::placeholder({.shape = {2}, .sparse = true, .ragged = true}), Contains("ragged"),
                       ValueError);
}

TEST_CASE("tensors of Input are Keras tensors; other tensors are not") {
  const Tensor input = ktape::nn::Input({10});
  CHECK(K::int_shape(input) == Shape{None, 10});
  CHECK(K::is_keras_tensor(input));
  CHECK(K::is_placeholder(input));
  CHECK(!K::is_keras_tensor(K::placeholder({10})));
  CHECK(!K::is_keras_tensor(K::variable(1.f)));
  CHECK(K::int_shape(ktape::nn::Input({3}, {.batch_size = 4})) == Shape{4, 3});
  CHECK(K::int_shape(ktape::nn::Input({None, None, 3})) == Shape{None, None, None, 3});
  CHECK(K::int_shape(ktape::nn::Input(Shape())) == Shape{None});
  CHECK_THROWS_WITH_AS(ktape::nn::Input({None, -3}),
                       Contains("None or at least 0: received shape=(None, None, -3)"), ValueError);
}

TEST_CASE("recurrent layers and attention are deferred like any op") {
  const Tensor x = K::placeholder({None, 5, 3}), q = K::placeholder({None, 2, 4, 8});
  const Tensor kernel = normal({3, 16}, 1, "float32"), recurrent = normal({4, 16}, 2, "float32"),
               bias = K::zeros({16});
  const auto symbolic = K::lstm(x, kernel, recurrent, bias);
  const Tensor attended = K::scaled_dot_product_attention(q, q, q, {.causal = true});
  CHECK(K::int_shape(symbolic.outputs) == Shape{None, 5, 4});
  CHECK(K::int_shape(attended) == Shape{None, 2, 4, 8});
  const Tensor steps = normal({2, 5, 3}, 3, "float32"), queries = normal({2, 2, 4, 8}, 4, "float32");
  const auto out = K::function({x, q}, {symbolic.last_output, attended})({steps, queries});
  CHECK(values(out[0]) == values(K::lstm(steps, kernel, recurrent, bias).last_output));
  CHECK(values(out[1]) ==
        values(K::scaled_dot_product_attention(queries, queries, queries, {.causal = true})));
}

TEST_CASE("an update that has run already is refused, and the error says how to defer the update") {
  const Tensor x = K::placeholder({None});
  Variable w = K::variable(1.f);
  CHECK_THROWS_WITH_AS(K::function({x}, {K::sum(x)}, {K::update_add(w, 1.f)}),
                       Contains("[function] an update must be symbolic: received an update by a value, "
                                "which has run already; make it of a symbolic value or inside K::symbolic"),
                       ValueError);
  CHECK_NOTHROW(K::function({x}, {K::sum(x)}, K::symbolic([&] { return K::update_add(w, 1.f); })()));
}

TEST_CASE("a function without a graph, and an input that is undefined, are errors") {
  CHECK_THROWS_WITH_AS(K::Function()({}), Contains("[function] a function must be made by K::function"),
                       ValueError);
  const Tensor x = K::placeholder({None});
  CHECK_THROWS_WITH_AS(K::function({x, Tensor()}, {x}), Contains("[function] an input must be a placeholder"),
                       ValueError);
}

TEST_CASE("a call that fails changes no variable") {
  const Tensor x = K::placeholder({None});
  Variable a = K::variable({1.f, 2.f}), b = K::variable({1.f}), calls = K::variable(0.f);
  const Tensor counted = K::map_fn([&](const Tensor& e) { return K::update_add(calls, 1.f), e * 2.f; }, x);
  const auto f = K::function({x}, {counted}, {K::update_add(a, K::sum(x) * K::ones({2})), K::update(b, x)});
  const float* const memory = a.value().data<float>();
  CHECK_THROWS_WITH_AS(f({{1.f, 2.f}}), Contains("[update]"), ValueError);
  CHECK(values(a) == Values{1, 2});
  CHECK(a.value().data<float>() == memory);
  CHECK(values(b) == Values{1});
  CHECK(calls.item() == 0.f);
  f({{5.f}});
  CHECK(values(a) == Values{6, 7});
  CHECK(values(b) == Values{5});
  CHECK(calls.item() == 1.f);
}

TEST_CASE("an update that can never fit is refused when it is written") {
  Variable w = K::variable({1.f, 2.f});
  CHECK_THROWS_WITH_AS(K::update(w, K::placeholder({3})), Contains("[update] new_x must have the shape (2,)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::update_add(w, K::placeholder({None, 2})), Contains("[update_add] increment"),
                       ValueError);
  CHECK_THROWS_AS(K::update(w, K::placeholder({.shape = {2}, .dtype = "int32"})), TypeError);
  CHECK_THROWS_AS(K::moving_average_update(w, K::placeholder({3}), 0.9), ValueError);
  Variable bytes = K::variable({1, 2}, {.dtype = "uint8"});
  CHECK_THROWS_AS(K::symbolic([&] { return K::update_add(bytes, 300); })(), TypeError);
}

TEST_CASE("an output is a variable's value before the updates") {
  const Tensor x = K::placeholder({});
  Variable w = K::variable(1.f);
  const auto f = K::function({x}, {w}, {K::update_add(w, x)});
  CHECK(f({2.f})[0].item() == 1.f);
  CHECK(f({2.f})[0].item() == 3.f);
}

TEST_CASE("inputs and values may be vectors of tensors") {
  const std::vector<Tensor> inputs{K::placeholder({None}), K::placeholder({None})};
  const auto f = K::function(inputs, {inputs[0] + inputs[1]});
  const std::vector<Tensor> given{K::ones({2}), K::ones({2})};
  CHECK(values(f(given)[0]) == Values{2, 2});
  CHECK(values(f({given[0], 3.f * given[1]})[0]) == Values{4, 4});
}

TEST_CASE("ops that cannot run in a graph throw") {
  Variable w = K::variable(K::ones({2, 1})), m = K::zeros({2, 1}), v = K::zeros({2, 1});
  CHECK_THROWS_WITH_AS(K::adam_update(w, K::placeholder({2, 1}), m, v, 1),
                       Contains("[adam_update] a symbolic tensor has a value only inside a function"),
                       ValueError);
  const ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
  const Tensor y = K::placeholder({2, None});
  CHECK(K::int_shape(K::dot(s, y)) == Shape{2, None});
  CHECK(values(K::function({y}, {K::dot(s, y)})({{{1.f}, {2.f}}})[0]) == Values{6, 4});
  CHECK_THROWS_WITH_AS(K::dot(s, K::placeholder({3, 1})), Contains("[dot]"), ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      // Graphs, and gradients themselves.
      {"placeholder", no_gradient}, {"is_placeholder", no_gradient}, {"is_keras_tensor", no_gradient},
      {"function", no_gradient}, {"symbolic", no_gradient}, {"eager", no_gradient},
  };
});
// clang-format on

}  // namespace
