#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/node_config.hpp>
#include <ktape/nn/models/sequential.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;
namespace {

class SequentialImpl final : public ModelImpl {
 public:
  explicit SequentialImpl(const ModelOptions& options)
      : ModelImpl("Sequential",
                  {.trainable = options.trainable, .dtype = options.dtype, .name = options.name}) {
    names_weights = false;
  }

  /// Returns the dtype of weights: the layers convert the inputs.
  DType input_dtype() const override { return variable_dtype(); }

  void add(const Layer& layer) {
    if (const Tensor input = input_of(layer); input.defined()) return set_input(input);
    for (const Layer& known : layers_)
      if (known.name() == layer.name())
        fail("[", name(), "] layers must have different names: received two layers named '", layer.name(),
             "'");
    const std::optional<Shape>& shape = layer.impl().batch_input_shape();
    if (shape && layers_.empty() && !input_.defined()) {
      const bool any_batch = shape->rank() == 0 || (*shape)[0] == None;
      input_ = output_ = input_for(layer, *shape, any_batch ? std::nullopt : std::optional((*shape)[0]));
      mark_built();
    }
    if (input_.defined()) output_ = layer(output_);
    layers_.push_back(layer);
    compiled_ = nullptr;
  }

  void set_input(const Tensor& input) {
    if (!layers_.empty() || !call_of(input)) fail("[", name(), "] an nn::Input must be the first layer");
    input_ = output_ = input;
    dtype_in_front_ = input.dtype();
    mark_built();
  }

  void pop() {
    if (layers_.empty())
      fail("[", name(), "] there must be a layer to remove: received a model without layers");
    layers_.pop_back();
    compiled_ = nullptr;
    if (!input_.defined()) return;
    output_ = input_;
    for (const Layer& layer : layers_) output_ = layer(output_);
  }

  /// Returns the config of Keras 3. If the input is known, the list begins with an InputLayer, and the config
  /// has the input shape.
  Config get_config() const override {
    Value::List layers;
    if (input_.defined()) layers.push_back(call_of(input_)->layer.to_value());
    for (const Layer& layer : layers_) layers.push_back(as_member(layer));
    Config config{{"layers", layers}};
    if (input_.defined()) config.set("build_input_shape", input_.shape());
    return config;
  }
  Value to_value() const override { return described(*this, full_config()); }

  void build(const Shape& input) override {
    if (layers_.empty()) fail("[", name(), "] there must be a layer: received a model without layers");
    const Tensor in = input_for(layers_[0], input, {});
    const GraphScope scope;
    Tensor x = in;
    for (const Layer& layer : layers_) x = layer(x);
    input_ = in;
    output_ = x;
  }

  Tensor call(const Tensor& x) override {
    const bool fits = !dtype_in_front_ || x.dtype() == *dtype_in_front_;
    Tensor y = fits ? x : with_mask(K::as_dtype(x, *dtype_in_front_), mask_of(x));
    if (input_.defined() && x.ndim() != input_.ndim() && !is_symbolic(x))
      if (const auto shape = adjusted_shape(x.shape(), input_.shape())) y = K::reshape(y, *shape);
    if (CompiledCalls::usable({y}) && !training({}) && !layers_.empty()) return plans()->run({y})[0];
    for (const Layer& layer : layers_) y = layer(y);
    return y;
  }

  std::shared_ptr<CompiledCalls> plans() const override {
    const std::lock_guard lock(compiling_);
    if (compiled_) return compiled_;
    std::vector<PlannedCall> calls;
    for (const Layer& layer : layers_) {
      const auto slot = calls.size();
      calls.push_back(
          {.layer = layer,
           .plain = true,
           .inputs = {static_cast<int>(slot)},
           .first_result = static_cast<int>(slot) + 1,
           .run = [layer, slot](std::vector<Tensor>& slots) { slots[slot + 1] = layer(slots[slot]); }});
    }
    const auto outputs = std::vector<int>{static_cast<int>(calls.size())};
    const std::size_t slots = calls.size() + 1;
    return compiled_ = std::make_shared<CompiledCalls>(std::move(calls), 1, slots, outputs);
  }

  std::vector<Tensor> inputs() const override { return listed(input_); }
  std::vector<Tensor> outputs() const override { return listed(output_); }
  std::vector<Layer> sublayers() const override { return layers_; }
  std::vector<std::string> input_names() const override {
    return input_.defined() ? std::vector<std::string>{call_of(input_)->layer.name()}
                            : std::vector<std::string>();
  }
  std::vector<std::string> output_names() const override {
    return layers_.empty() ? std::vector<std::string>() : std::vector<std::string>{layers_.back().name()};
  }

 private:
  /// Returns a symbolic input for the first layer. The shape begins with the batch axis.
  Tensor input_for(const Layer& first, const Shape& shape, std::optional<std::int64_t> batch_size) const {
    if (shape.rank() == 0)
      fail("[", name(), "] the shape of the input must begin with the batch: received ", shape);
    Shape rest = shape;
    rest.erase(0);
    return Input(rest, {.batch_size = batch_size, .name = first.name() + "_input"});
  }

  static std::vector<Tensor> listed(const Tensor& x) {
    return x.defined() ? std::vector<Tensor>{x} : std::vector<Tensor>();
  }

  std::vector<Layer> layers_;
  mutable std::mutex compiling_;
  mutable std::shared_ptr<CompiledCalls> compiled_;  ///< the plans of the layers; null before the first use
  Tensor input_, output_;
  std::optional<DType>
      dtype_in_front_;  ///< the dtype of the nn::Input at the begin, to which inputs are cast
};

SequentialImpl& sequence(const Sequential& model) { return static_cast<SequentialImpl&>(model.impl()); }

}  // namespace

Sequential::Sequential(const std::vector<Layer>& layers, const ModelOptions& options)
    : Model(std::make_shared<SequentialImpl>(options)) {
  for (const Layer& layer : layers) add(layer);
}
Sequential::Sequential(std::initializer_list<Layer> layers, const ModelOptions& options)
    : Sequential(std::vector<Layer>(layers), options) {}
Sequential::Sequential(std::initializer_list<Part> parts, const ModelOptions& options)
    : Sequential(std::vector<Layer>(), options) {
  for (const Part& part : parts) part.input_.defined() ? add(part.input_) : add(part.layer_);
}

Sequential sequential_from(const Config& config) {
  const LayerOptions common = layer_options("Sequential", config);
  const Sequential model(std::vector<Layer>(),
                         {.trainable = common.trainable, .dtype = common.dtype, .name = common.name});
  const std::string what = '[' + model.name() + "] ";
  const GraphScope scope;
  for (const Value& value : config.at("layers").list(what + "layers"))
    model.add(layer_from(value, model.name()));
  const Value shape = config.get("build_input_shape");
  if (!shape.is_null() && !model.built()) model.build(shape.shape(what + "build_input_shape"));
  return model;
}

History Sequential::fit(const Tensor& x, const Tensor& y, const EarlierFitOptions& options) const {
  return Model::fit(x, y,
                    {.batch_size = options.batch_size.value,
                     .epochs = options.epochs.value,
                     .verbose = 0,
                     .validation_split = options.validation_split.value});
}

void Sequential::add(const Layer& layer) const { sequence(*this).add(layer); }
void Sequential::add(const Tensor& input) const { sequence(*this).set_input(input); }
void Sequential::pop() const { sequence(*this).pop(); }

}  // namespace ktape::nn
