#include <ktape/nn/compiled/explanation.hpp>

#include "../../ops/check.hpp"

namespace nn = ktape::nn;

namespace {

nn::ExplainedPlan example() {
  nn::ExplainedPlan plan{.inputs = "(2, 8)", .arena_bytes = 4096};
  plan.steps.push_back({.what = "product + relu", .kernel = "brgemm", .estimated = 0.5, .measured = 0.75});
  plan.steps.push_back({.what = "'words' (Embedding) called"});
  return plan;
}

}  // namespace

TEST_CASE("a table of a plan has a line for each step, and the bytes of the arena") {
  const std::string table = nn::as_table(example());
  CHECK(table.find("Plan for inputs of shape (2, 8)") == 0);
  CHECK(table.find("\nproduct + relu") < table.find("\n'words' (Embedding) called"));
  CHECK(table.find("brgemm") != std::string::npos);
  CHECK(table.find("arena: 4096 bytes") != std::string::npos);
}

TEST_CASE("a drawing of a plan names the steps, with escaped signs") {
  nn::ExplainedPlan plan = example();
  plan.steps[0].what = "a < b";
  const std::string drawing = nn::as_svg(plan);
  CHECK(drawing.find("<svg") == 0);
  CHECK(drawing.find("a &lt; b") != std::string::npos);
  CHECK(drawing.find("a < b") == std::string::npos);
}
