#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/models/explain.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/models/graph.hpp>

namespace ktape::nn {

namespace {

/// Returns the plans of a model; null for a model that has none.
std::shared_ptr<CompiledCalls> plans_of(const Model& model) {
  if (const auto* functional = dynamic_cast<const FunctionalImpl*>(&model.impl()))
    return {model.shared(), functional->graph().plans()};
  return model.impl().plans();
}

}  // namespace

std::string explain(const Model& model, const ExplainOptions& options) {
  if (!model.defined()) fail("[explain] model must be a model: received an undefined model");
  const std::shared_ptr<CompiledCalls> plans = plans_of(model);
  if (!plans) return "There is no plan for the model '" + model.name() + "'.\n";
  const std::optional<ExplainedPlan> plan = plans->explanation();
  if (!plan) return "There is no plan yet: the first prediction makes a plan.\n";
  if (!options.svg.empty()) {
    saving::AtomicFile file("explain", options.svg);
    file.write(as_svg(*plan));
    file.commit();
  }
  return as_table(*plan);
}

}  // namespace ktape::nn
