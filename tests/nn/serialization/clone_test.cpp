#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

/// Returns a copy of the layer; a Dense gets another activation.
nn::Layer with_tanh(const nn::Layer& layer) {
  if (layer.class_name() != "Dense") return layer;
  return nn::Dense(2, {.activation = "tanh", .name = layer.name()});
}

std::string activation_of(const nn::Layer& layer) { return layer.get_config().at("activation").string(); }

}  // namespace

TEST_CASE("clone_function makes the layers of a functional model and of a Sequential") {
  const Tensor in = nn::Input({3});
  const nn::Layer half = nn::Rescaling(0.5, {.name = "half"});
  const nn::Model functional(in, nn::Dense(2, {.name = "scores"})(half(in)));
  const nn::Sequential chain({nn::Input({3}), half, nn::Dense(2, {.name = "scores"})});
  for (const nn::Model& model : std::vector<nn::Model>{functional, chain}) {
    const nn::Model clone = nn::clone_model(model, {.clone_function = with_tanh});
    CHECK(activation_of(clone.get_layer("scores")) == "tanh");
    CHECK(activation_of(model.get_layer("scores")) == "linear");
    CHECK(clone.get_layer("half").is(half));  // the function returned the layer itself
    CHECK(clone.predict(K::ones({4, 3}), {.verbose = 0}).shape() == ktape::Shape{4, 2});
    CHECK(nn::clone_model(model).to_json() == model.to_json());
  }
}

TEST_CASE("clone_function is not called for the layers of an inner model") {
  const nn::Sequential inner({nn::Input({3}), nn::Dense(2, {.name = "inside"})}, {.name = "inner"});
  const Tensor in = nn::Input({3});
  const nn::Model outer(in, nn::Dense(2, {.name = "outside"})(inner(in)));
  std::vector<std::string> asked;
  const nn::Model clone = nn::clone_model(
      outer, {.clone_function = [&](const nn::Layer& layer) {
        asked.push_back(layer.name());
        return layer.name() == "inner" ? nn::Layer(nn::clone_model(nn::Model(layer))) : with_tanh(layer);
      }});
  CHECK(asked == std::vector<std::string>{"inner", "outside"});
  CHECK(activation_of(nn::Model(clone.get_layer("inner")).get_layer("inside")) == "linear");
  CHECK_FALSE(clone.get_layer("inner").is(inner));
}

TEST_CASE("clone_function must return a layer, for a model of known layers") {
  struct MineImpl : nn::ModelImpl {
    nn::Dense dense = add_layer(nn::Dense(1));
    MineImpl() : nn::ModelImpl("Mine") {}
    Tensor call(const Tensor& x) override { return dense(x); }
    ktape::nn::Config get_config() const override { return {}; }
  };
  CHECK_THROWS_WITH_AS(
      nn::clone_model(nn::ModelOf<MineImpl>(), {.clone_function = with_tanh}),
      Contains("[clone_model] clone_function must go with a functional model or a Sequential"), ValueError);
  const nn::Sequential model({nn::Input({3}), nn::Dense(2, {.name = "scores"})});
  CHECK_THROWS_WITH_AS(
      nn::clone_model(model, {.clone_function = [](const nn::Layer&) { return nn::Layer(); }}),
      "[clone_model] clone_function must return a layer: received none for 'scores'", ValueError);
}

TEST_CASE("a Lambda is cloned with its function, at any depth") {
  const auto twice = [](const Tensor& x) { return x * 2; };
  const Tensor in = nn::Input({3}), x = K::constant({{1.f, 2.f, 3.f}});
  const nn::Sequential inner(
      {nn::Input({3}), nn::Lambda(twice), nn::Dense(2, {.kernel_initializer = "ones"})});
  const Tensor steps = nn::Reshape({3, 1})(in);
  const Tensor plus = nn::TimeDistributed(nn::Lambda([](const Tensor& s) { return s + 1; }))(steps);
  const nn::Model model(in, {inner(nn::Lambda(twice, {.name = "first"})(in)), plus});
  const nn::Model copy = nn::clone_model(model);
  CHECK(copy.get_layer("first").class_name() == "Lambda");
  CHECK_FALSE(copy.get_layer("first").is(model.get_layer("first")));
  const std::vector<Tensor> y = copy.predict(x, {.verbose = 0});
  CHECK(values<float>(y[0]) == std::vector<float>{24, 24});
  CHECK(values<float>(y[1]) == std::vector<float>{2, 3, 4});
  const nn::Sequential chain(
      {nn::Input({3}), nn::Lambda([](const std::vector<Tensor>& all) { return all[0] - 1; })});
  CHECK(values<float>(nn::clone_model(chain)(x)) == std::vector<float>{0, 1, 2});
  CHECK(values<float>(nn::clone_model(nn::clone_model(chain))(x)) == std::vector<float>{0, 1, 2});
  const auto same_class = [](const nn::Layer& layer) { return nn::Layer::from_value(layer.to_value()); };
  CHECK(values<float>(nn::clone_model(chain, {.clone_function = same_class})(x)) ==
        std::vector<float>{0, 1, 2});
  // Files have no place for functions, also after a clone.
  CHECK_THROWS_WITH_AS(model.to_json(), Contains("a Lambda has no config"), ValueError);
  CHECK_FALSE(nn::is_registered("layer", "Lambda"));
}
