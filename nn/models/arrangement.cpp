#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/losses/alignment.hpp>
#include <ktape/nn/models/arrangement.hpp>
#include <ktape/nn/training/trainer.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;
namespace {

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

NamedTensors undefined_tensors(std::vector<std::string> names) {
  std::vector<Tensor> tensors(names.size());
  return {std::move(tensors), std::move(names)};
}

}  // namespace

Arrangement::Arrangement(const char* op, const Model& model)
    : op_(op),
      model_(model),
      inputs_{"x", "inputs", undefined_tensors(model.impl().input_names())},
      outputs_{"y", "outputs", undefined_tensors(model.impl().output_names())} {}

// --- By name ----------------------------------------------------------------------------------------------

/// Returns the tensors in the order of the side's names; undefined for a missing name.
NamedTensors Arrangement::by_name(const Side& side, const NamedTensors& given,
                                  const std::string& argument) const {
  const std::vector<std::string> names = given.names(), known = side.named.names();
  if (side.named.empty())
    fail("[", op_, "] ", argument, " by name must go with a model whose ", side.kind,
         " have names, as those of a functional model, or of a class that overrides ",
         side.argument[0] == 'x' ? "input_names" : "output_names", ": received '", names[0], "' for '",
         model_.name(), "'");
  NamedTensors ordered = side.named;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_among(names[i], known))
      fail("[", op_, "] ", argument, " must name ", side.kind, " of '", model_.name(), "', ",
           in_quotes(known), ": received '", names[i], "'");
    ordered[names[i]] = given[i];
  }
  return ordered;
}

NamedTensors Arrangement::inputs(const NamedTensors& given) const {
  if (given.named()) {
    const NamedTensors ordered = by_name(inputs_, given, "x");
    for (std::size_t i = 0; i < ordered.size(); ++i)
      if (!ordered[i].defined())
        fail("[", op_, "] x must have each of the inputs ", in_quotes(inputs_.named.names()), " of '",
             model_.name(), "': received none for '", inputs_.named.names()[i], "'");
    return ordered;
  }
  const std::size_t count = inputs_.named.size();
  if (count > 0 && given.size() != count)
    fail("[", op_, "] there must be one array for each of the inputs ", in_quotes(inputs_.named.names()),
         " of '", model_.name(), "': received ", given.size());
  NamedTensors ordered = given;
  ordered.take_names(inputs_.named);
  return ordered;
}

/// Returns the targets of all outputs, from targets of all outputs or of the outputs with a loss.
NamedTensors Arrangement::targets(const NamedTensors& given) const {
  const Trainer& trainer = model_.impl().trainer();
  if (given.named()) {
    const NamedTensors ordered = by_name(outputs_, given, "y");
    for (std::size_t i = 0; i < ordered.size(); ++i)
      if (!ordered[i].defined() && trainer.has_loss(i))
        fail("[", op_, "] y must have targets for each output of '", model_.name(),
             "' that has a loss: received none for '", outputs_.named.names()[i], "'");
    return ordered;
  }
  for (const Tensor& y : given)
    if (!y.defined()) fail("[", op_, "] y must have an axis of samples: received None");
  NamedTensors ordered = given;
  if (given.size() == outputs_.named.size()) {
    ordered.take_names(outputs_.named);
  } else {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs_.named.size(); ++i)
      if (trainer.has_loss(i)) names.push_back(outputs_.named.names()[i]);
    if (given.size() == names.size()) ordered.take_names(undefined_tensors(names));
  }
  return ordered;
}

NamedTensors Arrangement::weights(const NamedTensors& given) const {
  if (given.named()) return by_name(outputs_, given, "sample_weight");
  NamedTensors ordered = given;
  if (given.size() > 1 && given.size() == outputs_.named.size()) ordered.take_names(outputs_.named);
  return ordered;
}

Batch Arrangement::of_arrays(const NamedTensors& x, const NamedTensors& y,
                             const NamedTensors& sample_weight) const {
  return {inputs(x), y.empty() ? NamedTensors() : targets(y), weights(sample_weight)};
}

// --- Elements of datasets ---------------------------------------------------------------------------------

Batch Arrangement::of_element(const NamedTensors& element, bool inputs_only) const {
  if (in_parts(element)) return by_parts(element, inputs_only);
  return element.named() ? by_names(element, inputs_only) : by_counts(element, inputs_only);
}

Batch Arrangement::as_it_is(const NamedTensors& element) {
  if (!element.parts().empty()) return {element.part(0), element.part(1), element.part(2)};
  if (element.named()) return {element, {}};
  const auto one = [&](std::size_t i) {
    return i < element.size() ? NamedTensors(std::vector<Tensor>{element[i]}) : NamedTensors();
  };
  return {one(0), one(1), one(2)};
}

/// Returns whether the parts of an element are the inputs, the targets and the weights of the model. Parts
/// that `zip` made may also be single inputs or targets.
bool Arrangement::in_parts(const NamedTensors& element) const {
  const std::vector<std::size_t> parts = element.parts();
  if (parts.empty() || parts.size() > 3) return false;
  if (const auto count = input_count(); count && parts[0] != *count) return false;
  if (parts.size() == 1 || outputs_.named.empty()) return true;
  const Trainer& trainer = model_.impl().trainer();
  std::size_t losses = 0;
  for (std::size_t i = 0; i < outputs_.named.size(); ++i) losses += trainer.has_loss(i) ? 1 : 0;
  return parts[1] == outputs_.named.size() || parts[1] == losses || element.part(1).named();
}

Batch Arrangement::by_parts(const NamedTensors& element, bool inputs_only) const {
  if (inputs_only) return of_arrays(element.part(0));
  return of_arrays(element.part(0), element.part(1), element.part(2));
}

/// Divides the tensors of an element by their names. A second tensor with the name of an output is the
/// weights of its targets. Tensors without names take the remaining places in order.
Batch Arrangement::by_names(const NamedTensors& element, bool inputs_only) const {
  const std::vector<std::string> names = element.names(), of_inputs = inputs_.named.names(),
                                 of_outputs = outputs_.named.names();
  NamedTensors x, y, weights;
  std::vector<Tensor> others;
  for (std::size_t i = 0; i < element.size(); ++i) {
    if (names[i].empty()) others.push_back(element[i]);
    else if (is_among(names[i], of_inputs) || (of_inputs.empty() && !is_among(names[i], of_outputs)))
      x.set(names[i], element[i]);
    else if (inputs_only) continue;
    else if (!is_among(names[i], of_outputs))
      fail("[", op_, "] elements must name inputs and outputs of '", model_.name(), "', ",
           in_quotes(of_inputs), " and ", in_quotes(of_outputs), ": received '", names[i], "'");
    else (y.contains(names[i]) ? weights : y).set(names[i], element[i]);
  }
  auto other = others.begin();
  const auto fill = [&](NamedTensors& side, const std::vector<std::string>& known) {
    for (const std::string& name : known)
      if (!side.contains(name) && other != others.end()) side.set(name, *other++);
  };
  fill(x, of_inputs);
  if (inputs_only) return of_arrays(x);
  fill(y, of_outputs);
  if (weights.empty()) weights = std::vector<Tensor>(other, others.end());
  return of_arrays(x, y, weights);
}

Batch Arrangement::by_counts(const NamedTensors& element, bool inputs_only) const {
  const std::optional<std::size_t> count = input_count();
  if (!count && element.size() > 2)
    fail("[", op_, "] the number of inputs among the ", element.size(),
         " tensors of an element must be known for '", model_.name(),
         "': build the model, override input_names in its class, or give the element parts, as "
         "from_tensor_slices({a, b}, y) does");
  const std::size_t inputs = count.value_or(1);
  if (element.size() < inputs)
    fail("[", op_, "] elements must have one tensor for each of the ", inputs, " inputs: received ",
         element.size());
  const auto x_end = element.begin() + static_cast<std::ptrdiff_t>(inputs);
  const std::vector<Tensor> x(element.begin(), x_end);
  if (inputs_only) return of_arrays(x);
  const auto outputs = static_cast<std::ptrdiff_t>(output_count());
  const auto y_end = x_end + std::min(element.end() - x_end, outputs);
  const std::vector<Tensor> y(x_end, y_end), weights(y_end, element.end());
  if (weights.size() > 1 && std::ssize(weights) != outputs)
    fail("[", op_, "] elements must have inputs, targets and weights, for ", inputs, " inputs and ", outputs,
         " outputs: received ", element.size(), " tensors");
  return of_arrays(x, y, weights);
}

/// Returns the number of inputs; none for a model class of the user that takes any number.
std::optional<std::size_t> Arrangement::input_count() const {
  const ModelImpl& model = model_.impl();
  if (!inputs_.named.empty()) return inputs_.named.size();
  if (!model.build_shapes().empty()) return model.build_shapes().size();
  if (!model.takes_several()) return 1;
  return {};
}

std::size_t Arrangement::output_count() const {
  return outputs_.named.empty() ? std::max<std::size_t>(model_.impl().trainer().output_count(), 1)
                                : outputs_.named.size();
}

// --- Weights of classes -----------------------------------------------------------------------------------

Tensor Arrangement::class_weights(const Tensor& y, const ClassWeight::ByClass& by_class) const {
  const std::int64_t samples = y.shape()[0];
  const bool one_hot = y.ndim() > 1 && y.shape()[-1] > 1;
  const Tensor classes =
      K::class_numbers(op_, "target", one_hot ? K::argmax(y) : K::reshape(y, {samples, -1}));
  if (classes.size() != samples)
    fail("[", op_, "] class_weight must go with one class for each sample: received y of shape ", y.shape());
  Tensor weights = Tensor::empty({samples}, DType::Float32);
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto weight = by_class.find(classes.pointer<std::int64_t>()[i]);
    weights.pointer<float>()[i] = weight == by_class.end() ? 1.f : static_cast<float>(weight->second);
  }
  return weights;
}

void Arrangement::weigh_classes(Batch& batch, const ClassWeight& class_weight) const {
  if (class_weight.empty()) return;
  NamedTensors& all = batch.sample_weight;
  const auto weigh = [](Tensor& given, const Tensor& weights) {
    given = given.defined() ? K::as_dtype(given, DType::Float32) * with_rank(weights, given.ndim()) : weights;
  };
  if (class_weight.by_output().empty()) {
    if (batch.y.size() != 1)
      fail("[", op_,
           "] class_weight must go with targets of one output, or name outputs: received targets of ",
           batch.y.size());
    const Tensor weights = class_weights(batch.y[0], class_weight.weights());
    if (all.empty()) all = {Tensor()};
    for (Tensor& given : all) weigh(given, weights);
    return;
  }
  const Tensor one = all.size() == 1 ? all[0] : Tensor();
  if (all.size() < 2) {
    all = outputs_.named;
    for (Tensor& given : all) given = one;
  }
  for (const auto& [name, by_class] : class_weight.by_output()) {
    if (!is_among(name, outputs_.named.names()))
      fail("[", op_, "] class_weight must name outputs of '", model_.name(), "', ",
           in_quotes(outputs_.named.names()), ": received '", name, "'");
    if (!batch.y.contains(name) || !batch.y[name].defined())
      fail("[", op_, "] class_weight must go with targets: received none for '", name, "'");
    weigh(all[name], class_weights(batch.y[name], by_class));
  }
}

}  // namespace ktape::nn
