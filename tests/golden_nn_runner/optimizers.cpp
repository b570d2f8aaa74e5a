#include <ktape/nn/core/constraints.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>
#include <ktape/ops/creation.hpp>

#include "kinds.hpp"

namespace golden_nn {
namespace nn = ktape::nn;
namespace {

std::vector<Variable> initial_variables(Run& run) {
  const Value::List& initial = run.at("initial").list();
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    nn::Constraint constraint;
    if (run.has("constraints")) constraint = nn::Constraint(run.at("constraints").list().at(i));
    variables.emplace_back(run.tensor(initial[i]), "w" + std::to_string(i), constraint.function());
  }
  return variables;
}

void compare_all(Run& run, const std::string& what, const std::vector<Variable>& variables,
                 const Value& want) {
  for (std::size_t i = 0; i < variables.size(); ++i)
    run.compare(what + ", variable " + std::to_string(i), variables[i], want.list().at(i));
}

void run_optimizer(Run& run) {
  const nn::Optimizer optimizer(Value(Config{{"class_name", run.at("optimizer")}, {"config", run.config()}}));
  const std::vector<Variable> variables = initial_variables(run);
  if (run.has("exclude_from_weight_decay")) {
    std::vector<Variable> excluded;
    for (const Value& index : run.at("exclude_from_weight_decay").list())
      excluded.push_back(variables.at(static_cast<std::size_t>(index.integer())));
    optimizer.exclude_from_weight_decay(excluded);
  }
  const Value::List& steps = run.at("gradients").list();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<Tensor> gradients;
    for (const Value& gradient : steps[i].list()) gradients.push_back(run.tensor(gradient));
    optimizer.apply(gradients, variables);
    compare_all(run, "after step " + std::to_string(i), variables, run.at("after").list().at(i));
  }
  if (!run.has("final")) return;
  optimizer.finalize_variable_values();
  compare_all(run, "in the end", variables, run.at("final"));
}

void run_schedule(Run& run) {
  const nn::Schedule schedule(Value(Config{{"class_name", run.at("schedule")}, {"config", run.config()}}));
  const Value::List& steps = run.at("steps").list();
  std::vector<double> rates;
  for (const Value& step : steps) rates.push_back(schedule(step.integer()));
  const auto count = static_cast<std::int64_t>(rates.size());
  run.compare("rates", rates, {count}, Config{{"shape", Shape{count}}, {"data", run.at("values")}});
}

}  // namespace

void add_optimizers(Table& table) {
  table["optimizer"] = run_optimizer;
  table["schedule"] = run_schedule;
}

}  // namespace golden_nn
