#pragma once
#include <ktape/nn/layers/base/layer_call.hpp>

#include <functional>
#include <utility>

/// A layer's call in the config of a model, as Keras 3 writes it: {args, kwargs}, in which a tensor is a
/// {class_name: "__keras_tensor__", config: {shape, dtype, keras_history}}. Internal: sources only.
namespace ktape::nn {

/// The origin of a tensor of a model (Keras's history): an output of a call of a layer.
struct TensorPlace {
  std::string layer;
  std::int64_t call = 0, output = 0;

  Value to_value() const { return Value::List{layer, call, output}; }
  /// Throws TypeError for a value that is not [layer, call, output], and ValueError for negative numbers.
  static TensorPlace from_value(const Value& value, const std::string& what);
};

/// Returns the config of a tensor in a call.
Value tensor_config(const Tensor& x, const TensorPlace& place);
/// Returns whether a value is the config of a tensor.
bool is_tensor_config(const Value& value);
/// Returns the place in the config of a tensor. Throws as TensorPlace::from_value.
TensorPlace place_in(const Value& tensor, const std::string& what);

/// An entry beside {args, kwargs} for a call whose argument `training` the program gave. Keras 3 writes
/// `training` also for calls without the argument, and ignores this entry.
inline constexpr const char* fixed_training = "fixed_training";

/// Returns the call with the place of each of its tensors.
Value call_config(const LayerCall& call, const std::function<TensorPlace(const Tensor&)>& place_of);

/// The arguments of a layer's call.
struct CallInputs {
  std::vector<Tensor> inputs;
  CallArguments arguments;
};

/// Reads a call from a config. Throws ValueError or TypeError, beginning with `what`, for other values.
CallInputs call_from(const Value& call, const std::function<Tensor(const TensorPlace&)>& tensor_at,
                     const std::string& what);
/// Returns the places of all tensors in a call.
std::vector<TensorPlace> places_in(const Value& call, const std::string& what);

/// Returns the name of a layer in the config of a model; empty for a layer without a name.
std::string layer_name(const Value& layer, const std::string& model);
/// A scope in which layers of a model that this thread makes from a config come from a function of their
/// names. If the function returns no layer, the layer is made from its config.
class LayerSource {
 public:
  LayerSource(std::string model, std::function<Layer(const std::string&)> layer)
      : model_(std::move(model)), layer_(std::move(layer)), before_(std::exchange(active_, this)) {}
  ~LayerSource() { active_ = before_; }
  LayerSource(const LayerSource&) = delete;

 private:
  friend Layer layer_from(const Value& layer, const std::string& model);
  static thread_local const LayerSource* active_;
  std::string model_;
  std::function<Layer(const std::string&)> layer_;
  const LayerSource* before_;
};

/// Makes a layer of a model from its config. Errors name the layer and the model.
Layer layer_from(const Value& layer, const std::string& model);

}  // namespace ktape::nn
