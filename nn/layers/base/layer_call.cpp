#include <ktape/autograd/environment.hpp>
#include <ktape/nn/layers/base/internal/call_scopes.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>

namespace ktape::nn {
namespace {

/// Returns the tensors among the arguments, in the order in which `with_values` reads the values.
std::vector<Tensor> tensors_of(const CallArguments& arguments) {
  std::vector<Tensor> tensors = arguments.mask.vector();
  tensors.insert(tensors.end(), arguments.initial_state.begin(), arguments.initial_state.end());
  tensors.push_back(arguments.attention_mask);
  tensors.push_back(arguments.count_weights);
  return tensors;
}

CallArguments with_values(CallArguments arguments, const OperandValues& values, std::size_t next) {
  const auto take = [&](const TensorList& list) {
    std::vector<Tensor> taken;
    for (std::size_t i = 0; i < list.size(); ++i) taken.push_back(values[next++]);
    return TensorList(std::move(taken));
  };
  arguments.mask = take(arguments.mask);
  arguments.initial_state = take(arguments.initial_state);
  arguments.attention_mask = values[next++];
  arguments.count_weights = values[next];
  return arguments;
}

}  // namespace

LayerCall::LayerCall(Layer layer, Symbol* symbol, CallArguments arguments, std::size_t input_count)
    : layer(std::move(layer)), symbol(symbol), arguments(std::move(arguments)), input_count(input_count) {
  const std::lock_guard lock(LayerImpl::structure());
  this->layer.impl().calls_.push_back(this);
}

LayerCall::~LayerCall() {
  const std::lock_guard lock(LayerImpl::structure());
  std::erase(layer.impl().calls_, this);
}

std::vector<Tensor> LayerCall::inputs() const {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < input_count; ++i) inputs.push_back(symbol->operands()[i].tensor);
  return inputs;
}

std::vector<Tensor> LayerCall::outputs() const {
  std::vector<Tensor> outputs;
  if (!symbol->retain_if_alive()) return outputs;
  const auto alive = Ref<Symbol>::adopt(symbol);
  for (std::uint32_t i = 0; i < symbol->outputs().size(); ++i) outputs.push_back(symbolic_tensor(alive, i));
  return outputs;
}

std::size_t LayerCall::operand_count() const { return input_count + tensors_of(arguments).size(); }

bool LayerCall::plain() const {
  return input_count == 1 && arguments.mask.empty() && arguments.initial_state.empty() &&
         !arguments.attention_mask.defined() && !arguments.count_weights.defined();
}

const LayerCall* call_of(const Symbol& symbol) { return static_cast<const LayerCall*>(symbol.owner().get()); }

const LayerCall* call_of(const Tensor& x) { return is_symbolic(x) ? call_of(*x.get()->symbol) : nullptr; }

Ref<Symbol> LayerCallSymbol::make(const Layer& layer, const std::vector<Tensor>& inputs,
                                  const CallArguments& arguments) {
  auto symbol = Ref<Symbol>::adopt(new LayerCallSymbol());
  std::vector<Operand> operands(inputs.begin(), inputs.end());
  for (const Tensor& tensor : tensors_of(arguments)) operands.emplace_back(tensor);
  for (const Variable& weight : layer.weights())
    if (weight.has_value()) operands.emplace_back(weight.stored());
  symbol->set_operands(std::move(operands));
  symbol->set_owner(std::make_shared<LayerCall>(layer, symbol.get(), arguments, inputs.size()));
  return symbol;
}

void LayerCallSymbol::run(const OperandValues& values, Results& results) const {
  const LayerCall& call = *call_of(*this);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < call.input_count; ++i) inputs.push_back(values[i]);
  results.set(call.layer.impl().apply(inputs, with_values(call.arguments, values, call.input_count)));
}

std::vector<Tensor> LayerCallSymbol::inner_outputs(const LayerCall& call) {
  const InferenceScope changes_nothing;
  const InnerCallsScope wait(true);
  const GraphScope outermost;
  LayerImpl& layer = call.layer.impl();
  std::vector<Tensor> inputs;
  for (const Tensor& x : call.inputs()) inputs.push_back(layer.accepted(x, inputs.size(), call.input_count));
  CallArguments arguments = call.arguments;
  if (!arguments.training) arguments.training = false;
  return layer.compute(inputs, arguments);
}

std::vector<Tensor> inner_outputs(const LayerCall& call) { return LayerCallSymbol::inner_outputs(call); }

GraphScope::GraphScope() : before_(std::exchange(caller, nullptr)) {}
GraphScope::~GraphScope() { caller = before_; }

}  // namespace ktape::nn
