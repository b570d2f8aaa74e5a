#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

bool truth(const Tensor& x) {
  if (x.size() != 1) fail("[onnx] a condition must be one bool: received shape=", x.shape());
  expect_value("onnx", x);
  return K::reshape(K::cast(x, DType::Int64), Shape()).item<std::int64_t>() != 0;
}

Tensors if_else(const Call& call) {
  return call.run(call.graph(truth(call[0]) ? "then_branch" : "else_branch"), {});
}

void expect_count(const char* what, std::size_t given, std::size_t wanted) {
  if (given != wanted) fail("[onnx] the body must have ", wanted, ' ', what, ": received ", given);
}

/// Stacks the values of all steps along an axis.
Tensor collected(const Tensors& steps, int axis) {
  if (steps.empty()) fail("[onnx] a loop that collects values must have steps: received 0 steps");
  return K::stack(steps, axis);
}

Tensors loop(const Call& call) {
  const Graph& body = call.graph("body");
  const std::size_t states = call.size() < 2 ? 0 : call.size() - 2;
  expect_count("inputs", body.inputs.size(), states + 2);
  if (body.outputs.size() < states + 1) expect_count("outputs", body.outputs.size(), states + 1);
  const std::int64_t most = call.has(0) ? single(call[0]) : std::numeric_limits<std::int64_t>::max();
  Tensor go_on = call.has(1) ? call[1] : K::cast(number(1, DType::Int64), DType::Bool);
  Tensors values(call.inputs.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(call.size(), 2)),
                 call.inputs.end());
  std::vector<Tensors> scans(body.outputs.size() - 1 - states);
  for (std::int64_t i = 0; i < most && truth(go_on); ++i) {
    Tensors arguments{K::reshape(indices_of({i}), Shape()), go_on};
    arguments.insert(arguments.end(), values.begin(), values.end());
    const Tensors results = call.run(body, arguments);
    go_on = results[0];
    for (std::size_t k = 0; k < states; ++k) values[k] = results[k + 1];
    for (std::size_t k = 0; k < scans.size(); ++k) scans[k].push_back(results[k + 1 + states]);
  }
  for (const Tensors& steps : scans) values.push_back(collected(steps, 0));
  return values;
}

Tensors scan(const Call& call) {
  if (call.opset < 9) fail("[onnx] a Scan must be of opset 9 or later: received opset=", call.opset);
  const Graph& body = call.graph("body");
  const std::int64_t scanned = call.integer("num_scan_inputs", 0),
                     states = static_cast<std::int64_t>(call.size()) - scanned;
  if (scanned < 1 || states < 0) fail("[onnx] num_scan_inputs must fit the inputs: received ", scanned);
  expect_count("inputs", body.inputs.size(), call.size());
  const std::size_t count = static_cast<std::size_t>(scanned), kept = static_cast<std::size_t>(states);
  if (body.outputs.size() < kept) expect_count("outputs", body.outputs.size(), kept);
  const std::size_t results_count = body.outputs.size() - kept;
  const auto setting = [&](const char* name, std::size_t n) {
    Numbers list = call.integers(name, Numbers(n, 0));
    expect_count(name, list.size(), n);
    return list;
  };
  const Numbers axes = setting("scan_input_axes", count), ways = setting("scan_input_directions", count);
  const Numbers out_axes = setting("scan_output_axes", results_count),
                out_ways = setting("scan_output_directions", results_count);
  Tensors values(call.inputs.begin(), call.inputs.begin() + states);
  std::vector<Tensors> scans(results_count);
  const std::int64_t steps = call[kept].shape()[axes_of({axes[0]}, call[kept].ndim())[0]];
  for (std::int64_t i = 0; i < steps; ++i) {
    Tensors arguments = values;
    for (std::size_t k = 0; k < count; ++k) {
      const Tensor& x = call[kept + k];
      const int axis = axes_of({axes[k]}, x.ndim())[0];
      arguments.push_back(K::squeeze(strided(x, axis, ways[k] ? steps - 1 - i : i, 1), axis));
    }
    const Tensors results = call.run(body, arguments);
    for (std::size_t k = 0; k < kept; ++k) values[k] = results[k];
    for (std::size_t k = 0; k < results_count; ++k)
      scans[k].insert(out_ways[k] ? scans[k].begin() : scans[k].end(), results[kept + k]);
  }
  for (std::size_t k = 0; k < results_count; ++k) {
    const int rank = scans[k].empty() ? 1 : scans[k][0].ndim() + 1;
    values.push_back(collected(scans[k], axes_of({out_axes[k]}, rank)[0]));
  }
  return values;
}

}  // namespace

void add_control_flow(OperatorTable& t) { t["If"] = if_else, t["Loop"] = loop, t["Scan"] = scan; }

}  // namespace ktape::nn::onnx
