#include <ktape/nn/layers/core/lambda_functions.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/models/node_config.hpp>
#include <ktape/nn/models/sequential.hpp>
#include <ktape/nn/serialization/clone.hpp>
#include <ktape/nn/serialization/model_config.hpp>

namespace ktape::nn {

Model clone_model(const Model& model, const CloneModelOptions& options) {
  const LambdaFunctions lambdas;
  const Value config = model_config(model);
  if (!options.clone_function) return model_from_config(config);
  if (model.class_name() != "Sequential" && !dynamic_cast<const FunctionalImpl*>(&model.impl()))
    fail("[clone_model] clone_function must go with a functional model or a Sequential: received '",
         model.name(), "' of class ", model.class_name());
  const LayerSource source(model.name(), [&](const std::string& name) {
    for (const Layer& layer : model.layers()) {
      if (layer.name() != name || layer.class_name() == "InputLayer") continue;
      const Layer made = options.clone_function(layer);
      if (!made.defined())
        fail("[clone_model] clone_function must return a layer: received none for '", name, "'");
      return made;
    }
    return Layer();  // an InputLayer is not replaced
  });
  return model_from_config(config);
}

}  // namespace ktape::nn
