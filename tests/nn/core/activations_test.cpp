#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/registry.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;
namespace A = ktape::nn::activations;

TEST_CASE("gradients of the first and second order of every activation, away from corners") {
  const Tensor x = doubles({{-3.7, -1.4, -0.6, 0.25}, {0.2, 0.8, 1.7, 3.3}});
  for (const std::string& name : nn::registered_names("activation")) {
    if (name == "hard_sigmoid") continue;  // its slope is rounded
    CAPTURE(name);
    const nn::ActivationFunction f{name};
    check_gradients(name.c_str(), [&](In in) { return f(in[0]); }, {x});
  }
  check_gradients("celu", [](In in) { return A::celu(in[0], {.alpha = 0.5}); }, {x});
  check_gradients("relu", [](In in) { return A::relu(in[0], {.negative_slope = 0.1, .max_value = 2.5}); },
                  {x});
  check_gradients("sparsemax", [](In in) { return A::sparsemax(in[0], {.axis = 0}); }, {x});
}

TEST_CASE("every activation keeps the dtype, waits for values, and stays finite for large ones") {
  for (const std::string& name : nn::registered_names("activation")) {
    CAPTURE(name);
    const nn::ActivationFunction f{name};
    for (const char* dtype : {"float16", "float32", "float64"})
      CHECK(f(K::constant({-1.0, 0.0, 0.5, 2.0}, {.dtype = dtype})).dtype() == dtype);
    const Tensor x = K::placeholder({None, 4});
    const Tensor value = normal({3, 4}, 1, "float32");
    CHECK(values(K::function({x}, {f(x)})({value})[0]) == values(f(value)));
    if (name == "exponential") continue;
    CHECK(K::all(K::is_finite(f(K::constant({-1e3f, -80.f, 80.f, 1e3f})))).item<bool>());
    CHECK(K::all(K::is_finite(slope(f, K::constant({-80.f, -20.f, 20.f, 80.f})))).item<bool>());
  }
}

TEST_CASE("options change slopes, thresholds and limits of activations") {
  const Tensor x = doubles({-2, -0.25, 0.75, 3});
  CHECK(values(A::leaky_relu(x)) == Values{-0.4, -0.05, 0.75, 3});
  CHECK(values(A::threshold(x, {.threshold = 1, .default_value = -1})) == Values{-1, -1, -1, 3});
  CHECK(values(A::hard_shrink(x)) == Values{-2, 0, 0.75, 3});
  CHECK(values(A::soft_shrink(x, {.threshold = 1})) == Values{-1, 0, 0, 2});
  CHECK(values(A::hard_tanh(x)) == Values{-1, -0.25, 0.75, 1});
  CHECK(values(A::sparsemax(doubles({0.5, 1.5, 1.25}))) == Values{0, 0.625, 0.375});
  CHECK(values(A::glu(doubles({2, 4, 0, 0}))) == Values{1, 2});
  const nn::ActivationFunction clipped{
      nn::Value(nn::Config{{"class_name", "relu"}, {"config", nn::Config{{"max_value", 2}}}})};
  CHECK(values(clipped(x)) == Values{0, 0, 0.75, 2});
  CHECK_THROWS_WITH_AS(A::celu(x, {.alpha = 0}), "[celu] alpha must not be 0: received alpha=0", ValueError);
  CHECK_THROWS_AS(A::glu(doubles({1, 2, 3})), ValueError);
  CHECK_THROWS_AS(A::silu(ints({1, 2})), TypeError);
}

TEST_CASE("an activation argument is a name, an object, a callable or None") {
  const Tensor x = doubles({-1, 2});
  const nn::ActivationFunction none, named = "relu", written = [](const Tensor&t) { return t * 2; };
  CHECK(values(none(x)) == Values{-1, 2});
  CHECK(values(named(x)) == Values{0, 2});
  CHECK(values(written(x)) == Values{-2, 4});
  const nn::ActivationFunction function = A::hard_tanh;
  CHECK(values(function(x)) == Values{-1, 1});
}
