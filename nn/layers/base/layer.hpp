#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/constraints.hpp>
#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/core/initializers.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/core/regularizers.hpp>
#include <ktape/nn/layers/base/call_forms.hpp>
#include <ktape/nn/layers/base/input_spec.hpp>
#include <ktape/nn/layers/base/masks.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

/// Layers: named weights and a computation. A user holds a Layer, a small handle. Copies of a handle refer to
/// one layer, so a layer that is called twice, or put into two models, has one set of weights. A new layer is
/// written as an Impl class, for which `LayerOf` makes the handle:
///
///     struct ScaleImpl : nn::LayerImpl {
///       double by;
///       explicit ScaleImpl(double by, nn::LayerOptions options = {})
///           : nn::LayerImpl("Scale", options), by(by) {}
///       Tensor call(const Tensor& x) override { return x * by; }
///       nn::Config get_config() const override { return {{"by", by}}; }
///     };
///     using Scale = nn::LayerOf<ScaleImpl>;
///
/// The layers of the library are written in this way, too.
namespace ktape {
struct ThreadState;
}

namespace ktape::nn {

class Layer;
class LayerImpl;
class Archive;
struct LayerCall;

/// Options of every layer. The options of each layer of the library end with these members, in the order of Keras's
/// Layer.
///
/// A Sequential is built at once when the first layer has an input shape, as in Keras 2:
///
///     nn::Sequential model({nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
///
/// The shape counts only for the first layer, and only in a Sequential.
struct LayerOptions {
  OptionalShape input_shape = {};        ///< the shape of the input, without the batch axis
  OptionalShape batch_input_shape = {};  ///< the shape of the input with the batch axis, which may be None
  bool trainable = true;                 ///< whether training changes the weights
  std::optional<DTypePolicy> dtype =
      {};                 ///< the dtypes of weights and computation; dtype_policy() by default
  std::string name = {};  ///< the class's name, numbered, by default: "dense", "dense_1", ...
};

/// Arguments of a call besides the inputs. A layer ignores arguments that the layer does not use.
struct CallArguments {
  /// Whether the call is training or inference, for this layer and all layers that this layer calls. The
  /// default is the value of the enclosing call, or else `K::learning_phase()`.
  std::optional<bool> training = {};
  /// The valid time steps: a bool tensor, or an undefined tensor, for each input. The default is the mask
  /// that the input carries, see `mask_of`.
  TensorList mask = {};
  TensorList initial_state = {};         ///< the initial states of a recurrent layer
  Tensor attention_mask = {};            ///< the mask of MultiHeadAttention: (batch, query, key)
  Tensor count_weights = {};             ///< the weight of each entry, for CategoryEncoding
  bool use_causal_mask = false;          ///< whether attention layers hide later keys from a query
  bool return_attention_scores = false;  ///< whether `apply` of attention layers returns the scores, too
};

/// Options of `LayerImpl::add_weight`.
///
///     struct ShiftImpl : nn::LayerImpl {
///       Variable shift;
///       ShiftImpl() : nn::LayerImpl("Shift") {}
///       void build(const std::vector<Shape>& shapes) override {
///         shift = add_weight("shift", {shapes[0][-1]}, {.initializer = "ones"});
///       }
///       Tensor call(const Tensor& x) override { return x + shift; }
///     };
///     std::cout << nn::LayerOf<ShiftImpl>()(K::zeros({2, 3}));
struct WeightOptions {
  Initializer initializer = {};     ///< default: "glorot_uniform" for floating dtypes, zeros for others
  std::optional<DType> dtype = {};  ///< the layer's variable_dtype by default
  bool trainable = true;
  bool autocast = true;  ///< whether `call` reads the weight in the layer's compute_dtype
  Regularizer regularizer = {};
  nn::Constraint constraint = {};
};

/// A handle to a layer. `layer(x)` is a call with one output; `apply` takes and returns any number of
/// tensors. On symbolic tensors (nn::Input) a call adds a node to the graph of a model and computes no
/// values.
///
/// Any number of threads may call one layer in inference at the same time, also in the first call and in
/// `build`, which make the weights. First calls run one after another, so a first call must not wait for the
/// first call of another thread. A stateful recurrent layer keeps the state of the call that ended last.
/// `set_weights` changes all weights at once for calls of other threads. Other operations that change weights, settings
/// or a vocabulary (training, `set_trainable`, `adapt`) need the layer for one thread alone. See also autograd/tape.hpp.
///
///     nn::Layer layer = nn::Dropout(0.5);
///     std::cout << layer.class_name() << " "
///               << layer(K::ones({4}), {.training = false});
class Layer : public Handle<LayerImpl> {
 public:
  using Handle::Handle;
  /// Makes a handle to a layer of a user's class, and finds the forms of `call` of that class. LayerOf uses
  /// this constructor.
  template <std::derived_from<LayerImpl> Implementation>
  explicit Layer(std::shared_ptr<Implementation> impl);

  /// Builds the weights on the first call, and computes the output. Throws ValueError or TypeError, naming
  /// the layer, for inputs that do not fit.
  Tensor operator()(const Tensor& x) const;
  Tensor operator()(const Tensor& x, const CallArguments& arguments) const;
  Tensor operator()(std::initializer_list<Tensor> inputs, const CallArguments& arguments = {}) const;
  Tensor operator()(const std::vector<Tensor>& inputs, const CallArguments& arguments = {}) const;
  std::vector<Tensor> apply(const TensorList& inputs, const CallArguments& arguments = {}) const;

  const std::string& name() const;
  /// Returns the policy, see `DTypePolicy`.
  DTypePolicy dtype_policy() const;
  /// Returns the dtype of the weights: `variable_dtype`.
  DType dtype() const;
  DType variable_dtype() const;
  /// Returns the dtype in which the layer computes. Floating inputs are converted to this dtype. For a
  /// DTypePolicyMap, the dtypes are those of the default policy until the layer is built.
  DType compute_dtype() const;
  /// Returns the dtype to which floating inputs are converted: `compute_dtype`.
  DType input_dtype() const;
  bool trainable() const;
  /// Freezes or unfreezes the layer and all its inner layers.
  void set_trainable(bool trainable) const;

  bool built() const;
  /// Makes the weights for inputs of a shape, in which extents may be None. If the class leaves inner layers
  /// unbuilt, because the inner layers are built by calls, the layer is called on symbolic inputs. An error
  /// of that call is passed on and leaves the layer unchanged.
  void build(const Shape& input) const;
  void build(const std::vector<Shape>& inputs) const;
  /// Returns the shape of the output for an input of a shape. Builds the layer if necessary.
  Shape compute_output_shape(const Shape& input) const;
  std::vector<Shape> compute_output_shapes(const std::vector<Shape>& inputs) const;

  /// Returns all weights, each once: the weights of the layer itself (trainable weights first), then the
  /// weights of the inner layers.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  /// Keras's other names of `weights`, `trainable_weights` and `non_trainable_weights`.
  std::vector<Variable> variables() const { return weights(); }
  std::vector<Variable> trainable_variables() const { return trainable_weights(); }
  std::vector<Variable> non_trainable_variables() const { return non_trainable_weights(); }
  /// Returns the weight of a name, such as "kernel". For the weight of an inner layer the name begins with
  /// layer names, as many as are needed to identify the weight: "forward_lstm/kernel". Throws ValueError,
  /// naming the layer and its weights, when no weight or more than one weight fits the name, and before the
  /// layer is built.
  Variable weight(const std::string& name) const;
  /// Returns the values of `weights()`.
  std::vector<Tensor> get_weights() const;
  /// Sets the values of `weights()`. Throws ValueError, and changes nothing, unless there is one value of the
  /// right shape for each weight.
  void set_weights(const std::vector<Tensor>& values) const;
  /// Returns the number of elements of all weights. Throws ValueError before the layer is built.
  std::int64_t count_params() const;
  /// Returns the losses of the layer and its inner layers: the penalties of trainable weights with a
  /// regularizer, and the losses that the last call on this thread added (`add_loss`).
  std::vector<Tensor> losses() const;

  /// Learns from data, a tensor or a list of numbers, the state of a preprocessing layer (means, boundaries, a
  /// vocabulary) and discards the earlier state. Throws TypeError, naming the layer, for a layer that does not learn from data.
  void adapt(const ArrayLike& data) const;
  /// Learns from the elements of a dataset, or of another range: batches of one tensor each. Throws ValueError
  /// for an element of several tensors: map the dataset to the inputs first.
  ///
  ///     nn::Normalization layer;
  ///     layer.adapt(data::Dataset::from_tensor_slices({K::constant({{1.}, {3.}})}).batch(1));
  ///     std::cout << layer(K::constant({{4.}}));
  template <std::ranges::input_range Batches>
  requires std::convertible_to < std::ranges::range_reference_t<const Batches>,
  const std::vector<Tensor>& > void adapt(const Batches& batches) const {
    reset_state();
    for (const std::vector<Tensor>& batch : batches) update_state(only_tensor(batch));
    finalize_state();
  }
  /// Discards the learned state: the first step of an `adapt` in batches.
  void reset_state() const;
  /// Reads one batch of data: the step of an `adapt` that is repeated for each batch.
  void update_state(const Tensor& batch) const;
  /// Puts the learned state into effect: the last step of an `adapt` in batches.
  void finalize_state() const;

  /// Returns the input or output of the layer's first symbolic call, or of symbolic call number `call`,
  /// counted from 0. Throws ValueError when there is no such call, and when the call has several inputs or
  /// outputs.
  Tensor input() const;
  Tensor output() const;
  Tensor input_at(int call) const;
  Tensor output_at(int call) const;

  /// Returns the config: name, trainable, dtype and the arguments of the class.
  Config get_config() const;
  /// Returns the layer that a {class_name, config} describes. Throws ValueError for an unknown class, with
  /// the nearest known names.
  static Layer from_value(const Value& value, const std::string& what = {});

 private:
  const Tensor& only_tensor(const std::vector<Tensor>& batch) const;
};

/// A handle to a user's layer class; `->` reaches the members of the class.
template <class Implementation>
using LayerOf = HandleOf<Layer, Implementation>;

/// The implementation of a Layer: the constructor takes the configuration, `build` makes the weights, and
/// `call` computes.
///
///     struct ScaleImpl : nn::LayerImpl {
///       double by;
///       explicit ScaleImpl(double by, const nn::LayerOptions& options = {})
///           : nn::LayerImpl("Scale", options), by(by) {}
///       Tensor call(const Tensor& x) override { return x * by; }
///     };
///     using Scale = nn::LayerOf<ScaleImpl>;
///     Scale scale(3., nn::LayerOptions{.name = "tripled"});
///     std::cout << scale.name() << " " << scale(K::ones({2}));
class LayerImpl : public Object, public std::enable_shared_from_this<LayerImpl> {
 public:
  static constexpr const char* kind = "layer";

  explicit LayerImpl(std::string class_name, const LayerOptions& options = {});
  ~LayerImpl() override;
  LayerImpl(const LayerImpl&) = delete;
  LayerImpl& operator=(const LayerImpl&) = delete;

  /// Makes the weights, with `add_weight`, before the first call. The batch axis and other unknown extents
  /// are None. Override the second form for a layer with several inputs.
  virtual void build(const Shape& input);
  virtual void build(const std::vector<Shape>& inputs);

  /// Computes the output. A class has a form of `call` for one tensor, a form for several tensors, or both:
  ///
  ///     Tensor call(const Tensor& x) override;
  ///     Tensor call(const std::vector<Tensor>& inputs);               // not virtual: without `override`
  ///     std::vector<Tensor> call(const std::vector<Tensor>& inputs);  // for several outputs, too
  ///
  /// Each form may take a `const CallArguments&` as its last parameter. Of two forms that differ only in the
  /// CallArguments, the form with CallArguments is called. Without a form for several tensors the layer takes
  /// one input. Without a form for one tensor the layer receives a list of one tensor.
  ///
  /// Several threads may run `call` at once: members that `call` changes need a lock or must be std::atomic.
  virtual Tensor call(const Tensor& x);  // the forms of call for several tensors go without "override"
  virtual Tensor call(const Tensor& x, const CallArguments& arguments);

  /// Returns the mask of the output; called if `supports_masking`. The default is the mask of the (first)
  /// input. Masks may be undefined. Override the second form for several inputs or outputs.
  virtual Tensor compute_mask(const Tensor& x, const Tensor& mask);
  virtual std::vector<Tensor> compute_mask(const std::vector<Tensor>& inputs,
                                           const std::vector<Tensor>& masks);

  /// Calls `reset_state`, `update_state` and `finalize_state`, which throw TypeError by default. A layer that
  /// learns from data overrides these three functions.
  virtual void adapt(const Tensor& data);
  virtual void reset_state();
  virtual void update_state(const Tensor& batch);
  virtual void finalize_state();

  /// Saves or restores the values that calls change besides the weights, such as the position in a sequence
  /// of random numbers; see Archive. Does nothing by default.
  virtual void state(Archive&) {}

  /// Returns the arguments of the class's constructor. `full_config` adds name, trainable and dtype.
  Config get_config() const override { return {}; }

  std::string class_name() const override { return class_name_; }
  Value to_value() const override;
  Config full_config() const;

  Tensor operator()(const Tensor& x, const CallArguments& arguments = {});
  std::vector<Tensor> apply(const std::vector<Tensor>& inputs, const CallArguments& arguments = {});

  const std::string& name() const { return name_; }
  /// Returns the shape of the input, with the batch axis, if the options contain a shape.
  const std::optional<Shape>& batch_input_shape() const { return batch_input_shape_; }
  bool built() const {
    const Stage stage = stage_.load(std::memory_order_acquire);
    return stage == Stage::Built || (stage == Stage::FirstCall && in_first_call());
  }
  /// Returns whether the class has a form of `call` for several tensors.
  bool takes_several() const { return forms_->several != nullptr; }
  const DTypePolicy& dtype_policy() const { return policy_; }
  DType dtype() const { return variable_dtype_; }
  DType variable_dtype() const { return variable_dtype_; }
  DType compute_dtype() const { return compute_dtype_; }
  /// Returns the dtype to which floating inputs, and weights that `call` reads, are converted.
  virtual DType input_dtype() const { return compute_dtype_; }
  bool trainable() const { return trainable_; }
  void set_trainable(bool trainable);
  virtual std::vector<Layer> sublayers() const;
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const { return weights_where(true); }
  std::vector<Variable> non_trainable_weights() const { return weights_where(false); }
  std::vector<Variable> variables() const { return weights(); }
  std::vector<Variable> trainable_variables() const { return trainable_weights(); }
  std::vector<Variable> non_trainable_variables() const { return non_trainable_weights(); }
  std::vector<Tensor> losses() const;

 protected:
  /// Makes a weight with the name "layer/name". For `build`, or for the constructor when the shape is known
  /// there. Throws ValueError, naming the layer, for a shape with an unknown extent.
  Variable add_weight(const std::string& name, const Shape& shape, const WeightOptions& options = {});
  /// Adds an inner layer, whose weights become weights of this layer, and returns the inner layer. A layer
  /// that `call` calls is added by that call. Layers that the constructor adds are present before the first
  /// call, in the order of the code.
  template <class L>
  L add_layer(L layer) {
    adopt(layer);
    return layer;
  }
  /// Adds a scalar, or the sum of a tensor, to the loss of the model that contains the layer. For `call`.
  void add_loss(const Tensor& loss);
  /// Reports the mean of a value under a name. For `call`.
  void add_metric(const Tensor& value, const std::string& name);
  /// Returns whether the call is training: the argument of the call, or of the calls around the call, or else
  /// the learning phase.
  static bool training(const CallArguments& arguments);

  bool supports_masking = false;  ///< whether the layer passes masks on, or makes a mask
  /// The requirements on each input; the last entry also holds for all further inputs.
  std::vector<InputSpec> input_spec;
  Regularizer activity_regularizer;  ///< the penalty on the outputs, divided by the number of samples
  /// Whether floating inputs, and weights in `call`, are converted to `input_dtype`.
  bool autocast = true;
  bool names_weights = true;  ///< whether names of weights made in `build` begin with the layer's name

 private:
  friend class Layer;
  friend class LayerCallSymbol;
  friend class ModelImpl;
  friend class ModelUse;
  friend class Trainer;
  friend struct LayerCall;
  class CallScope;
  class FirstCall;
  /// The stages of a layer. In stage FirstCall, which lasts until the first call has succeeded, only the
  /// building thread sees the layer as built.
  enum class Stage : char { Unbuilt, FirstCall, Built };
  struct Weight {
    Variable variable;
    Regularizer regularizer;
    std::string name;
  };

  /// Returns whether this thread is in the first call, or in the build, of a layer.
  static bool in_first_call();
  /// Returns the mutex of the weights, sublayers and symbolic calls of all layers. The mutex is held for a
  /// few instructions only.
  static std::mutex& structure();
  void adopt(const Layer& layer);
  void adopt_called(LayerImpl& called);
  void drop_unused_sublayers();
  /// Returns the inputs or the outputs of one of the symbolic calls.
  std::vector<Tensor> recorded_tensors(int call, std::vector<Tensor> (LayerCall::*of_call)() const) const;
  void restore(const Config& config);
  void set_dtypes(const DTypePolicy& policy);
  void settle_policy();
  void collect(std::vector<Variable>& found, std::optional<bool> trainable, bool frozen) const;
  void collect_paths(const std::string& prefix, std::vector<std::pair<std::string, Variable>>& found) const;
  std::vector<Variable> weights_where(bool trainable) const;
  std::vector<Weight> own_weights() const;
  /// Returns the weights of the layer itself, without its sublayers, whose regularizers add to the loss.
  std::vector<Weight> regularized_weights() const;

  Tensor accepted(const Tensor& x, std::size_t place, std::size_t count) const;
  Tensor fitting(const Tensor& x) const;
  CallArguments fitting(CallArguments arguments) const;
  template <class F>
  auto building(FirstCall& turn, const std::vector<Shape>& inputs, F&& go_on);
  void unbuild(std::size_t weights, std::size_t layers, const std::vector<InputSpec>& spec);
  std::vector<Tensor> defer_call(const std::vector<Tensor>& inputs, const CallArguments& arguments);
  std::vector<Tensor> compute(const std::vector<Tensor>& inputs, const CallArguments& arguments);
  Tensor compute_one(const Tensor& x, const CallArguments& arguments);
  std::vector<Tensor> compute_many(const std::vector<Tensor>& inputs, const CallArguments& arguments);
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallArguments& arguments);
  [[noreturn]] void fail_without_result() const;
  Tensor only(std::vector<Tensor> outputs) const;
  void add_activity_loss(const Tensor& y);
  void forget_reports() const;
  /// Returns whether the penalty of a weight is a loss: frozen weights have no penalty.
  bool penalizes(const Weight& weight) const;

  std::string class_name_, name_;
  std::optional<Shape> batch_input_shape_;
  bool trainable_, building_ = false;
  std::atomic<Stage> stage_{Stage::Unbuilt};
  static const CallForms virtual_forms;
  /// The forms of `call`: the virtual functions, until a Layer of the object's exact class holds the object.
  const CallForms* forms_ = &virtual_forms;
  DTypePolicy policy_;
  DType compute_dtype_, variable_dtype_;  ///< of `policy_`, in a map for the path of the layer
  const std::uint64_t number_;            ///< the number of the layer in the process, counted from 1
  /// The `number_` of the last layer that called this layer and has this layer among its sublayers.
  std::atomic<std::uint64_t> part_of_{0};
  /// The thread that is training this layer, a model; null almost always.
  std::atomic<const ThreadState*> trained_by_{nullptr};
  bool adopted_by_call_ = false;  ///< whether a call, not add_layer, made the layer a sublayer
  std::vector<Weight> weights_;
  std::vector<Layer> sublayers_;
  std::vector<LayerCall*> calls_;  ///< the symbolic calls that are still part of a graph
};

template <std::derived_from<LayerImpl> Implementation>
Layer::Layer(std::shared_ptr<Implementation> given) : Handle(std::move(given)) {
  if constexpr (has_form_of_call<Implementation>) {
    if (!defined()) return;
    LayerImpl& layer = impl();
    const bool is_this_class = typeid(layer) == typeid(Implementation);
    if (is_this_class && layer.forms_ != &call_forms<Implementation>)
      layer.forms_ = &call_forms<Implementation>;
  }
}

}  // namespace ktape::nn

/// `auto [a, b] = layer(x)` does not compile, because a call with `()` returns one tensor.
template <std::same_as<ktape::Tensor> T>
struct std::tuple_size<T> {
  static_assert(!std::same_as<T, T>,
                "a call returns one tensor: write std::vector<Tensor> y = layer.apply(x); y[0], y[1]");
};
