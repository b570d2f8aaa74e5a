#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/models/operation_config.hpp>

#include <algorithm>

namespace ktape::nn {

// --- Writing ----------------------------------------------------------------------------------------------

namespace {

class OperationWriter {
 public:
  OperationWriter(const OperationCall& call, const std::function<TensorPlace(const Tensor&)>& place_of)
      : call_(call), place_of_(place_of) {}

  Value written() const {
    Config kwargs;
    const std::vector<Operation::Parameter>& parameters = call_.operation().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const OperationArgument& argument = call_.arguments()[i];
      if (argument.has_tensors()) kwargs.set(parameters[i].name, tensors(argument));
      else if (parameters[i].in_call && (parameters[i].required || !argument.value.is_null()))
        kwargs.set(parameters[i].name, argument.value);
    }
    return Config{{"args", Value::List()}, {"kwargs", kwargs}};
  }

 private:
  Value tensors(const OperationArgument& argument) const {
    if (!argument.is_list) return tensor(argument.tensors[0]);
    Value::List list;
    for (const Tensor& x : argument.tensors) list.push_back(tensor(x));
    return list;
  }

  Value tensor(const Tensor& x) const {
    if (!x.defined()) return {};
    if (is_symbolic(x)) return tensor_config(x, place_of_(x));
    return constant_value(x, takes_dtype_of_others(x));
  }

  /// Returns whether a number in place of the constant would get the dtype of the constant.
  bool takes_dtype_of_others(const Tensor& x) const {
    for (const OperationArgument& argument : call_.arguments())
      for (const Tensor& other : argument.tensors)
        if (is_symbolic(other)) return other.dtype() == x.dtype() && !argument.is_list;
    return false;
  }

  const OperationCall& call_;
  const std::function<TensorPlace(const Tensor&)>& place_of_;
};

}  // namespace

Value operation_config(const OperationCall& call, const std::string& name) {
  Config config{{"name", name}, {"function", call.operation().name}};
  config.update(call.attributes());
  return Config{{"class_name", operation_class}, {"config", config}};
}

Value operation_call_config(const OperationCall& call,
                            const std::function<TensorPlace(const Tensor&)>& place_of) {
  return OperationWriter(call, place_of).written();
}

// --- Reading ----------------------------------------------------------------------------------------------

namespace {

using Named = std::vector<std::pair<std::string, OperationArgument>>;

class OperationReader {
 public:
  OperationReader(const Operation& operation, const std::function<Tensor(const TensorPlace&)>& tensor_at,
                  const std::string& what)
      : operation_(operation), tensor_at_(tensor_at), what_(what) {}

  void take(const std::string& name, const Value& value) {
    arguments_.emplace_back(name, OperationArgument{.value = value});
    collect(value, arguments_.back().second.tensors, name);
  }

  OperationCall call() {
    for (auto& [name, argument] : arguments_) resolve(name, argument);
    return OperationCall::by_name(operation_, arguments_, what_);
  }

 private:
  /// Adds the tensors in a value, and in a list of tensors.
  void collect(const Value& value, std::vector<Tensor>& tensors, const std::string& name) {
    if (is_tensor_config(value)) {
      tensors.push_back(tensor_at_(place_in(value, what_)));
      if (!dtype_) dtype_ = tensors.back().dtype();
    } else if (value.is_list()) {
      for (const Value& item : value.list()) collect(item, tensors, name);
    }
  }

  bool is_plain(const std::string& name) const {
    for (const Operation::Parameter& parameter : operation_.parameters())
      if (parameter.name == name) return parameter.is_plain;
    return true;  // an unknown argument, which by_name refuses
  }

  DType dtype_of(const std::string& name) const {
    const DType first = dtype_.value_or(DType::Float32);
    return name == "indices" && !first.is_integer() ? DType(DType::Int64) : first;
  }

  void resolve(const std::string& name, OperationArgument& argument) {
    const Value value = argument.value;
    if (is_tensor_config(value)) return clear(argument);
    if (is_constant(value) ||
        (value.is_list() && !is_plain(name) && argument.tensors.empty() && !is_list(value)))
      argument.tensors = {constant_from(value, dtype_of(name), what_ + ' ' + name)};
    else if (value.is_list() && is_list(value)) take_list(name, argument, value.list());
    else return;
    clear(argument);
  }

  static void clear(OperationArgument& argument) { argument.value = {}; }

  /// Returns whether a list holds tensors, and not the numbers of a constant.
  static bool is_list(const Value& value) {
    return std::any_of(value.list().begin(), value.list().end(),
                       [](const Value& item) { return is_tensor_config(item) || is_constant(item); });
  }

  void take_list(const std::string& name, OperationArgument& argument, const Value::List& list) {
    argument.is_list = true;
    argument.tensors.clear();
    for (const Value& item : list)
      argument.tensors.push_back(is_tensor_config(item)
                                     ? tensor_at_(place_in(item, what_))
                                     : constant_from(item, dtype_of(name), what_ + ' ' + name));
  }

  const Operation& operation_;
  const std::function<Tensor(const TensorPlace&)>& tensor_at_;
  const std::string& what_;
  Named arguments_;
  std::optional<DType> dtype_;  ///< the dtype of the first tensor
};

const Operation& operation_in(const Config& config, const std::string& what) {
  const std::string& name = config.at("function").string(what + " function");
  if (const Operation* const operation = find_operation(name)) return *operation;
  std::vector<std::string> names;
  for (const Operation& operation : all_operations()) names.push_back(operation.name);
  fail(what, " the function of an operation must be one of keras.ops: received function=\"", name, '"',
       suggestion(name, names));
}

}  // namespace

OperationCall operation_call_from(const Value& operation, const Value& call,
                                  const std::function<Tensor(const TensorPlace&)>& tensor_at,
                                  const std::string& what) {
  const Config& config = operation.config(what).at("config").config(what + " config");
  OperationReader reader(operation_in(config, what), tensor_at, what);
  const Config& parts = call.config(what + " a call");
  const Value::List& args = parts.at("args").list(what + " args");
  if (!args.empty()) fail(what, " the call of an operation must name its arguments: received args=", args);
  const Value named = parts.get("kwargs", Config());
  for (const auto& [name, value] : named.config(what + " kwargs")) reader.take(name, value);
  for (const auto& [name, value] : config)
    if (name != "name" && name != "function" && !named.config().contains(name)) reader.take(name, value);
  return reader.call();
}

}  // namespace ktape::nn
