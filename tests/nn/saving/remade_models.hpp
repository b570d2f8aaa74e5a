#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/serialization/model_config.hpp>

#include "../../ops/check.hpp"

/// For tests of models that are made again of their configs.
namespace remade_models {

namespace nn = ktape::nn;
using ktape::Tensor;

/// Makes a model from another model's JSON and weights.
inline nn::Model remade(const nn::Model& model, const nn::CustomObjects& objects = {}) {
  const nn::Model again = nn::model_from_json(model.to_json(), objects);
  again.set_weights(model.get_weights());
  return again;
}

inline std::vector<std::string> names_of(const nn::Model& model) {
  std::vector<std::string> names;
  for (const nn::Layer& layer : model.layers()) names.push_back(layer.name());
  return names;
}

/// Checks that the model made of the model's JSON has its layers and weights, and gives its outputs.
inline void check_remade(const nn::Model& model, const std::vector<Tensor>& inputs,
                         const nn::CustomObjects& objects = {}) {
  const nn::Model again = remade(model, objects);
  CHECK(names_of(again) == names_of(model));
  CHECK(again.to_json() == model.to_json());
  CHECK(again.name() == model.name());
  CHECK(!again.is(model));
  const std::vector<Tensor> expected = model.apply(inputs), outputs = again.apply(inputs);
  REQUIRE(outputs.size() == expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(values(outputs[i]) == values(expected[i]));
}

inline nn::Model small() {
  const Tensor in = nn::Input({2}, {.name = "in"});
  return nn::Model(in, nn::Dense(1, {.name = "out"})(in), {.name = "small"});
}

}  // namespace remade_models
