#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

namespace {

std::string name_of(const Tensor& input) {
  const LayerCall* call = call_of(input);
  return call ? call->layer.name() : input.get()->symbol->op();
}

bool fits(const Shape& shape, const Shape& wanted) {
  if (shape.rank() != wanted.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (wanted[axis] != None && shape[axis] != None && wanted[axis] != shape[axis]) return false;
  return true;
}

/// Runs the graph. On symbols, a graph whose callables read its tensors waits as a whole: the callables know no other symbols
/// than those of the graph.
std::vector<Tensor> run_or_wait(const std::shared_ptr<const LayerGraph>& graph,
                                const std::vector<Tensor>& inputs) {
  if (!graph->captures() || !is_symbolic(inputs)) return graph->run(inputs);
  std::vector<OutputInfo> infos;
  for (const Tensor& output : graph->outputs()) infos.push_back({output.shape(), output.dtype()});
  return defer(
      "model", std::move(infos), [graph](const std::vector<Tensor>& now) { return run_or_wait(graph, now); },
      inputs);
}

}  // namespace

std::optional<Shape> adjusted_shape(Shape shape, const Shape& wanted) {
  if (shape.rank() + 1 == wanted.rank() && wanted[-1] == 1) shape.push_back(1);
  else if (shape.rank() == wanted.rank() + 1 && shape[-1] == 1) shape.erase(shape.rank() - 1);
  return fits(shape, wanted) ? std::optional(shape) : std::nullopt;
}

FunctionalImpl::FunctionalImpl(const TensorList& inputs, const TensorList& outputs,
                               const ModelOptions& options)
    : ModelImpl("Functional", {.trainable = options.trainable,
                               .dtype = options.dtype,
                               .name = options.name.empty() ? automatic_name("Model") : options.name}),
      inputs_(inputs.vector()),
      outputs_(outputs.vector()),
      graph_(std::make_shared<const LayerGraph>(name(), inputs_, outputs_)) {
  names_weights = false;
  mark_built();
}
FunctionalImpl::FunctionalImpl(const Config& config) : FunctionalImpl(parts_of(config)) {}
FunctionalImpl::FunctionalImpl(const Parts& parts)
    : FunctionalImpl(parts.inputs, parts.outputs, parts.options) {}

std::vector<Layer> FunctionalImpl::sublayers() const { return graph_->layers(); }

std::vector<std::string> FunctionalImpl::input_names() const {
  std::vector<std::string> names;
  for (const Tensor& input : inputs_) names.push_back(name_of(input));
  return names;
}

std::vector<std::string> FunctionalImpl::output_names() const {
  std::vector<std::string> given, names;
  for (const Tensor& output : outputs_) given.push_back(graph_->name_of(*output.get()->symbol));
  const auto is_among = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const std::string& name : given) {
    std::string unused = name;
    if (is_among(names, name))
      for (int number = 1; is_among(given, unused) || is_among(names, unused); ++number)
        unused = name + '_' + std::to_string(number);
    names.push_back(unused);
  }
  return names;
}

void FunctionalImpl::add_graph_report(const Tensor& value, const std::string& name) {
  std::vector<Tensor> wanted = graph_->outputs();
  wanted.push_back(value);
  graph_ = std::make_shared<const LayerGraph>(this->name(), inputs_, wanted);
  reports_.push_back(name);
}

Tensor FunctionalImpl::fitting(const Tensor& given, std::size_t place) const {
  const Tensor& input = inputs_[place];
  const Tensor x =
      given.dtype() == input.dtype() ? given : with_mask(K::as_dtype(given, input.dtype()), mask_of(given));
  if (fits(x.shape(), input.shape())) return x;
  if (const auto shape = adjusted_shape(x.shape(), input.shape()); shape && !is_symbolic(x))
    return K::reshape(x, *shape);
  fail("[", name(), "] the input '", name_of(input), "' must have the shape ", input.shape(),
       ": received shape=", given.shape());
}

std::vector<Tensor> FunctionalImpl::call(const std::vector<Tensor>& given) {
  if (given.size() != inputs_.size())
    fail("[", name(), "] the model takes one tensor for each of its inputs ", in_quotes(input_names()),
         ": received ", given.size());
  std::vector<Tensor> inputs;
  for (const Tensor& x : given) inputs.push_back(fitting(x, inputs.size()));
  const bool planned = CompiledCalls::usable(inputs) && !training({}) && graph_->plans();
  std::vector<Tensor> results = planned ? graph_->plans()->run(inputs) : run_or_wait(graph_, inputs);
  for (std::size_t i = reports_.size(); i-- > 0; results.pop_back())
    reports_[i].empty() ? add_loss(results.back()) : add_metric(results.back(), reports_[i]);
  return results;
}

std::shared_ptr<CompiledCalls> FunctionalImpl::plans() const {
  const bool alone =
      reports_.empty() && typeid(*this) == typeid(FunctionalImpl);  // a class of the user may do more
  return alone ? std::shared_ptr<CompiledCalls>(graph_, graph_->plans()) : nullptr;
}

Value FunctionalImpl::to_value() const { return described(*this, get_config()); }

}  // namespace ktape::nn
