#include <ktape/autograd/described_call.hpp>
#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/operations/operation_symbol.hpp>
#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <any>
#include <sstream>
#include <unordered_map>

/// The operations that symbols record.
namespace ktape::nn {
namespace K = backend;

// --- Recorded values as values of a config ----------------------------------------------------------------

namespace {

using Values = std::vector<Value>;

Value finite(Scalar number) { return std::isfinite(number.real()) ? Value(number) : Value(); }

Value value_of(const Slice::Bound& bound) { return bound.given() ? Value(bound.value_or(0)) : Value(); }

Value value_of(const Index& entry) {
  if (entry.kind() == Index::Position) return entry.position();
  if (entry.kind() == Index::New) return {};
  if (entry.kind() == Index::Rest) return "...";
  const Slice& slice = entry.slice();
  return Config{
      {"start", value_of(slice.start)}, {"stop", value_of(slice.stop)}, {"step", value_of(slice.step)}};
}

Value value_of(const K::Sections& sections) {
  const std::vector<std::int64_t> sizes = sections.of(None);
  if (!sizes.empty() && sizes[0] == None) return sizes.size();
  Value::List ends;  // Keras's form: where each part but the last ends
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) ends.push_back(end += sizes[i]);
  return ends;
}

Value value_of(const K::PerAxis<std::int64_t>& numbers) {
  return numbers.list().size() == 1 ? Value(numbers.list()[0]) : Value(numbers);
}

/// Calls f with the value if it has the type of f's argument, and returns whether it has.
template <class T, class F>
bool visit(const std::any& value, std::optional<Values>& out, F f) {
  const T* const typed = std::any_cast<T>(&value);
  if (typed) out = f(*typed);
  return typed != nullptr;
}

template <class T>
bool visit(const std::any& value, std::optional<Values>& out) {
  return visit<T>(value, out, [](const T& typed) { return Values{Value(typed)}; });
}

bool visit_structs(const std::any& value, std::optional<Values>& out) {
  return visit<K::ReluOptions>(value, out,
                               [](const auto& o) {
                                 return Values{o.alpha, o.max_value, o.threshold};
                               }) ||
         visit<K::GeluOptions>(value, out, [](const auto& o) { return Values{o.approximate}; }) ||
         visit<K::SortOptions>(value, out, [](const auto& o) { return Values{o.direction}; }) ||
         visit<K::MatmulOptions>(value, out,
                                 [](const auto& o) {
                                   return Values{o.transpose_a, o.transpose_b};
                                 }) ||
         visit<K::PadOptions>(value, out,
                              [](const auto& o) {
                                return Values{o.mode, finite(o.constant_values)};
                              }) ||
         visit<K::BiasOptions>(
             value, out,
             [](const auto& o) { return Values{o.data_format.value_or(K::image_data_format())}; }) ||
         visit<K::PoolOptions>(value, out,
                               [](const auto& o) {
                                 return Values{value_of(o.strides), o.padding, o.data_format, o.pool_mode};
                               }) ||
         visit<K::CreationOptions>(
             value, out, [](const auto& o) { return Values{o.dtype ? Value(o.dtype->name()) : Value()}; }) ||
         visit<K::BatchAxes>(
             value, out,
             [](const auto& axes) { return Values{axes.given() ? Value(axes.axes()) : Value()}; }) ||
         visit<activations::AlphaOptions>(value, out, [](const auto& o) { return Values{o.alpha}; }) ||
         visit<activations::ShrinkOptions>(value, out, [](const auto& o) { return Values{o.threshold}; }) ||
         visit<activations::ThresholdOptions>(value, out,
                                              [](const auto& o) {
                                                return Values{o.threshold, o.default_value};
                                              }) ||
         visit<activations::SquareplusOptions>(value, out, [](const auto& o) { return Values{o.b}; }) ||
         visit<K::ConvolutionArguments>(value, out, [](const auto& a) {
           return Values{a.strides, a.dilation_rate, a.padding, a.data_format};
         });
}

/// Returns the values of a recorded argument: none for the name of an op, several for a struct of options.
/// Returns nothing for an argument that has no form in configs.
std::optional<Values> values_of(const std::any& value) {
  std::optional<Values> out;
  visit<const char*>(value, out, [](const char*) { return Values(); }) || visit<bool>(value, out) ||
      visit<int>(value, out) || visit<std::int64_t>(value, out) || visit<double>(value, out) ||
      visit<std::optional<int>>(value, out) || visit<std::optional<std::int64_t>>(value, out) ||
      visit<std::optional<double>>(value, out) || visit<std::string>(value, out) || visit<Axes>(value, out) ||
      visit<Shape>(value, out) || visit<std::vector<K::PaddingPair>>(value, out) ||
      visit<K::PerAxis<std::int64_t>>(value, out,
                                      [](const auto& numbers) { return Values{value_of(numbers)}; }) ||
      visit<Scalar>(value, out, [](Scalar number) { return Values{finite(number)}; }) ||
      visit<DType>(value, out, [](DType dtype) { return Values{dtype.name()}; }) ||
      visit<K::Sections>(value, out,
                         [](const K::Sections& sections) { return Values{value_of(sections)}; }) ||
      visit<K::ShapeLike>(value, out, [](const K::ShapeLike& shape) { return Values{shape.known()}; }) ||
      visit<Indices>(value, out,
                     [](const Indices& indices) {
                       Value::List key;
                       for (const Index& entry : indices.entries()) key.push_back(value_of(entry));
                       return Values{key};
                     }) ||
      visit_structs(value, out);
  return out;
}

}  // namespace

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

/// Returns the recorded arguments in order; nothing if one has no form in configs.
std::optional<std::vector<OperationArgument>> recorded_arguments(const Symbol& symbol, bool reads_variables) {
  std::vector<OperationArgument> out;
  const std::span<const Operand> operands = symbol.operands();
  std::size_t next = 0;
  const auto take = [&] { return operand_value(symbol, operands[next++], reads_variables); };
  const std::vector<DescribedArgument>* const described = described_arguments(symbol);
  if (!described) {
    while (next < operands.size()) out.push_back({.tensors = {take()}});
    return out;
  }
  for (const DescribedArgument& argument : *described) {
    const auto* const shape = std::any_cast<K::ShapeLike>(&argument.value);
    if (argument.value.has_value() && !(shape && shape->waits())) {
      next += argument.operands;
      const std::optional<Values> values = values_of(argument.value);
      if (!values) return {};
      for (const Value& value : *values) out.push_back({.value = value});
      continue;
    }
    OperationArgument tensors{.tensors = {}, .is_list = argument.is_list};
    for (std::size_t i = 0; i < argument.operands; ++i) tensors.tensors.push_back(take());
    out.push_back(std::move(tensors));
  }
  return out;
}

std::vector<std::string> names_of(const Operation& operation) {
  std::vector<std::string> names;
  if (*operation.recorded == '\0') {
    for (const Operation::Parameter& parameter : operation.parameters()) names.push_back(parameter.name);
    return names;
  }
  std::istringstream text(operation.recorded);
  for (std::string name; std::getline(text >> std::ws, name, ',');) names.push_back(name);
  return names;
}

/// Returns the call with the recorded arguments under the operation's names for them; nothing if they are not
/// as many.
std::optional<OperationCall> named(const Operation& operation,
                                   const std::vector<OperationArgument>& recorded) {
  std::vector<std::pair<std::string, OperationArgument>> arguments;
  std::size_t next = 0;
  for (const std::string& name : names_of(operation)) {
    if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      arguments.emplace_back(name.substr(0, equals),
                             OperationArgument{.value = from_json(name.substr(equals + 1))});
      continue;
    }
    if (next == recorded.size()) return {};
    if (name != "-") arguments.emplace_back(name, recorded[next]);
    ++next;
  }
  if (next != recorded.size()) return {};
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

std::vector<const Operation*> operations_of_op(const std::string& op) {
  static const std::unordered_map<std::string, std::vector<const Operation*>> by_op = [] {
    std::unordered_map<std::string, std::vector<const Operation*>> by_op;
    for (const Operation& operation : all_operations()) {
      std::istringstream ops(*operation.ops ? operation.ops : operation.snake_name());
      for (std::string name; ops >> name;) by_op[name].push_back(&operation);
    }
    return by_op;
  }();
  const auto found = by_op.find(op);
  return found == by_op.end() ? std::vector<const Operation*>() : found->second;
}

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
    if (const auto call = named(*operation, *recorded)) return written(*call);
  return {};
}

}  // namespace ktape::nn
