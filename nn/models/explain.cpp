#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/models/explain.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/models/graph.hpp>

namespace ktape::nn {

std::string explain(const Model& model) {
  if (!model.defined()) fail("[explain] model must be a model: received an undefined model");
  if (const auto* functional = dynamic_cast<const FunctionalImpl*>(&model.impl()))
    if (CompiledCalls* plans = functional->graph().plans()) return plans->explanation();
  if (const auto* with_plans = dynamic_cast<const WithPlans*>(&model.impl()))
    return with_plans->plans()->explanation();
  return "There is no plan for the model '" + model.name() + "'.\n";
}

}  // namespace ktape::nn
