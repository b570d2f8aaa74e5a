#pragma once
#include <ktape/autograd/graph/trace.hpp>
#include <ktape/ops/schema/described_call.hpp>

/// Deferral of ops whose results have shapes that follow from running the op. Internal: sources only.
namespace ktape::op_helpers {

/// Defers f(arguments), where f maps a list of tensors with values to a list of results. The shapes of the results
/// are those that f gives for small values; extents that differ from run to run are unknown. The description of the op
/// has the tensors, then the values that f holds.
template <class... Values>
std::vector<Tensor> defer_by_trace(const char* op, const std::vector<Tensor>& arguments, const Callable& f,
                                   const Values&... values) {
  std::vector<OutputInfo> infos;
  for (const Tensor& x : arguments) infos.push_back({x.shape(), x.dtype()});
  const Trace traced = trace(op, infos, [&](const std::vector<Tensor>& now) {
    for (const Tensor& x : now) expect_value(op, x);
    return f(now);
  });
  std::vector<DescribedArgument> description(arguments.size(), DescribedArgument{1});
  (description.push_back(describe(values)), ...);
  const auto later = [=](const std::vector<Tensor>& now) {
    // A model that is called in another one runs its ops on symbols.
    return is_symbolic(now) ? defer_by_trace(op, now, f, values...) : f(now);
  };
  return defer_as(std::move(description), op, traced.results, later, arguments);
}

}  // namespace ktape::op_helpers
