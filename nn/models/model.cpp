#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/training/trainer.hpp>

namespace ktape::nn {

Model::Model(std::shared_ptr<ModelImpl> impl) : Layer(std::move(impl)) {}
Model::Model(const Layer& layer) : Layer(layer) {
  if (layer.defined() && !dynamic_cast<const ModelImpl*>(layer.shared().get()))
    fail("[Model] the layer must be a model: received '", layer.name(), "' of class ", layer.class_name());
}

Model::Model(const TensorList& inputs, const TensorList& outputs, const ModelOptions& options)
    : Layer(std::make_shared<FunctionalImpl>(inputs, outputs, options)) {}

Model::Model(const FunctionalOptions& options)
    : Model(internal::given("Model", "inputs", options.inputs),
            internal::given("Model", "outputs", options.outputs),
            {.trainable = options.trainable, .dtype = options.dtype, .name = options.name}) {}

ModelImpl& Model::impl() const { return static_cast<ModelImpl&>(Layer::impl()); }

namespace {

std::vector<Tensor> known(const Model& model, const char* what, std::vector<Tensor> tensors) {
  if (tensors.empty())
    fail("[", model.name(), "] the ", what,
         " of a model are known when it is made from nn::Input, or, for a Sequential, "
         "when it is built");
  return tensors;
}

Tensor only(const Model& model, const char* what, const std::vector<Tensor>& tensors) {
  if (tensors.size() != 1)
    fail("[", model.name(), "] the model must have one ", what, ": received ", tensors.size());
  return tensors[0];
}

}  // namespace

std::vector<Tensor> Model::inputs() const { return known(*this, "inputs", impl().inputs()); }
std::vector<Tensor> Model::outputs() const { return known(*this, "outputs", impl().outputs()); }
Tensor Model::input() const { return only(*this, "input", inputs()); }
Tensor Model::output() const { return only(*this, "output", outputs()); }
std::vector<Layer> Model::layers() const { return impl().layers(); }

Layer Model::get_layer(const std::string& name) const {
  std::vector<std::string> names;
  for (const Layer& layer : layers()) {
    if (layer.name() == name) return layer;
    names.push_back(layer.name());
  }
  fail("[", this->name(), "] the model must have the layer: received name='", name, "'",
       suggestion(name, names));
}

Layer Model::get_layer(int index) const {
  const std::vector<Layer> all = layers();
  const int count = static_cast<int>(all.size()), at = index < 0 ? index + count : index;
  if (at < 0 || at >= count)
    fail("[", name(), "] the index of a layer must be in [", -count, ", ", count,
         "): received index=", index);
  return all[static_cast<std::size_t>(at)];
}

namespace {

void expect_symbolic(const Model& model, const char* what, const Tensor& x) {
  if (!is_symbolic(x))
    fail("[", model.name(), "] a ", what,
         " that is added to a model must be made from its tensors: received a tensor "
         "with a value, which ",
         "add_", what, " takes inside call");
}

}  // namespace

void Model::add_loss(const Tensor& loss) const {
  expect_symbolic(*this, "loss", loss);
  impl().add_graph_report(loss, "");
}

void Model::add_metric(const Tensor& value, const std::string& name) const {
  expect_symbolic(*this, "metric", value);
  if (name.empty()) fail("[", this->name(), "] a metric must have a name: received an empty one");
  impl().add_graph_report(value, name);
}

void Model::compile(const CompileOptions& options) const { impl().compile(options); }
const Optimizer& Model::optimizer() const { return impl().optimizer(); }

ModelImpl::ModelImpl(std::string class_name, const LayerOptions& options)
    : LayerImpl(std::move(class_name), options), trainer_(std::make_unique<Trainer>(*this)) {}
ModelImpl::~ModelImpl() = default;

Config ModelImpl::get_config() const {
  if (!is_registered(kind, class_name()))
    fail("[", name(),
         "] a model class must override get_config, or be registered, to be saved: received class ",
         class_name());
  return {};
}

Value ModelImpl::to_value() const {
  Config value = LayerImpl::to_value().config();
  Value::List shapes(build_shapes_.begin(), build_shapes_.end());
  if (!shapes.empty())
    value.set("build_config", Config{{"input_shape", shapes.size() == 1 ? shapes[0] : Value(shapes)}});
  return value;
}

void ModelImpl::build(const std::vector<Shape>& inputs) {
  LayerImpl::build(inputs);
  build_shapes_ = inputs;
}

void ModelImpl::add_graph_report(const Tensor&, const std::string&) {
  fail("[", name(),
       "] only a model that is made from nn::Input takes symbolic losses and metrics; others add them inside "
       "call");
}

}  // namespace ktape::nn
