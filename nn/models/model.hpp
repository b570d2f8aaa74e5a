#pragma once
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/nn/models/options.hpp>
#include <ktape/nn/training/compile.hpp>
#include <ktape/nn/training/fit.hpp>

namespace ktape::nn {

class CompiledCalls;
class ModelImpl;
class Trainer;
struct SummaryOptions;

struct ModelOptions {
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};  ///< the policy; dtype_policy() by default. Layers have their own
  std::string name = {};                  ///< "model", "model_1", ... by default
};

/// Options of `Model`, all by name.
///
///     Tensor x = nn::Input({.shape = {3}});
///     nn::Model model({.inputs = x, .outputs = nn::Dense({.units = 2})(x), .name = "named"});
///     std::cout << model.name() << " " << model.count_params();
struct FunctionalOptions {
  TensorList inputs = {}, outputs = {};  ///< required: symbolic tensors
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer of layers that can be trained. A model is made from symbolic tensors, from a list of layers
/// (Sequential), or from a class of the program:
///
///     Tensor in = nn::Input({28, 28});
///     nn::Model model(in, nn::Dense(10)(nn::Flatten()(in)));
///
///     struct MineImpl : nn::ModelImpl {
///       nn::Dense dense = add_layer(nn::Dense(10));
///       Tensor call(const Tensor& x) override { return dense(x); }
///     };
///     using Mine = nn::ModelOf<MineImpl>;
///
/// Ops between the layers (`x[{All, 0}]`, `K::sum(x, 1)`, `a * b`) are parts of the model: files, clones,
/// summaries and drawings hold each op under a name.
///
/// Several threads may predict with one model at once, and call the model as any layer. Evaluations share the
/// metrics and take turns. Training (`compile`, `fit`, `train_on_batch`, a program's own steps) needs the
/// model for one thread alone: meanwhile fit, evaluate, predict and calls on other threads throw ValueError,
/// and training throws ValueError while another thread runs the model. Models that share layers are not
/// protected from each other.
///
///     Tensor in = nn::Input({4});
///     Tensor out = nn::Dense(2)(nn::Dense(8, {.activation = "relu"})(in));
///     nn::Model model(in, out, {.name = "classifier"});
///     std::cout << model.name() << " "
///               << model.predict(K::ones({3, 4}), {.verbose = 0}).shape();
class Model : public Layer {
 public:
  Model() = default;
  explicit Model(std::shared_ptr<ModelImpl> impl);
  template <std::derived_from<ModelImpl> Implementation>
  explicit Model(std::shared_ptr<Implementation> impl) : Layer(std::move(impl)) {}
  /// Makes a handle to the model that a handle of a layer, such as the result of `get_layer`, refers to.
  /// Throws ValueError for a layer that is not a model.
  explicit Model(const Layer& layer);
  /// Makes a model that computes the outputs from the inputs by the calls of layers and the ops between them.
  /// The model shares the layers. Throws ValueError for an input that the outputs need and `inputs` lacks,
  /// and for two layers with equal names.
  Model(const TensorList& inputs, const TensorList& outputs, const ModelOptions& options = {});
  explicit Model(const FunctionalOptions& options);

  ModelImpl& impl() const;

  /// Return the symbolic tensors from which the model was made. Throw ValueError, naming the model, for a
  /// model without symbolic tensors: a class of the user, or a Sequential before its input is known.
  std::vector<Tensor> inputs() const;
  std::vector<Tensor> outputs() const;
  /// Returns the symbolic tensor of the only input. Throws ValueError for a model of several inputs.
  Tensor input() const;
  Tensor output() const;

  std::vector<Layer> layers() const;
  /// Returns the layer with a name. Throws ValueError, with the nearest known names, for an unknown name.
  Layer get_layer(const std::string& name) const;
  /// Returns the layer with an index; a negative index counts from the end. Throws ValueError for an index
  /// out of range.
  Layer get_layer(int index) const;

  /// Prints the table of the layers: shapes, weights and, unless the layers form a chain, connections.
  void summary() const;
  void summary(const SummaryOptions& options) const;

  /// Adds a loss, computed from the model's tensors, to the losses that training minimizes.
  void add_loss(const Tensor& loss) const;
  /// Adds a metric: the mean of a tensor that is computed from the model's tensors, reported under a name.
  void add_metric(const Tensor& value, const std::string& name) const;

  /// Sets the losses, the optimizer and the metrics of training. Throws ValueError, with the nearest known
  /// names, for the name of an output that the model does not have.
  void compile(const CompileOptions& options = {}) const;
  /// Returns the optimizer of `compile`. Throws ValueError before `compile`.
  const Optimizer& optimizer() const;

  /// Trains on arrays whose first axis counts the samples: one array for each input, and targets for each
  /// output with a loss. Arrays are given in the order of the model's inputs and outputs, or by name in any
  /// order; with names, some targets and weights may be left out. Returns the logs of each epoch. With
  /// use_ema, the averages become the weights at the end. Ctrl-C ends the training after the current batch.
  /// Throws ValueError, before anything changes, for arrays that do not fit each other or the model, and for
  /// unknown names. The names of a model class of the user are those that its `input_names` and
  /// `output_names` return.
  ///
  ///     model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}}, {.epochs = 5});
  History fit(const NamedTensors& x, const NamedTensors& y = {}, const FitOptions& options = {}) const;
  /// Returns the loss and the metrics on arrays that are given as for `fit`.
  Logs evaluate(const NamedTensors& x, const NamedTensors& y = {}, const EvaluateOptions& options = {}) const;
  /// Returns the outputs for inputs that are given as for `fit`. Runs in inference and records nothing.
  Prediction predict(const NamedTensors& x, const PredictOptions& options = {}) const;

  /// Trains on a dataset, whose elements are batches: the inputs, then the targets of each output, then,
  /// optionally, the weights of the samples, one tensor for all outputs or one for each output. Tensors with
  /// names are the inputs and targets with these names. For a model class of the user that is not built and
  /// declares no `input_names`, the inputs are the first part of an element in parts, as
  /// `from_tensor_slices({a, b}, y)` and `zip` of two datasets make, and otherwise the first tensor. The
  /// dataset determines the batches and their order. Each epoch reads the dataset from the beginning. With
  /// steps_per_epoch, each epoch continues the data where the last epoch stopped, and a dataset that ends
  /// within an epoch ends the training, with a warning: repeat() such a dataset. Warnings go to the log and,
  /// when the run prints, to the error stream. Throws ValueError, besides the errors of `fit` on arrays, for
  /// options of arrays (batch_size, validation_split, sample_weight), for an endless dataset without a number
  /// of steps, for an empty dataset, and for elements whose inputs cannot be told from their targets, unless the
  /// class of the model overrides the step (see Batch).
  ///
  ///     model.fit(train.shuffle(1000).batch(32).prefetch(2),
  ///               {.epochs = 5, .validation_data = test.batch(256)});
  History fit(const data::Dataset& dataset, const FitOptions& options = {}) const;
  Logs evaluate(const data::Dataset& dataset, const EvaluateOptions& options = {}) const;
  /// Deleted, because the elements of a dataset contain the targets.
  template <std::convertible_to<NamedTensors> Targets>
  History fit(const data::Dataset& dataset, const Targets& y, const FitOptions& options = {}) const = delete;
  template <std::convertible_to<NamedTensors> Targets>
  Logs evaluate(const data::Dataset& dataset, const Targets& y,
                const EvaluateOptions& options = {}) const = delete;
  /// Predicts the batches of a dataset. Tensors that follow the inputs in the elements are ignored.
  Prediction predict(const data::Dataset& dataset, const PredictOptions& options = {}) const;

  /// Trains on one batch, in one step, and returns the logs of this batch.
  Logs train_on_batch(const NamedTensors& x, const NamedTensors& y = {},
                      const OnBatchOptions& options = {}) const;
  Logs test_on_batch(const NamedTensors& x, const NamedTensors& y = {},
                     const OnBatchOptions& options = {}) const;
  std::vector<Tensor> predict_on_batch(const NamedTensors& x) const;

  using Layer::operator();
  /// Calls the model on inputs by name, in any order. Throws ValueError for names that the model does not
  /// have.
  Tensor operator()(std::initializer_list<NamedTensors::Named> inputs,
                    const CallArguments& arguments = {}) const;
  template <std::same_as<NamedTensors> Inputs>
  Tensor operator()(const Inputs& inputs, const CallArguments& arguments = {}) const {
    return Layer::operator()(in_order(inputs), arguments);
  }
  std::vector<Tensor> apply(const NamedTensors& inputs, const CallArguments& arguments = {}) const;

  /// Return the metrics of `compile` and of the model class, and the names under which the logs report the
  /// loss, the metrics, and the metrics that layers add. A model class of the user has one output, or as many as
  /// the lists of `compile` say, until the first batch.
  std::vector<Metric> metrics() const;
  std::vector<std::string> metrics_names() const;
  /// Resets the loss and all metrics, as `fit` and `evaluate` do at the begin of each epoch.
  void reset_metrics() const;

  /// Ends a running `fit` after the current batch.
  void stop_training() const;

  /// Writes the model to a file: architecture, weights, and how it was compiled. The name says the format:
  ///
  ///   .ktape           everything, with the state of the optimizer and of random numbers: a training that is
  ///                    resumed from the file gives the results of an uninterrupted training
  ///   .keras           the format of Keras 3
  ///   .h5, .hdf5       the older format of Keras, for Keras 3; with `keras_version` 2 for Keras 2.15
  ///   model.json       the format of TensorFlow.js, with .bin files beside the file; also inside a folder
  ///
  /// The file is complete or absent, also after a crash. Throws ValueError for another name and for a model
  /// without a config, IOError for a file that cannot be written. Mirrors `keras.Model.save`.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  /// Writes only the weights: .weights.h5 (Keras 3), .weights.json (Keras 3, in several files of at most
  /// `max_shard_size`), .h5 (Keras 2 and 3), .npz (NumPy), .safetensors.
  void save_weights(const std::string& path, const SaveOptions& options = {}) const;
  /// Loads the weights from a file of `save_weights` or `save`. Throws ValueError, naming layers and shapes,
  /// for the weights of another architecture, and changes nothing then.
  void load_weights(const std::string& path, const LoadWeightsOptions& options = {}) const;
  /// Writes the model for other programs in the format of ONNX: a graph that computes the outputs in inference.
  /// The model may be Sequential, functional or a class of the user, if all that `call` computes are calls of
  /// layers and ops of K or `ops`. Inputs and outputs keep names and dtypes, and extents of None stay open. A loop
  /// over time steps becomes an LSTM, GRU, RNN or Scan. Random layers do what they do in inference.
  ///
  /// Throws ValueError, naming the layer and the op, for what ONNX cannot compute (strings, random numbers), for an
  /// unknown format, an opset out of range and a model whose inputs are not known; IOError for a file that cannot
  /// be written. Mirrors `keras.Model.export(path, format="onnx")`.
  ///
  ///     model.export_to("model.onnx", {.opset_version = 17, .doc_string = "digits"});
  void export_to(const std::string& path, const ExportOptions& options = {}) const;
  /// Returns the architecture as JSON, as Keras 3 writes it; on several lines with an indent. The losses and
  /// metrics that `add_loss` and `add_metric` added to a functional model are left out. Throws ValueError,
  /// naming the part, for a part without a config: a Lambda, an op between layers that reads a variable or
  /// calls callables, a function as an argument, a model class of the user that neither overrides `get_config` nor is registered.
  std::string to_json(int indent = -1) const;

 private:
  /// Returns the given tensors in the order of the model's inputs.
  std::vector<Tensor> in_order(const NamedTensors& inputs) const;
};

/// Returns the type of the only `compile` of a model class; void for a class that has several. Internal: for ModelOf.
template <class Implementation>
auto compile_of() {
  if constexpr (requires { &Implementation::compile; })
    return std::type_identity<decltype(&Implementation::compile)>();
  else return std::type_identity<void>();
}

/// A handle to a model class of a user, with the `compile` of the class. Internal: for ModelOf.
template <class Implementation, class Compile>
class CompilableHandle : public HandleOf<Model, Implementation> {
 public:
  using HandleOf<Model, Implementation>::HandleOf;
  using Model::compile;
  template <class... Arguments>
  requires(sizeof...(Arguments) > 1) void compile(const Arguments&... arguments) const {
    (*this)->compile(arguments...);
  }
};

template <class Implementation, class Class, class Result, class... Parameters>
requires(
    !std::same_as<Class, ModelImpl>) class CompilableHandle<Implementation, Result (Class::*)(Parameters...)>
    : public HandleOf<Model, Implementation> {
 public:
  using HandleOf<Model, Implementation>::HandleOf;
  void compile(Parameters... arguments) const { (*this)->compile(std::forward<Parameters>(arguments)...); }
  /// Leaves out arguments that have defaults.
  template <class... Arguments>
  requires(sizeof...(Arguments) < sizeof...(Parameters)) void compile(const Arguments&... arguments) const {
    (*this)->compile(arguments...);
  }
};

/// A handle to a model class of a user; `->` reaches the members of the class. A handle to a class derived
/// from FunctionalImpl is made from symbolic tensors, as a Model is.
template <class Implementation>
class ModelOf
    : public CompilableHandle<Implementation, typename decltype(compile_of<Implementation>())::type> {
  using Base = CompilableHandle<Implementation, typename decltype(compile_of<Implementation>())::type>;

 public:
  using Base::Base;
  ModelOf() requires std::default_initializable<Implementation> : Base() {}
  ModelOf(const TensorList& inputs, const TensorList& outputs, const ModelOptions& options = {}) requires
      std::constructible_from<Implementation, const TensorList&, const TensorList&, const ModelOptions&>
      : Base(inputs, outputs, options) {}
};

/// The implementation of a Model.
///
///     struct MineImpl : nn::ModelImpl {
///       nn::Dense dense = add_layer(nn::Dense(10));
///       Tensor call(const Tensor& x) override { return dense(x); }
///     };
///     using Mine = nn::ModelOf<MineImpl>;
///     Mine model;
///     std::cout << model(K::ones({2, 4})).shape();
class ModelImpl : public LayerImpl {
 public:
  explicit ModelImpl(std::string class_name = "Model", const LayerOptions& options = {});
  ~ModelImpl() override;

  /// Sets the losses, the optimizer and the metrics of training: implements `Model::compile`. A class may declare a
  /// `compile` with other arguments, which calls this function. `compile` of a handle of the class then takes these
  /// arguments:
  ///
  ///     void compile(const nn::Optimizer& optimizer, const nn::Loss& distillation_loss, double alpha) {
  ///       nn::ModelImpl::compile({.optimizer = optimizer, .metrics = {"mae"}});
  ///       distillation_loss_ = distillation_loss, alpha_ = alpha;
  ///     }
  virtual void compile(const CompileOptions& options = {});
  /// Trains on a batch in `fit`: computes the loss, takes a step of the optimizer, returns the report.
  /// Override this function, `compute_loss` or `compute_metrics` for another way of training.
  virtual Logs train_step(const Batch& batch);
  /// Measures a batch in `evaluate` and returns the report.
  virtual Logs test_step(const Batch& batch);
  /// Returns the outputs for a batch in `predict`.
  virtual std::vector<Tensor> predict_step(const Batch& batch);
  /// Returns the scalar to minimize: the losses of `compile` with their weights, and all that layers add.
  virtual Tensor compute_loss(const Batch& batch, const std::vector<Tensor>& y_pred);
  /// Adds a batch to the mean loss and the metrics of `compile`, and returns the logs to report. An
  /// overridden step that uses them:
  ///
  ///     nn::Logs train_step(const nn::Batch& batch) override {
  ///       const std::vector<Tensor> y_pred = apply(batch.x);
  ///       const Tensor loss = compute_loss(batch, y_pred);
  ///       optimizer().apply(K::gradients(loss, trainable_weights()), trainable_weights());
  ///       return compute_metrics(batch, y_pred, loss);
  ///     }
  virtual Logs compute_metrics(const Batch& batch, const std::vector<Tensor>& y_pred, const Tensor& loss);
  /// Resets the loss and all metrics, as each epoch does.
  void reset_metrics();

  /// Returns the arguments of the constructor. Override this function in a class whose models are saved. The
  /// default returns no arguments for a registered class, and throws ValueError, naming the class, otherwise.
  Config get_config() const override;
  Value to_value() const override;
  using LayerImpl::build;
  void build(const std::vector<Shape>& inputs) override;
  /// Returns the input shapes for which a model class of the user was built; empty before, and for other
  /// models.
  const std::vector<Shape>& build_shapes() const { return build_shapes_; }

  /// Returns the optimizer of `compile`. Throws ValueError before `compile`.
  const Optimizer& optimizer() const;
  /// Returns the state of training: options of `compile`, optimizer, metrics.
  Trainer& trainer();

  /// Returns the model's symbolic tensors; none by default.
  virtual std::vector<Tensor> inputs() const { return {}; }
  virtual std::vector<Tensor> outputs() const { return {}; }
  /// Returns the layers that `layers()` lists.
  virtual std::vector<Layer> layers() const { return sublayers(); }
  /// Returns the plans that give the outputs of a prediction alone; null for a model without, as by default.
  virtual std::shared_ptr<CompiledCalls> plans() const { return nullptr; }
  /// Implements `Model::add_metric` and, with an empty name, `Model::add_loss`.
  virtual void add_graph_report(const Tensor& value, const std::string& name);
  /// Return the names of the inputs and outputs, in order; empty if the names are not known. Override them in
  /// a class whose data are given by name, or as datasets with several inputs.
  virtual std::vector<std::string> input_names() const { return {}; }
  virtual std::vector<std::string> output_names() const { return {}; }
  /// Returns the metrics that overridden steps update, which are reset at the begin of each epoch, as those of
  /// `compile` are in any case. Those of `compile` by default.
  virtual std::vector<Metric> metrics() const;

 protected:
  /// Marks the model as built.
  void mark_built() { stage_.store(Stage::Built, std::memory_order_release); }

 private:
  std::unique_ptr<Trainer> trainer_;
  std::vector<Shape> build_shapes_;
};

}  // namespace ktape::nn
