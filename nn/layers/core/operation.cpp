#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/core/operation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <map>

namespace ktape::nn {
namespace K = backend;

namespace {

using Tensors = std::vector<Tensor>;

struct OperationArguments : LayerOptions {
  std::string function;
  Value operands = Value::List{Value()}, options = Config();
};

template <class F>
void fields(OperationArguments& a, F&& field) {
  field("function", a.function);
  field("operands", a.operands);
  field("options", a.options);
}

/// A call of an operation: the input tensors, and the operands and options from the config.
struct Call {
  const Tensors& inputs;
  const Value::List& operands;
  const Config& options;

  const Tensor& x() const { return inputs[0]; }
  int axis() const { return options.get("axis", -1).as<int>("axis"); }
  Axes axes() const {
    const Value axis = options.get("axis");
    if (axis.is_null()) return {};
    return axis.is_list() ? Axes(axis.as<std::vector<int>>("axis")) : Axes(this->axis());
  }
  bool keepdims() const { return options.get("keepdims", false).boolean("keepdims"); }
};

using Compute = Tensor (*)(const Call&);

/// Calls a function of two operands; one of the operands may be a number.
template <auto f>
Tensor binary(const Call& call) {
  const Value &a = call.operands.at(0), &b = call.operands.at(1);
  if (a.is_null() && b.is_null()) return f(call.inputs.at(0), call.inputs.at(1));
  return a.is_null() ? f(call.x(), b.number("an operand")) : f(a.number("an operand"), call.x());
}

Tensor truth(const TensorOrNumber& x) {
  return x.is_number() ? K::not_equal(x.tensor("logical", DType::Float32), 0)
                       : K::cast(x.tensor("logical", x), "bool");
}
Tensor logical_and(const TensorOrNumber& x, const TensorOrNumber& y) { return truth(x) & truth(y); }
Tensor logical_or(const TensorOrNumber& x, const TensorOrNumber& y) { return truth(x) | truth(y); }
Tensor logical_xor(const TensorOrNumber& x, const TensorOrNumber& y) { return truth(x) ^ truth(y); }

Index index_of(const Value& entry) {
  if (entry.is_null()) return NewAxis;
  if (entry == Value("...")) return Ellipsis;
  if (!entry.is_config()) return entry.integer("key");
  const auto bound = [&](const char* name) {
    const Value value = entry.config().get(name);
    return value.is_null() ? Slice::Bound(None) : Slice::Bound(value.integer(name));
  };
  return Slice(bound("start"), bound("stop"), bound("step"));
}

Tensor get_item(const Call& call) {
  std::vector<Index> key;
  for (const Value& entry : call.options.at("key").list("key")) key.push_back(index_of(entry));
  return call.x()[Indices(key)];
}

struct Function {
  std::size_t operands;
  Compute compute;
};

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all{
      {"equal", {2, binary<K::equal>}},
      {"not_equal", {2, binary<K::not_equal>}},
      {"greater", {2, binary<K::greater>}},
      {"greater_equal", {2, binary<K::greater_equal>}},
      {"less", {2, binary<K::less>}},
      {"less_equal", {2, binary<K::less_equal>}},
      {"logical_and", {2, binary<logical_and>}},
      {"logical_or", {2, binary<logical_or>}},
      {"logical_xor", {2, binary<logical_xor>}},
      {"logical_not", {1, [](const Call& call) { return ~K::cast(call.x(), "bool"); }}},
      {"any", {1, [](const Call& call) { return K::any(call.x(), call.axes(), call.keepdims()); }}},
      {"all", {1, [](const Call& call) { return K::all(call.x(), call.axes(), call.keepdims()); }}},
      {"cast",
       {1, [](const Call& call) { return K::cast(call.x(), call.options.at("dtype").string("dtype")); }}},
      {"expand_dims", {1, [](const Call& call) { return K::expand_dims(call.x(), call.axis()); }}},
      {"squeeze", {1, [](const Call& call) { return K::squeeze(call.x(), call.axis()); }}},
      {"get_item", {1, get_item}}};
  return all;
}

class OperationImpl final : public LayerWith<OperationArguments> {
 public:
  explicit OperationImpl(const OperationArguments& arguments) : LayerWith("Operation", arguments) {
    const auto found = functions().find(args.function);
    if (found == functions().end())
      fail("[", name(), "] function must be an operation that the layer knows: received function=\"",
           args.function, '"');
    compute_ = found->second.compute;
    const Value::List& operands = args.operands.list("operands");
    tensors_ = static_cast<std::size_t>(std::count(operands.begin(), operands.end(), Value()));
    if (operands.size() != found->second.operands || tensors_ == 0)
      fail("[", name(), "] operands must be those of ", args.function,
           ", a tensor among them: received operands=", to_json(args.operands));
  }

  Tensors call(const Tensors& inputs) {
    if (inputs.size() != tensors_)
      fail("[", name(), "] the layer takes ", tensors_, " inputs: received ", inputs.size());
    return {compute_({inputs, args.operands.list(), args.options.config("options")})};
  }

  Tensors compute_mask(const Tensors&, const Tensors&) override { return {Tensor()}; }

 private:
  Compute compute_;
  std::size_t tensors_;
};

}  // namespace

bool is_operation_name(const std::string& function) { return functions().contains(function); }

void add_operation_layer(ClassRegistry& registry) {
  add_layer<OperationImpl, OperationArguments>(registry, "Operation");
}

}  // namespace ktape::nn
