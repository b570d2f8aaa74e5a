#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/core/config.hpp>

#include <vector>

/// Configs of models as Keras wrote them over the years, made one form and made old again: pure functions.
/// Internal: sources only.
///
/// The canonical form is Keras 3's, without what only Python needs: - An object is {class_name, config}, and
/// a layer may have a `shared_object_id` and a `build_config`;
///    modules and registered names are gone. A class of a package has its name without the package, unless it is
///    known under the whole name.
/// - A layer of a model has {name, inbound_nodes}, too. A node is a call, {args, kwargs}, whose tensors are
///    {class_name: "__keras_tensor__", config: {keras_history: [layer, call, output], ...}}; the calls of a
///    layer count from 0. Arguments that are None are left out.
/// - The config of a Functional model has `layers`, and `input_layers` and `output_layers`, lists of [layer,
///    call, output]; there, as Keras 3 has it, the calls of a layer that is a Functional count from 1.
/// - The config of a Sequential has `name` and `layers`, with an InputLayer first when the input is known. -
/// A dtype is a string; a default is left to the layer. - Arguments that no layer of ours has, and that
/// change nothing, are left out.
namespace ktape::nn::saving {

/// The canonical form of what Keras 2.2 to 2.15, Keras 3 or TensorFlow.js wrote: the config of a model or of
/// a layer, or the whole metadata of a file with such a config in `model_config`. Keras 2's hard_sigmoid is
/// another function than Keras 3's and becomes {hard_sigmoid, {slope: 0.2}}. Operations among the layers
/// become layers where these compute the same. Throws ValueError, naming layer and argument or operation, for
/// what the library cannot compute as it was, and TypeError or ValueError for a config that is none; what an
/// unknown argument or class says is left to the layers.
Value canonical(const Value& architecture);

/// A canonical config as Keras 2 and TensorFlow.js read it: nodes as lists, `batch_input_shape`, Keras 2's
/// names, without arguments that came later and have their defaults. What Keras 2 has no name for, such as
/// Keras 3's hard_sigmoid, is written so that Keras 2 takes it for nothing else. Throws ValueError, naming
/// the layer, for a call that Keras 2 has no form for.
Value keras2(const Value& architecture);

/// The canonical form {optimizer, loss, loss_weights, metrics, weighted_metrics} of Keras 2's
/// `training_config` or Keras 3's `compile_config`: objects as above, names as they were. What else Keras
/// knows of a compiled model is how it runs. A list of metrics that Keras 2 means for each of several outputs
/// stands in a list of its own. Null stays null, and an empty config, which says that the model is not
/// compiled, becomes null.
Value canonical_compile(const Value& compile);

/// A canonical compile config as Keras 2's `training_config`.
Value keras2_compile(const Value& compile);

/// The weights of an LSTM or a GRU, or of a Bidirectional of two, in Keras's layout: {kernel,
/// recurrent_kernel, bias} as CuDNNLSTM and CuDNNGRU wrote them have a bias of two sets in a row, and kernels
/// with other strides; all others are returned as they are. As `canonical` makes LSTM and GRU of the classes,
/// who reads the weights of these layers calls this.
std::vector<Tensor> without_cudnn(const std::vector<Tensor>& weights);

}  // namespace ktape::nn::saving
