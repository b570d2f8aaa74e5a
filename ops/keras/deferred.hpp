#pragma once
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/graph/trace.hpp>

/// Deferral of ops whose results have shapes that follow from running the op. Internal: sources only.
namespace ktape::op_helpers {

/// Defers f(arguments), where f maps a list of tensors with values to a list of results. The shapes of the results
/// are those that f gives for small values; extents that differ from run to run are unknown.
inline std::vector<Tensor> defer_by_trace(const char* op, const std::vector<Tensor>& arguments,
                                          const Callable& f) {
  std::vector<OutputInfo> infos;
  for (const Tensor& x : arguments) infos.push_back({x.shape(), x.dtype()});
  const Trace traced = trace(op, infos, [&](const std::vector<Tensor>& values) {
    for (const Tensor& x : values) expect_value(op, x);
    return f(values);
  });
  return defer(
      op, traced.results, [f](const std::vector<Tensor>& values) { return f(values); }, arguments);
}

}  // namespace ktape::op_helpers
