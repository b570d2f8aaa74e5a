#include <ktape/ktape.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>

#include "../../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

namespace {

std::vector<std::string> names_of(const std::vector<nn::Layer>& layers) {
  std::vector<std::string> names;
  for (const nn::Layer& layer : layers) names.push_back(layer.name());
  return names;
}

}  // namespace

TEST_CASE("the layers of a graph stand by their distance to the outputs, the farthest first") {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const Tensor near = nn::Dense(2, {.name = "near"})(in);
  const Tensor far = nn::Dense(3, {.name = "middle"})(nn::Dense(3, {.name = "far"})(in));
  const Tensor joined = nn::Concatenate({.name = "joined"})({near, far});
  const nn::Model model(in, nn::Dense(2, {.name = "end"})(joined));
  CHECK(names_of(nn::saving::keras_layers(model)) ==
        std::vector<std::string>{"in", "far", "near", "middle", "joined", "end"});
}

TEST_CASE("a layer that is called twice stands where it is called first, and a model is asked for") {
  const Tensor in = nn::Input({4}, {.name = "in"});
  const nn::Dense shared(4, {.name = "shared"});
  const nn::Sequential inner({nn::Input({4}), nn::Dense(4)}, {.name = "inner"});
  const nn::Model model(in, shared(inner(shared(in))));
  CHECK(names_of(nn::saving::keras_layers(model)) == std::vector<std::string>{"in", "shared", "inner"});
  CHECK(nn::saving::as_model(inner)->name() == "inner");
  CHECK_FALSE(nn::saving::as_model(shared));
}

TEST_CASE("the own weights of a layer are those of no layer in the layer") {
  const nn::Bidirectional both(nn::LSTM(2));
  both(K::ones({1, 3, 2}));
  CHECK(both.weights().size() == 6);
  CHECK(nn::saving::own_weights(both).empty());
  const nn::BatchNormalization norm;
  norm(K::ones({1, 2}));
  CHECK(nn::saving::own_weights(norm).size() == 4);
}
