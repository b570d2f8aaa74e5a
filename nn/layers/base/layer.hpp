#pragma once
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/core/constraints.hpp>
#include <ktape/nn/core/initializers.hpp>
#include <ktape/nn/core/object.hpp>
#include <ktape/nn/core/regularizers.hpp>
#include <ktape/nn/layers/base/call_forms.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

/// Layers: named weights and a computation. A user holds a Layer, a small handle: copies refer to one layer,
/// so a layer that is called twice, or put into two models, has one set of weights. A user writes an Impl
/// class and its handle `LayerOf`:
///
///     struct ScaleImpl : nn::LayerImpl {
///       double by;
///       explicit ScaleImpl(double by, nn::LayerOptions options = {}) : nn::LayerImpl("Scale", options), by(by) {}
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

/// The options that every layer takes; the options of each layer of the library end with these fields.
///
/// A Sequential is built at once when its first layer says the shape of its input, as in Keras 2:
///
///     nn::Sequential model({nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
///
/// Only the first layer's shape counts, and only in a Sequential.
struct LayerOptions {
  OptionalShape input_shape = {};        ///< the shape of the input without the batch axis
  OptionalShape batch_input_shape = {};  ///< the shape of the input; the batch axis may be None
  std::string name = {};                 ///< "dense", "dense_1", ... by default: the class's name, counted
  bool trainable = true;                 ///< whether training changes its weights
  std::optional<DType> dtype = {};       ///< dtype of the weights and of the computation; floatx() by default
};

/// The arguments of a call beside the inputs. Layers ignore the arguments that they have no use for.
struct CallArguments {
  /// Training or inference, of this layer and of all that it calls; that of the call around it, or else
  /// `K::learning_phase()`, by default.
  std::optional<bool> training = {};
  /// The mask of time steps: a bool tensor for each input, or undefined. By default the mask that the input
  /// carries, see `mask_of`.
  TensorList mask = {};
  TensorList initial_state = {};         ///< the states before the first step, for recurrent layers
  Tensor attention_mask = {};            ///< MultiHeadAttention: (batch, query, key)
  Tensor count_weights = {};             ///< CategoryEncoding: the weight of each entry
  bool use_causal_mask = false;          ///< attention layers: query i sees keys 0 to i
  bool return_attention_scores = false;  ///< attention layers: `apply` returns the scores after the output
};

struct WeightOptions {
  Initializer initializer = {};  ///< "glorot_uniform" for floating dtypes by default, zeros for others
  Regularizer regularizer = {};
  nn::Constraint constraint = {};
  bool trainable = true;
  std::optional<DType> dtype = {};  ///< the layer's dtype by default
};

/// Requirements on an input; an input that breaks one is an error that names the layer and the requirement.
/// Mirrors `keras.InputSpec`.
struct InputSpec {
  std::optional<int> ndim = {}, min_ndim = {}, max_ndim = {};
  std::vector<std::pair<int, std::int64_t>> axes = {};  ///< extents that must be there; axes may be negative
};

/// The mask that a tensor carries, `(batch, steps)`; undefined when there is none. Layers that support
/// masking hand it on.
Tensor mask_of(const Tensor& x);
/// Returns x with another mask; with an undefined mask, x without a mask.
Tensor with_mask(const Tensor& x, const Tensor& mask);

/// A layer. `layer(x)` is for one output; `apply` takes and returns any number of tensors. On symbolic
/// tensors (nn::Input) a call adds to the graph of a model instead of computing.
///
/// Any number of threads may call one layer in inference at the same time, the first call and `build`, which
/// make the weights, included: first calls take turns, so a first call must not wait for that of another
/// thread. A stateful recurrent layer then keeps the state of the call that ended last. Functions that change
/// weights, settings or a vocabulary (training, `set_weights`, `set_trainable`, `adapt`) must not run beside
/// other calls of the layer. See also autograd/tape.hpp.
class Layer : public Handle<LayerImpl> {
 public:
  using Handle::Handle;
  /// A layer of a class of your own, whose forms of `call` are found: what LayerOf makes.
  template <std::derived_from<LayerImpl> Implementation>
  explicit Layer(std::shared_ptr<Implementation> impl);

  /// Builds the weights on the first call, and computes. Throws ValueError or TypeError, naming the layer,
  /// for inputs that do not fit.
  Tensor operator()(const Tensor& x) const;
  Tensor operator()(const Tensor& x, const CallArguments& arguments) const;
  Tensor operator()(std::initializer_list<Tensor> inputs, const CallArguments& arguments = {}) const;
  Tensor operator()(const std::vector<Tensor>& inputs, const CallArguments& arguments = {}) const;
  std::vector<Tensor> apply(const TensorList& inputs, const CallArguments& arguments = {}) const;

  const std::string& name() const;
  DType dtype() const;
  bool trainable() const;
  /// Freezes or thaws the layer and all layers in it.
  void set_trainable(bool trainable) const;

  bool built() const;
  /// Makes the weights for inputs of this shape, of which some extents may be None. A layer or model whose
  /// class builds the layers in it by calling them is called on symbolic inputs. Throws what that call
  /// throws, and changes nothing then.
  void build(const Shape& input) const;
  void build(const std::vector<Shape>& inputs) const;
  /// Returns the shape of the output for an input of a shape; builds the layer.
  Shape compute_output_shape(const Shape& input) const;
  std::vector<Shape> compute_output_shapes(const std::vector<Shape>& inputs) const;

  /// Returns all weights, each once: the layer's (trainable weights first), then the weights of its
  /// sublayers.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  /// Returns the weight of a name: "kernel". The name of a sublayer's weight begins with as many names of
  /// layers as make the name unique: "forward_lstm/kernel". Throws ValueError, naming the layer and its
  /// weights, for a name that fits no weight or several weights, and before the layer is built.
  Variable weight(const std::string& name) const;
  /// Returns the values of `weights()`.
  std::vector<Tensor> get_weights() const;
  /// Throws ValueError, changing nothing, unless there is one value of the right shape for each of
  /// `weights()`.
  void set_weights(const std::vector<Tensor>& values) const;
  /// Returns the number of elements of all weights. Throws ValueError before the layer is built.
  std::int64_t count_params() const;
  /// The penalties of its trainable weights that have a regularizer, and the losses that were added in its
  /// last call on this thread.
  std::vector<Tensor> losses() const;

  /// Learns from data what a preprocessing layer needs (means, boundaries, a vocabulary) and forgets what it
  /// knew. Throws TypeError, naming the layer, where there is nothing to learn.
  void adapt(const Tensor& data) const;
  /// The three steps of `adapt`: forgets all data, adds a batch, computes the layer's statistics or
  /// vocabulary.
  void reset_state() const;
  void update_state(const Tensor& batch) const;
  void finalize_state() const;

  /// Input and output of the layer's first, or i-th, symbolic call. Throws ValueError when there is none, and
  /// for several.
  Tensor input() const;
  Tensor output() const;
  Tensor input_at(int call) const;
  Tensor output_at(int call) const;

  /// Name, trainable, dtype, and what the class itself adds.
  Config get_config() const;
  /// Returns the layer of a {class_name, config}. Throws ValueError for an unknown class, with the nearest
  /// known ones.
  static Layer from_value(const Value& value, const std::string& what = {});
};

/// A handle to a layer class of your own; `->` reaches its members.
template <class Implementation>
using LayerOf = HandleOf<Layer, Implementation>;

/// The base class of layers: the constructor takes the configuration, `build` makes the weights, `call`
/// computes.
class LayerImpl : public Object, public std::enable_shared_from_this<LayerImpl> {
 public:
  static constexpr const char* kind = "layer";

  explicit LayerImpl(std::string class_name, const LayerOptions& options = {});
  ~LayerImpl() override;
  LayerImpl(const LayerImpl&) = delete;
  LayerImpl& operator=(const LayerImpl&) = delete;

  /// Makes the weights, with `add_weight`, before the first call; the batch axis, and what else is unknown,
  /// is None. Override the second form for several inputs.
  virtual void build(const Shape& input);
  virtual void build(const std::vector<Shape>& inputs);

  /// Computes the output. A class defines the form that it needs, and may define a form for one tensor and a
  /// form for several:
  ///
  ///     Tensor call(const Tensor& x) override;
  ///     Tensor call(const std::vector<Tensor>& inputs);               // no override: there is none to override
  ///     std::vector<Tensor> call(const std::vector<Tensor>& inputs);  // several outputs, too
  ///
  /// each also with a `const CallArguments&` as the last parameter. Without a form for several tensors the
  /// layer takes one input; without a form for one tensor `call` gets a list of one. Where a class has a form
  /// with and a form without CallArguments, the form with CallArguments is called. Several threads may run
  /// `call` at once: members that `call` changes need a lock, or are std::atomic.
  virtual Tensor call(const Tensor& x);
  virtual Tensor call(const Tensor& x, const CallArguments& arguments);

  /// Returns the mask of the output, asked for when `supports_masking`: by default that of the (first) input.
  /// A mask may be undefined. Override the second form for several inputs or outputs.
  virtual Tensor compute_mask(const Tensor& x, const Tensor& mask);
  virtual std::vector<Tensor> compute_mask(const std::vector<Tensor>& inputs,
                                           const std::vector<Tensor>& masks);

  /// The parts of `adapt`; override `reset_state`, `update_state` and `finalize_state` for a layer that
  /// learns from data without gradients.
  virtual void adapt(const Tensor& data);
  virtual void reset_state();
  virtual void update_state(const Tensor& batch);
  virtual void finalize_state();

  /// Names what changes with the calls beside the weights, as the place in a sequence of random numbers does;
  /// see Archive. Nothing by default.
  virtual void state(Archive&) {}

  /// The arguments of the class's own constructor; name, trainable and dtype are added to them.
  Config get_config() const override { return {}; }

  std::string class_name() const override { return class_name_; }
  Value to_value() const override;
  Config full_config() const;

  Tensor operator()(const Tensor& x, const CallArguments& arguments = {});
  std::vector<Tensor> apply(const std::vector<Tensor>& inputs, const CallArguments& arguments = {});

  const std::string& name() const { return name_; }
  /// Returns the shape of the input, with the batch axis, where the options said it.
  const std::optional<Shape>& batch_input_shape() const { return batch_input_shape_; }
  bool built() const {
    const Stage stage = stage_.load(std::memory_order_acquire);
    return stage == Stage::Built || (stage == Stage::FirstCall && in_first_call());
  }
  /// Returns whether the class has a form of `call` for several tensors.
  bool takes_several() const { return forms_->several != nullptr; }
  DType dtype() const { return dtype_; }
  bool trainable() const { return trainable_; }
  void set_trainable(bool trainable);
  virtual std::vector<Layer> sublayers() const;
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const { return weights_where(true); }
  std::vector<Variable> non_trainable_weights() const { return weights_where(false); }
  std::vector<Tensor> losses() const;

 protected:
  /// Returns a new weight, "layer/name". For `build`, or the constructor where the shape is known there.
  /// Throws ValueError, naming the layer, for a shape with an unknown extent.
  Variable add_weight(const std::string& name, const Shape& shape, const WeightOptions& options = {});
  /// Makes a layer part of this one: its weights are this one's. Returns it. A layer that `call` calls
  /// becomes part of this one then; what is added in the constructor is so before, and in the order that is
  /// written.
  template <class L>
  L add_layer(L layer) {
    adopt(layer);
    return layer;
  }
  /// Adds a scalar, or the sum of a tensor, to the loss of the model that the layer is in. For `call`.
  void add_loss(const Tensor& loss);
  /// Reports the mean of a value under a name. For `call`.
  void add_metric(const Tensor& value, const std::string& name);
  /// Returns whether to train: the argument of the call, or that of the calls around it, or else the learning
  /// phase.
  static bool training(const CallArguments& arguments);

  bool supports_masking = false;  ///< whether the layer hands masks on, or makes one
  std::vector<InputSpec>
      input_spec;  ///< requirements on each input; the last element holds for all further inputs
  Regularizer activity_regularizer;  ///< the penalty on the outputs, per sample
  bool names_weights = true;         ///< whether the names of the weights in it begin with its own

 private:
  friend class Layer;
  friend class LayerCallSymbol;
  friend class ModelImpl;
  friend class ModelUse;
  friend class Trainer;
  friend struct LayerCall;
  class CallScope;
  class FirstCall;
  /// A layer that is being built belongs to the thread that builds it until its first call has succeeded.
  enum class Stage : char { Unbuilt, FirstCall, Built };
  struct Weight {
    Variable variable;
    Regularizer regularizer;
    std::string name;
  };

  /// Returns whether this thread is inside of the first call of a layer.
  static bool in_first_call();
  /// Guards the weights, sublayers and symbolic calls of all layers, for a few instructions.
  static std::mutex& structure();
  void adopt(const Layer& layer);
  void take_up(LayerImpl& called);
  void drop_leftovers();
  /// Inputs or outputs of one of the symbolic calls.
  std::vector<Tensor> recorded_tensors(int call, std::vector<Tensor> (LayerCall::*of_call)() const) const;
  void restore(const Config& config);
  void collect(std::vector<Variable>& found, std::optional<bool> trainable, bool frozen) const;
  void collect_paths(const std::string& prefix, std::vector<std::pair<std::string, Variable>>& found) const;
  std::vector<Variable> weights_where(bool trainable) const;
  std::vector<Weight> own_weights() const;

  Tensor accepted(const Tensor& x, std::size_t place, std::size_t count) const;
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
  /// Returns whether the penalty of a weight is a loss: penalties of frozen weights are none.
  bool penalizes(const Weight& weight) const;

  std::string class_name_, name_;
  std::optional<Shape> batch_input_shape_;
  bool trainable_, building_ = false;
  std::atomic<Stage> stage_{Stage::Unbuilt};
  static const CallForms virtual_forms;
  const CallForms* forms_ =
      &virtual_forms;  ///< those of the object's class, once a Layer of that class holds it
  DType dtype_;
  const std::uint64_t number_;  ///< counts the layers of the process
  /// The number of the last layer that called this one and has it among its own.
  std::atomic<std::uint64_t> part_of_{0};
  /// The thread that trains the layer, a model, at present; null almost always.
  std::atomic<const ThreadState*> trained_by_{nullptr};
  bool taken_up_ = false;  ///< made part of a layer by a call, not by add_layer
  std::vector<Weight> weights_;
  std::vector<Layer> sublayers_;
  std::vector<LayerCall*> calls_;  ///< the symbolic ones that are still part of a graph
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
