#include <ktape/nn/operations/operation_symbol.hpp>
#include <ktape/nn/operations/operations.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/schema/described_call.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <unordered_map>

/// The operations that symbols record.
namespace ktape::nn {
namespace K = backend;

// --- The arguments of symbols -----------------------------------------------------------------------------

namespace {

const Tensor& operand_value(const Symbol& symbol, const Operand& operand, bool reads_variables) {
  if (operand.variable.defined() && reads_variables) return operand.variable.value();
  if (operand.variable.defined())
    fail("[save] the op '", symbol.op(),
         "' between layers must not read a variable, which no config can hold: received the variable '",
         operand.variable.name(), "'; make the op the call of a layer with this weight");
  return operand.tensor;
}

using NamedArguments = std::vector<std::pair<std::string, OperationArgument>>;

/// Returns the value of an argument; a constant for infinities and NaN, which JSON has no numbers for.
OperationArgument argument_of(const Value& value) {
  if (!value.is_number() || std::isfinite(value.number())) return {.value = value};
  return {.value = constant_value(K::full({}, value.number(), DType::Float32), false)};
}

/// Returns the recorded arguments in order, options with their names; nothing if one has no form in configs.
std::optional<NamedArguments> recorded_arguments(const Symbol& symbol, bool reads_variables) {
  NamedArguments out;
  const std::span<const Operand> operands = symbol.operands();
  std::size_t next = 0;
  const auto take = [&] { return operand_value(symbol, operands[next++], reads_variables); };
  const std::vector<DescribedArgument>* const described = described_arguments(symbol);
  if (!described) {
    while (next < operands.size()) out.emplace_back("", OperationArgument{.tensors = {take()}});
    return out;
  }
  for (const DescribedArgument& argument : *described) {
    if (const auto values = argument.values ? argument.values(argument.value) : std::nullopt) {
      next += argument.operands;
      for (const auto& [name, value] : *values) out.emplace_back(name, argument_of(value));
      continue;
    }
    if (argument.operands == 0 && !argument.is_list) return {};
    OperationArgument tensors{.tensors = {}, .is_list = argument.is_list};
    for (std::size_t i = 0; i < argument.operands; ++i) tensors.tensors.push_back(take());
    const bool none = !argument.is_list && argument.operands == 1 && !tensors.tensors[0].defined();
    out.emplace_back("", none ? OperationArgument{} : std::move(tensors));
  }
  return out;
}

/// Returns the names of the arguments that have none, in each of the orders in which the operation is recorded.
std::vector<std::vector<std::string>> recorded_orders(const Operation& operation,
                                                      const NamedArguments& recorded) {
  std::vector<std::vector<std::string>> orders(1);
  if (*operation.recorded == '\0') {
    for (const Operation::Parameter& parameter : operation.parameters())
      if (std::none_of(recorded.begin(), recorded.end(),
                       [&](const auto& argument) { return argument.first == parameter.name; }))
        orders[0].push_back(parameter.name);
    return orders;
  }
  std::istringstream text(operation.recorded);
  for (std::string name; text >> name;) {
    if (name == "|") {
      orders.emplace_back();
      continue;
    }
    if (name.back() == ',') name.pop_back();
    orders.back().push_back(name);
  }
  return orders;
}

/// Returns the call in which the arguments without a name have the given names; nothing if they are not as many.
std::optional<OperationCall> named(const Operation& operation, const std::vector<std::string>& names,
                                   const NamedArguments& recorded) {
  NamedArguments arguments;
  std::vector<std::string> left_out;
  auto next = recorded.begin();
  const auto nameless = [&] {
    next = std::find_if(next, recorded.end(), [](const auto& argument) { return argument.first.empty(); });
    return next != recorded.end();
  };
  for (const std::string& name : names) {
    if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      arguments.emplace_back(name.substr(0, equals), argument_of(from_json(name.substr(equals + 1))));
      continue;
    }
    if (name.size() > 1 && name[0] == '-') {
      left_out.push_back(name.substr(1));
      continue;
    }
    if (!nameless()) return {};
    if (name != "-") arguments.emplace_back(name, next->second);
    ++next;
  }
  if (nameless()) return {};
  for (const auto& argument : recorded)
    if (!argument.first.empty() &&
        std::find(left_out.begin(), left_out.end(), argument.first) == left_out.end())
      arguments.push_back(argument);
  return OperationCall::by_name(operation, arguments, "[save]");
}

/// Returns the call as Keras writes it.
OperationCall written(const OperationCall& call) {
  if (!call.operation().written_as) return call;
  std::vector<OperationArgument> operands;
  const auto& parameters = call.operation().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].in_call) operands.push_back(call.arguments()[i]);
  Config attributes = call.attributes();
  const char* const name = call.operation().written_as(operands, attributes);
  const Operation* const other = name ? find_operation(name) : nullptr;
  if (!other) return call;
  std::vector<std::pair<std::string, OperationArgument>> arguments;
  std::size_t next = 0;
  for (const Operation::Parameter& parameter : other->parameters())
    if (parameter.in_call && next < operands.size()) arguments.emplace_back(parameter.name, operands[next++]);
  for (const auto& [attribute, value] : attributes)
    arguments.emplace_back(attribute, OperationArgument{.value = value});
  return OperationCall::by_name(*other, arguments, "[save]");
}

}  // namespace

namespace {
/// Returns the operations that the symbols with this op may record.
std::vector<const Operation*> operations_of_op(const std::string& op) {
  static const std::unordered_map<std::string, std::vector<const Operation*>> by_op = [] {
    std::unordered_map<std::string, std::vector<const Operation*>> by_op;
    for (const Operation& operation : all_operations()) {
      std::istringstream ops(*operation.ops ? operation.ops : snake_name(operation));
      for (std::string name; ops >> name;) by_op[name].push_back(&operation);
    }
    return by_op;
  }();
  const auto found = by_op.find(op);
  return found == by_op.end() ? std::vector<const Operation*>() : found->second;
}
}  // namespace

const Operation* operation_named_by(const Symbol& symbol) {
  if (const OperationCall* const call = applied_operation(symbol)) return &call->operation();
  const std::vector<const Operation*> candidates = operations_of_op(symbol.op());
  return candidates.empty() ? nullptr : candidates[0];
}

std::optional<OperationCall> operation_of(const Symbol& symbol, bool reads_variables) {
  if (const OperationCall* const call = applied_operation(symbol)) return *call;
  if (symbol.captured() > 0) return {};
  const std::vector<const Operation*> candidates = operations_of_op(symbol.op());
  if (candidates.empty()) return {};
  const auto recorded = recorded_arguments(symbol, reads_variables);
  if (!recorded) return {};
  for (const Operation* const operation : candidates)
    for (const std::vector<std::string>& names : recorded_orders(*operation, *recorded))
      if (const auto call = named(*operation, names, *recorded)) return written(*call);
  return {};
}

}  // namespace ktape::nn
