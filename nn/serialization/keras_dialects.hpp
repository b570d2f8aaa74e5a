#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/schema/config.hpp>

#include <vector>

/// Conversions between the config formats of Keras's versions and a canonical form: pure functions. Internal:
/// sources only.
///
/// The canonical form is the form of Keras 3, without the entries that only Python needs:
/// - An object is {class_name, config}, and a layer may have a `shared_object_id` and a `build_config`.
///   Modules and registered names are dropped. A class of a package has its name without the package, unless
///   the registry knows the whole name.
/// - A layer of a model also has {name, inbound_nodes}. A node is a call, {args, kwargs}. A tensor in a call
///   is {class_name: "__keras_tensor__", config: {keras_history: [layer, call, output], ...}}; the calls of a
///   layer count from 0. Arguments that are None are left out.
/// - The config of a Functional model has `layers`, and `input_layers` and `output_layers`, which are lists
///   of [layer, call, output]. In these two lists the calls of a layer that is a Functional count from 1, as
///   in Keras 3.
/// - The config of a Sequential has `name` and `layers`, with an InputLayer first if the input is known.
/// - A dtype is a string, a mixed policy an object of Keras 3; a default dtype is left to the layer.
/// - An operation among the layers (nn/operations) is {class_name: "Operation", config: {name, function, ...}},
///   with the arguments of each call by name.
/// - Arguments that no layer of the library has and that change nothing are left out.
namespace ktape::nn::saving {

/// Returns the canonical form of a config that Keras 2.2 to 2.15, Keras 3 or TensorFlow.js wrote: the config
/// of a model or of a layer, or the whole metadata of a file with such a config in `model_config`. Keras 2's
/// hard_sigmoid differs from Keras 3's and becomes {hard_sigmoid, {slope: 0.2}}. Throws ValueError, naming layer and argument or operation, for a config
/// whose results the library cannot reproduce, and TypeError or ValueError for a value that is no config;
/// unknown arguments and classes are left to the layers.
Value canonical(const Value& architecture);

/// Returns a canonical config in the form that Keras 2 and TensorFlow.js read: nodes as lists,
/// `batch_input_shape`, Keras 2's names, without later arguments that have their default values. Functions
/// that Keras 2 lacks, such as Keras 3's hard_sigmoid, get names that Keras 2 cannot confuse with its
/// functions. Throws ValueError, naming the layer, for a call that Keras 2 cannot express.
Value keras2(const Value& architecture);

/// Throws ValueError, naming layer and argument, for a config in the form of Keras 2 that Keras 2.15 does not read: with a
/// class that came later, or with an argument that the class got later.
void expect_keras2(const Value& written);

/// Returns the canonical form {optimizer, loss, loss_weights, metrics, weighted_metrics} of Keras 2's
/// `training_config` or Keras 3's `compile_config`. Objects take the form of `canonical`, names stay. Entries
/// that say only how Keras runs the model are dropped. A list of metrics that Keras 2 means for each of
/// several outputs becomes a list that holds this list. Null stays null; an empty config, which says that the
/// model is not compiled, becomes null.
Value canonical_compile(const Value& compile);

/// Returns a canonical compile config in the form of Keras 2's `training_config`.
Value keras2_compile(const Value& compile);

/// Returns the weights {kernel, recurrent_kernel, bias} of an LSTM or a GRU, or of the two layers of a
/// Bidirectional, in Keras's layout. CuDNNLSTM and CuDNNGRU wrote a bias of two sets in a row, and kernels in
/// another memory order; such weights are converted, all others are returned unchanged. `canonical` turns the
/// cuDNN classes into LSTM and GRU, so each reader of such layers' weights calls this function.
std::vector<Tensor> without_cudnn(const std::vector<Tensor>& weights);

}  // namespace ktape::nn::saving
