#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/ops/schema/operation.hpp>

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace ktape::nn {

namespace {

/// Calls f with each part of a list "a, b=[0, 1], c"; commas in brackets separate nothing.
template <class F>
void for_each_part(const std::string& list, F&& f) {
  std::string part;
  int depth = 0;
  for (const char c : list + ',') {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0) {
      if (!part.empty()) f(part);
      part.clear();
    } else if (c != ' ') {
      part += c;
    }
  }
}

Operation::Parameter parameter_of(std::string text, bool in_call) {
  Operation::Parameter parameter{.name = {}, .in_call = in_call, .is_plain = !in_call};
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    parameter.required = false;
    parameter.otherwise = from_json(text.substr(equals + 1));
    text.resize(equals);
  }
  for (; text.back() == '!' || text.back() == '*'; text.pop_back()) {
    if (text.back() == '!') parameter.is_plain = true;
    else if (parameter.spreads) parameter.is_rest = parameter.is_plain = true;
    else parameter.spreads = true;
  }
  if (parameter.is_rest) parameter.spreads = false;
  parameter.name = text;
  return parameter;
}

}  // namespace

std::vector<Tensor> Operation::Run::operator()(const OperationCall& call) const {
  if (one_) return {one_(call)};
  return several_(call);
}

namespace {

std::vector<Operation::Parameter> parsed(const std::string& text) {
  std::vector<Operation::Parameter> parameters;
  const std::size_t end = std::min(text.find(';'), text.size());
  for_each_part(text.substr(0, end),
                [&](const std::string& part) { parameters.push_back(parameter_of(part, true)); });
  if (end < text.size())
    for_each_part(text.substr(end + 1),
                  [&](const std::string& part) { parameters.push_back(parameter_of(part, false)); });
  return parameters;
}

}  // namespace

const std::vector<Operation::Parameter>& Operation::parameters() const {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::vector<Parameter>> by_signature;
  const std::lock_guard lock(mutex);
  auto& parameters = by_signature[signature];  // the map never moves its values
  if (parameters.empty()) parameters = parsed(signature);
  return parameters;
}

// --- Calls ------------------------------------------------------------------------------------------------

OperationCall::OperationCall(const Operation& operation, std::vector<OperationArgument> arguments)
    : operation_(&operation), arguments_(std::move(arguments)) {
  // An operand refers to a tensor, which lives as long as the call.
  const std::vector<Operation::Parameter>& parameters = operation.parameters();
  for (std::size_t i = 0; i < parameters.size() && i < arguments_.size(); ++i) {
    OperationArgument& argument = arguments_[i];
    if (parameters[i].is_plain || argument.has_tensors() || !is_constant(argument.value)) continue;
    argument.tensors = {constant_from(argument.value, DType::Float32, what(parameters[i].name.c_str()))};
    argument.value = {};
  }
}

namespace {

using NamedArguments = std::vector<std::pair<std::string, OperationArgument>>;

/// Returns the arguments with those of other names than the parameters' in the one that takes the rest.
NamedArguments with_rest(const std::vector<Operation::Parameter>& parameters, NamedArguments given) {
  const auto rest = std::find_if(parameters.begin(), parameters.end(),
                                 [](const Operation::Parameter& parameter) { return parameter.is_rest; });
  if (rest == parameters.end()) return given;
  NamedArguments out;
  Config others;
  for (auto& [name, argument] : given) {
    const bool known =
        std::any_of(parameters.begin(), parameters.end(),
                    [&, name = name](const auto& parameter) { return parameter.name == name; });
    if (known) out.emplace_back(name, std::move(argument));
    else others.set(name, argument.value);
  }
  if (!others.empty()) out.emplace_back(rest->name, OperationArgument{.value = others});
  return out;
}

}  // namespace

OperationCall OperationCall::by_name(const Operation& operation, const NamedArguments& all,
                                     const std::string& what) {
  const std::vector<Operation::Parameter>& parameters = operation.parameters();
  const NamedArguments given = with_rest(parameters, all);
  std::vector<std::string> names;
  for (const Operation::Parameter& parameter : parameters) names.push_back(parameter.name);
  for (const auto& [name, argument] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(what, " an argument of ", operation.name, " must be ", in_quotes(names, " or "), ": received ",
           name, argument.has_tensors() ? "" : '=' + to_json(argument.value), near_names(name, names));
  std::vector<OperationArgument> arguments;
  for (const Operation::Parameter& parameter : parameters) {
    const auto at = std::find_if(given.begin(), given.end(),
                                 [&](const auto& one) { return one.first == parameter.name; });
    if (at == given.end() && parameter.required)
      fail(what, ' ', operation.name, " must have the argument ", parameter.name, ": received none");
    arguments.push_back(at == given.end() ? OperationArgument{.value = parameter.otherwise} : at->second);
  }
  return {operation, std::move(arguments)};
}

Config OperationCall::attributes() const {
  Config attributes;
  const std::vector<Operation::Parameter>& parameters = operation_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].in_call && !arguments_[i].has_tensors())
      attributes.set(parameters[i].name, arguments_[i].value);
  return attributes;
}

const OperationArgument& OperationCall::at(const char* name) const {
  const std::vector<Operation::Parameter>& parameters = operation_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == name) return arguments_[i];
  fail("[", operation_->name, "] there must be a parameter ", name, ": received ", operation_->signature);
}

std::string OperationCall::what(const char* name) const {
  return std::string("[") + operation_->name + "] " + name;
}

bool OperationCall::has(const char* name) const {
  const OperationArgument& argument = at(name);
  return argument.has_tensors() || !argument.value.is_null();
}

void OperationCall::expect_only(std::span<const char* const> names) const {
  const std::vector<Operation::Parameter>& parameters = operation_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Operation::Parameter& parameter = parameters[i];
    if (std::find(names.begin(), names.end(), parameter.name) != names.end()) continue;
    if (arguments_[i].has_tensors() || !(arguments_[i].value == parameter.otherwise))
      fail(what(parameter.name.c_str()), " must be ", parameter.otherwise, ": received ", parameter.name, '=',
           arguments_[i].value);
  }
}

bool OperationCall::is_number(const char* name) const {
  const OperationArgument& argument = at(name);
  return !argument.has_tensors() && (argument.value.is_number() || argument.value.is_boolean());
}

Scalar OperationCall::scalar(const char* name) const {
  const Value& value = at(name).value;
  if (is_constant(value)) return constant_from(value, DType::Float32, what(name)).element(nullptr, 0);
  if (const std::vector<Tensor>& tensors = at(name).tensors; tensors.size() == 1 && tensors[0].size() == 1)
    return tensors[0].element(nullptr, 0);
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  return value.number(what(name));
}

Tensor OperationCall::tensor(const char* name) const {
  const OperationArgument& argument = at(name);
  if (argument.tensors.size() == 1 && !argument.is_list) return argument.tensors[0];
  if (argument.has_tensors())
    fail("[", operation_->name, "] ", name, " must be a tensor: received a list of ",
         argument.tensors.size());
  if (is_constant(argument.value)) return constant_from(argument.value, DType::Float32, what(name));
  for (const OperationArgument& other : arguments_)
    if (!other.tensors.empty() && is_number(name))
      return constant_from(argument.value, other.tensors[0].dtype(), what(name));
  if (is_constant(argument.value))  // infinity, which JSON has no number for
    for (const OperationArgument& other : arguments_)
      if (!other.tensors.empty()) return constant_from(argument.value, other.tensors[0].dtype(), what(name));
  fail<TypeError>("[", operation_->name, "] ", name, " must be a tensor: received ", argument.value);
}

Tensor OperationCall::optional(const char* name) const { return has(name) ? tensor(name) : Tensor(); }

const std::vector<Tensor>& OperationCall::tensors(const char* name) const {
  const OperationArgument& argument = at(name);
  if (!argument.has_tensors())
    fail<TypeError>("[", operation_->name, "] ", name, " must be tensors: received ", argument.value);
  if (argument.tensors.empty()) fail("[", operation_->name, "] ", name, " must hold a tensor: received []");
  return argument.tensors;
}

TensorOrNumber OperationCall::operand(const char* name) const {
  const OperationArgument& argument = at(name);
  if (is_number(name)) return scalar(name);
  if (argument.tensors.size() != 1 || argument.is_list)
    fail<TypeError>("[", operation_->name, "] ", name, " must be a tensor or a number: received ",
                    argument.value);
  return argument.tensors[0];
}

Shape OperationCall::shape(const char* name) const {
  const Value& value = at(name).value;
  if (value.is_integer()) return Shape{value.integer()};
  return value.shape(what(name));
}

std::optional<DType> OperationCall::dtype(const char* name) const {
  const Value& value = at(name).value;
  if (value.is_null()) return {};
  return DType(value.string(what(name)));
}

}  // namespace ktape::nn
