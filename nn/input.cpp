#include <ktape/nn/input.hpp>
#include <ktape/nn/layers/arguments.hpp>
#include <ktape/nn/layers/layer_call.hpp>

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

/// The layer that stands for an input in the list of a model's layers.
class InputLayerImpl final : public LayerWith<InputArguments> {
 public:
  explicit InputLayerImpl(const InputArguments& arguments) : LayerWith("InputLayer", arguments) {}
  Tensor call(const Tensor& x) override { return x; }
};

}  // namespace

Tensor Input(const Shape& shape, const InputOptions& options) {
  if (options.batch_size && *options.batch_size < 0)
    fail("[Input] batch_size must be at least 0: received batch_size=", *options.batch_size);
  backend::PlaceholderOptions placeholder;
  placeholder.shape = shape;
  placeholder.shape->insert(0, options.batch_size.value_or(None));
  placeholder.dtype = options.dtype;
  placeholder.sparse = options.sparse;
  placeholder.name =
      options.name.empty() ? "input_" + std::to_string(backend::get_uid("input")) : options.name;
  const Tensor input = backend::placeholder(placeholder);
  InputArguments arguments{{placeholder.name, true, input.dtype()}, *placeholder.shape, options.sparse};
  const Layer layer(std::make_shared<InputLayerImpl>(arguments));
  layer.build(*placeholder.shape);
  Symbol& symbol = *input.get()->symbol;
  symbol.set_owner(std::make_shared<LayerCall>(layer, &symbol, CallArguments(), 0));
  return input;
}

}  // namespace ktape::nn
