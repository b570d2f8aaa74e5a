#pragma once
#include <ktape/nn/compiled/plan.hpp>

#include <string>
#include <vector>

/// The text and the drawing of a plan. Internal: sources only.
namespace ktape::nn {

/// A step of a plan. The times are in milliseconds.
struct ExplainedStep {
  std::string what, kernel;
  double estimated = 0, measured = 0;  ///< 0 for a call of a layer, which is not measured
};

struct ExplainedPlan {
  std::string inputs;  ///< "(1, 224, 224, 3)"
  std::vector<ExplainedStep> steps;
  std::size_t arena_bytes = 0;
};

/// Measures the steps of a plan, and estimates each from its multiplications and bytes and the rates of the
/// machine.
ExplainedPlan explained(const Plan& plan, const std::vector<PlannedCall>& calls, const std::string& inputs);

std::string as_table(const ExplainedPlan& plan);
/// Returns a drawing in the format SVG: a bar for each step, as long as the measured time, with the estimated
/// time in a darker colour.
std::string as_svg(const ExplainedPlan& plan);

}  // namespace ktape::nn
