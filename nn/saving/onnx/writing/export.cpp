#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/nn/saving/onnx/writing/model_file.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/control/fixed_phase.hpp>

#include <algorithm>
#include <iostream>
#include <set>

namespace ktape::nn {
namespace {

using onnx::Names;

constexpr int default_opset = 18, first_opset = 17, last_opset = 21;

/// Returns the inputs that the options, the model's symbolic inputs or its build tell.
std::vector<InputSignature> signature_of(const Model& model, const ExportOptions& options) {
  const Names names = model.impl().input_names();
  const auto name = [&](std::size_t i) { return i < names.size() ? names[i] : "input_" + std::to_string(i); };
  std::vector<InputSignature> inputs = options.input_signature;
  if (inputs.empty())
    for (const Tensor& x : model.impl().inputs()) inputs.push_back({x.shape(), x.dtype()});
  if (inputs.empty())
    for (Shape shape : model.impl().build_shapes()) {
      if (shape.rank() > 0) shape[0] = None;
      inputs.push_back({shape, model.dtype()});
    }
  if (inputs.empty())
    fail("[export_to] the inputs of the model must be known: received the model '", model.name(),
         "', which is not built; pass input_signature");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name.empty()) inputs[i].name = name(i);
  std::set<std::string> seen;
  for (const InputSignature& input : inputs)
    if (!seen.insert(input.name).second)
      fail("[export_to] the inputs must have names of their own: received '", input.name, "' twice");
  return inputs;
}

/// Returns names for the unknown extents of an input: "batch" for the first axis.
Names extent_names(const std::string& input, const Shape& shape) {
  Names names(static_cast<std::size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == None)
      names[static_cast<std::size_t>(axis)] = axis == 0 ? "batch" : input + '_' + std::to_string(axis);
  return names;
}

/// A model that becomes a graph.
class Export {
 public:
  Export(const Model& model, const ExportOptions& options)
      : model_(model), options_(options), graph_(options.opset_version.value_or(default_opset)) {}

  void write(const std::string& path) {
    const std::vector<InputSignature> inputs = signature_of(model_, options_);
    onnx::Translator translator(graph_);
    std::vector<Tensor> placeholders;
    for (const InputSignature& input : inputs) {
      placeholders.push_back(make_placeholder(input.shape, input.dtype, input.name));
      translator.set_name(placeholders.back(), graph_.unique(input.name));
      facts_.inputs.push_back({input.name, input.shape, input.dtype, extent_names(input.name, input.shape)});
    }
    const backend::FixedPhaseScope inference(0);
    const std::vector<Tensor> outputs = called(placeholders);
    const Names names = output_names(outputs);
    for (const auto& [name, weight] : saving::flat_variables(model_))
      translator.set_hint(weight.value(), name);
    for (const Tensor& output : outputs) made_.push_back(translator.name(output));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string made = made_[i];
      if (graph_.set_output(made, names[i]))
        std::replace(made_.begin() + static_cast<std::ptrdiff_t>(i), made_.end(), made, names[i]);
      facts_.outputs.push_back(
          {names[i], outputs[i].shape(), outputs[i].dtype(), batch_of(outputs[i].shape())});
    }
    graph_.remove_unused(names);
    facts_.name = model_.name(), facts_.doc_string = options_.doc_string, facts_.metadata = options_.metadata;
    facts_.most_inside = options_.most_weights_inside;
    onnx::write_model("export_to", path, graph_, facts_);
  }

 private:
  /// Calls the model; a call of a model class of the user builds the model.
  std::vector<Tensor> called(const std::vector<Tensor>& inputs) {
    const GraphScope outermost;
    return model_.Layer::apply(inputs);
  }

  /// Returns the names of the outputs, which no input and no other output has.
  Names output_names(const std::vector<Tensor>& outputs) {
    Names names = model_.impl().output_names();
    for (std::size_t i = names.size(); i < outputs.size(); ++i)
      names.push_back(outputs.size() == 1 ? "output" : "output_" + std::to_string(i));
    for (std::string& name : names) name = graph_.unique(name);
    return names;
  }

  static Names batch_of(const Shape& shape) {
    Names names(static_cast<std::size_t>(shape.rank()));
    if (shape.rank() > 0 && shape[0] == None) names[0] = "batch";
    return names;
  }

  const Model& model_;
  const ExportOptions& options_;
  onnx::GraphWriter graph_;
  onnx::ModelFacts facts_;
  Names made_;
};

}  // namespace

void Model::export_to(const std::string& path, const ExportOptions& options) const {
  if (options.format != "onnx")
    fail("[export_to] the format must be \"onnx\": received format=\"", options.format, '"');
  if (const int opset = options.opset_version.value_or(default_opset);
      opset < first_opset || opset > last_opset)
    fail("[export_to] opset_version must be in [", first_opset, ", ", last_opset,
         "]: received opset_version=", opset);
  Export(*this, options).write(path);
  if (options.verbose) std::cout << "The model '" << name() << "' is in " << path << '\n';
}

}  // namespace ktape::nn
