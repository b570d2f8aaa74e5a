#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/base/layer_call.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/ops/settings/config.hpp>

namespace ktape::nn {
namespace {

struct InputArguments : LayerOptions {
  Shape batch_shape;
  bool sparse = false;
};

template <class F>
void fields(InputArguments& a, F&& field) {
  field("batch_shape", a.batch_shape);
  field("sparse", a.sparse);
}

/// A layer that stands for an input in the list of the layers of a model.
class InputLayerImpl final : public LayerWith<InputArguments> {
 public:
  explicit InputLayerImpl(const InputArguments& arguments) : LayerWith("InputLayer", arguments) {}
  Tensor call(const Tensor& x) override { return x; }
  /// Returns the value without `trainable`: an input cannot be trained, and Keras 2 rejects the key.
  Value to_value() const override {
    Config config = full_config();
    config.erase("trainable");
    return described(*this, config);
  }

  Tensor tensor() {
    backend::PlaceholderOptions options;
    options.shape = args.batch_shape;
    options.dtype = dtype();
    options.sparse = args.sparse;
    options.name = name();
    const Tensor input = backend::placeholder(options);
    const Layer layer(shared_from_this());
    if (!layer.built()) layer.build(args.batch_shape);
    Symbol& symbol = *input.get()->symbol;
    symbol.set_owner(std::make_shared<LayerCall>(layer, &symbol, CallArguments(), 0));
    return input;
  }
};

std::string input_name() { return "input_" + std::to_string(backend::get_uid("input")); }

/// Returns the shape of an input with the batch axis.
Shape batch_shape_of(const InputOptions& options) {
  if (!options.batch_shape) {
    if (options.batch_size && *options.batch_size < 0)
      fail("[Input] batch_size must be at least 0: received batch_size=", *options.batch_size);
    Shape shape = internal::given("Input", "shape", options.shape);
    shape.insert(0, options.batch_size.value_or(None));
    return shape;
  }
  if (options.shape || options.batch_size)
    fail("[Input] batch_shape must not be given with shape or batch_size: received batch_shape=",
         *options.batch_shape);
  if (options.batch_shape->empty())
    fail("[Input] batch_shape must have a batch axis: received batch_shape=()");
  return *options.batch_shape;
}

}  // namespace

Tensor Input(const InputOptions& options) {
  const Shape batch_shape = batch_shape_of(options);
  const InputArguments arguments{{.dtype = options.dtype.value_or(backend::floatx()),
                                  .name = options.name.empty() ? input_name() : options.name},
                                 batch_shape,
                                 options.sparse};
  return std::make_shared<InputLayerImpl>(arguments)->tensor();
}

Tensor input_of(const Layer& layer) {
  auto* input = dynamic_cast<InputLayerImpl*>(layer.shared().get());
  return input ? input->tensor() : Tensor();
}

void add_input_layer(ClassRegistry& registry) {
  registry.add(
      "InputLayer", Factory([](const Config& given) {
        Config config = given;
        if (config.get("ragged") == Value(true))
          fail("[InputLayer] inputs are not ragged: received ragged=true");
        for (const char* name : {"ragged", "optional"}) config.erase(name);
        if (!config.contains("batch_shape"))
          fail("[InputLayer] batch_shape must be given: received ", config);
        if (!config.contains("name")) config.set("name", input_name());
        return Layer(std::make_shared<InputLayerImpl>(layer_arguments<InputArguments>("InputLayer", config)));
      }));
}

}  // namespace ktape::nn
