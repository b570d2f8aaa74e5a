#include <ktape/nn/compiled/planned_operations.hpp>
#include <ktape/nn/operations/operations.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace ktape::nn {
namespace K = backend;

namespace {

using Builder = K::NetworkBuilder;
using Nodes = std::vector<int>;
using kernels::ElementFunction, kernels::BinaryFunction;
using Function = ElementFunction::Kind;

PlanOfOp of_function(const ElementFunction& f) {
  return [f](Builder& network, const Nodes& x) { return network.function(x[0], f); };
}
PlanOfOp of_linear(double factor, double offset) {
  return of_function({Function::Linear, static_cast<float>(factor), static_cast<float>(offset)});
}

/// Returns the plan of a function of one tensor; null for other operations.
PlanOfOp of_unary(const OperationCall& call, const std::string& name) {
  static const std::map<std::string, std::string> activations{
      {"Relu", "relu"},       {"Relu6", "relu6"}, {"Selu", "selu"},       {"Silu", "silu"},
      {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"},   {"Exp", "exponential"}, {"identity", "linear"}};
  if (const auto found = activations.find(name); found != activations.end())
    return [activation = found->second](Builder& network, const Nodes& x) {
      return network.activation(x[0], activation);
    };
  if (name == "Negative") return of_linear(-1, 0);
  if (name == "Elu") return of_function({Function::Elu, static_cast<float>(call.number("alpha"))});
  if (name == "LeakyRelu")
    return of_function({Function::Relu, static_cast<float>(call.number("negative_slope"))});
  if (name == "Gelu") return of_function({call.flag("approximate") ? Function::GeluTanh : Function::Gelu});
  if (name == "Softmax" && call.has("axis"))
    return [axis = call.axis()](Builder& network, const Nodes& x) {
      return axis == -1 || axis == network.rank(x[0]) - 1 ? network.softmax(x[0]) : std::nullopt;
    };
  if (name == "batch_flatten")
    return [](Builder& network, const Nodes& x) {
      const Shape shape(network.shape(x[0]));
      return network.reshape(x[0], {shape[0], shape.count(1)});
    };
  return nullptr;
}

/// Returns the plan of arithmetic with one number, which is the second operand or, for `number_first`, the
/// first; null for other operations.
PlanOfOp with_number(const std::string& name, double number, bool number_first) {
  const auto is_normal = [](double factor) { return std::isnormal(static_cast<float>(factor)); };
  if (!std::isfinite(static_cast<float>(number))) return nullptr;
  if (name == "Add") return of_linear(1, number);
  if (name == "Multiply") return of_linear(number, 0);
  if (name == "Subtract") return number_first ? of_linear(-1, number) : of_linear(1, -number);
  if ((name == "Divide" || name == "TrueDivide") && !number_first && is_normal(number) &&
      is_normal(1 / number))
    return of_linear(1 / number, 0);
  return nullptr;
}

std::optional<PlannedOperation> of_binary(const OperationCall& call, const std::string& name) {
  const bool first = call.is_number("x1"), second = call.is_number("x2");
  if (first && second) return {};
  if (first || second) {
    PlanOfOp plan = with_number(name, call.number(first ? "x1" : "x2"), first);
    if (!plan) return {};
    return PlannedOperation{{call.tensor(first ? "x2" : "x1")}, std::move(plan)};
  }
  static const std::map<std::string, BinaryFunction> functions{{"Add", BinaryFunction::Add},
                                                               {"Subtract", BinaryFunction::Subtract},
                                                               {"Multiply", BinaryFunction::Multiply},
                                                               {"Maximum", BinaryFunction::Maximum},
                                                               {"Minimum", BinaryFunction::Minimum}};
  const auto found = functions.find(name);
  if (found == functions.end()) return {};
  return PlannedOperation{
      {call.tensor("x1"), call.tensor("x2")},
      [f = found->second](Builder& network, const Nodes& x) { return network.binary(f, x[0], x[1]); }};
}

std::optional<PlannedOperation> of_call(const OperationCall& call) {
  const std::string name = call.operation().name;
  for (const char* const binary :
       {"Add", "Subtract", "Multiply", "Divide", "TrueDivide", "Maximum", "Minimum"})
    if (name == binary) return of_binary(call, name);
  if (name == "Concatenate") {
    const auto joined = [axis = call.axis()](Builder& network, const Nodes& x) {
      return axis == -1 || axis == network.rank(x[0]) - 1 ? network.concatenation(x) : std::nullopt;
    };
    return PlannedOperation{call.tensors("xs"), joined};
  }
  PlanOfOp plan = of_unary(call, name);
  if (!plan) return {};
  return PlannedOperation{{call.tensor("x")}, std::move(plan)};
}

}  // namespace

std::optional<PlannedOperation> planned_operation(const Symbol& symbol) {
  if (symbol.outputs().size() != 1 || symbol.captured() > 0) return {};
  const DType dtype = symbol.outputs()[0].dtype;
  if (dtype != DType::Float32 && dtype != DType::BFloat16) return {};
  const std::optional<OperationCall> call = operation_of(symbol);
  std::optional<PlannedOperation> planned = call ? of_call(*call) : std::nullopt;
  const auto fits = [dtype](const Tensor& x) { return is_symbolic(x) && x.dtype() == dtype; };
  if (!planned || !std::all_of(planned->inputs.begin(), planned->inputs.end(), fits)) return {};
  return planned;
}

}  // namespace ktape::nn
