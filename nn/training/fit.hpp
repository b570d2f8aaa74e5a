#pragma once
#include <ktape/nn/core/named_tensors.hpp>
#include <ktape/nn/data/dataset.hpp>
#include <ktape/nn/training/history.hpp>

#include <exception>
#include <map>
#include <tuple>

/// The arguments and results of training, evaluation and prediction.
namespace ktape::nn {

/// The data of one step, in the order of the model's inputs and outputs. The tensors have the names of the
/// inputs and outputs if the model has such names. A missing target or weight of an output is an undefined
/// tensor.
///
///     Tensor title = batch.x["title"], first = batch.x[0];
///
/// Only the built-in steps need inputs, targets and weights of the model with equal numbers of samples. An
/// overridden step gets any element of a dataset: x, y and sample_weight are its first three parts (the elements of
/// the datasets of a `zip`, or the tensors of an element without parts; x is all of an element with names), and
/// `element` is all of it.
///
///     Tensor labeled = batch.element.part(1)[0], fourth = batch.element[3];
struct Batch {
  NamedTensors x, y;
  NamedTensors sample_weight = {};  ///< weights (samples,): none, one for all outputs, or one for each output
  NamedTensors element = {};        ///< the element of a dataset, as it is; empty for arrays
  std::exception_ptr misfit = {};   ///< the reason why the built-in steps refuse the element; null by default

  /// Throws the error of an element that is not inputs, targets and weights of the model.
  void expect_fits() const {
    if (misfit) std::rethrow_exception(misfit);
  }
};

/// The weights of classes, for the only output of a model, or for outputs by name. A class that is not named
/// has weight 1. The class of a sample is the integer target, or the index of the largest number in the
/// target's row.
///
///     .class_weight = {{0, 1}, {1, 5}}     .class_weight = {{"priority", {{1, 5}}}}
///
/// For example:
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
///     model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
///     Tensor x = K::ones({4, 2}), y = K::constant({{0.}, {0.}, {0.}, {1.}});
///     for (const nn::ClassWeight& weights :
///          {nn::ClassWeight(), nn::ClassWeight({{1, 5.}})})
///       std::cout << model.fit(x, y, {.verbose = 0, .class_weight = weights})["loss"][0]
///                 << "\n";
class ClassWeight {
 public:
  using ByClass = std::map<std::int64_t, double>;

  ClassWeight() = default;
  ClassWeight(ByClass weights) : weights_(std::move(weights)) {}
  ClassWeight(std::initializer_list<ByClass::value_type> weights) : weights_(weights) {}
  ClassWeight(std::initializer_list<std::pair<std::string, ByClass>> by_output) : by_output_(by_output) {}

  bool empty() const { return weights_.empty() && by_output_.empty(); }
  const ByClass& weights() const { return weights_; }
  const std::vector<std::pair<std::string, ByClass>>& by_output() const { return by_output_; }

 private:
  ByClass weights_;
  std::vector<std::pair<std::string, ByClass>> by_output_;
};

/// The data for validation: inputs, targets and optional weights, or a dataset of batches of inputs, targets
/// and weights.
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
///     model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
///     nn::History history = model.fit(
///         K::ones({4, 2}), K::ones({4, 1}),
///         {.verbose = 0, .validation_data = {K::ones({2, 2}), K::zeros({2, 1})}});
///     std::cout << history["loss"].back() << " " << history["val_loss"].back();
struct ValidationData {
  NamedTensors x, y, sample_weight;
  std::optional<data::Dataset> dataset;
  ValidationData() = default;
  ValidationData(const data::Dataset& dataset) : dataset(dataset) {}
  ValidationData(const NamedTensors& x, const NamedTensors& y, const NamedTensors& sample_weight = {})
      : x(x), y(y), sample_weight(sample_weight) {}
};

struct FitOptions {
  std::optional<std::int64_t> batch_size = {};  ///< samples in a batch, 32 by default; for arrays only
  int epochs = 1;                               ///< the number of the last epoch, see initial_epoch
  int verbose = 1;  ///< 0: silent, 1: a progress bar on a terminal, 2: a line for each epoch
  std::vector<Callback> callbacks = {};  ///< called before and after epochs and batches
  double validation_split = 0;           ///< the fraction of samples (the last ones) used for validation only
  ValidationData validation_data = {};   ///< arrays or a dataset on which the model is evaluated after epochs
  bool shuffle = true;                   ///< whether to shuffle the samples before each epoch
  ClassWeight class_weight = {};         ///< the weight of the samples of each class, by class number
  NamedTensors sample_weight = {};       ///< weights (samples,): for all outputs, for each, or by name
  int initial_epoch = 0;                 ///< the number of epochs that an earlier training made
  std::optional<std::int64_t> steps_per_epoch =
      {};  ///< batches in an epoch; the next epoch continues the data where the last epoch stopped, see fit
  std::optional<std::int64_t> validation_steps = {};       ///< batches of the validation data; all by default
  std::optional<std::int64_t> validation_batch_size = {};  ///< batch_size by default
  int validation_freq = 1;                                 ///< validate after every n-th epoch
};

struct EvaluateOptions {
  std::optional<std::int64_t> batch_size = {};  ///< samples in a batch, 32 by default; for arrays only
  int verbose = 1;
  NamedTensors sample_weight = {};
  std::optional<std::int64_t> steps = {};
  std::vector<Callback> callbacks = {};
};

struct PredictOptions {
  std::optional<std::int64_t> batch_size = {};  ///< samples in a batch, 32 by default; for arrays only
  int verbose = 1;
  std::optional<std::int64_t> steps = {};
  std::vector<Callback> callbacks = {};
};

/// Options of `Model::train_on_batch` and `Model::test_on_batch`.
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
///     model.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
///     Tensor x = K::ones({4, 2}), y = K::ones({4, 1});
///     std::cout << model.test_on_batch(x, y) << "\n"
///               << model.train_on_batch(
///                      x, y, {.sample_weight = K::constant({1., 0., 0., 0.})});
struct OnBatchOptions {
  NamedTensors sample_weight = {};
  ClassWeight class_weight = {};
};

/// The prediction of a model: a tensor for a model of one output, and a vector of tensors for any model.
///
///     Tensor scores = model.predict(x);     std::vector<Tensor> all = pair.predict({left, right});
///
/// For example:
///
///     nn::Sequential model({nn::Dense(2)});
///     nn::Prediction prediction = model.predict(K::ones({3, 4}), {.verbose = 0});
///     std::cout << prediction.shape();
class Prediction : public Tensor {
 public:
  explicit Prediction(std::vector<Tensor> outputs)
      : Tensor(outputs.size() == 1 ? outputs[0] : Tensor()), outputs_(std::move(outputs)) {}
  operator const std::vector<Tensor>&() const { return outputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }

  /// Returns the output i of a model of several outputs, or the element `tensor[i]` for a model of one
  /// output. Throws ValueError for an output that the model does not have.
  template <class T = Indices>
  Tensor operator[](const T& index) const {
    if constexpr (std::is_integral_v<T>)
      if (outputs_.size() != 1) return output(static_cast<std::int64_t>(index));
    return Tensor::operator[](index);
  }

 private:
  /// Negative positions count from the end.
  const Tensor& output(std::int64_t i) const;

  std::vector<Tensor> outputs_;
};

}  // namespace ktape::nn

/// `auto [a, b] = model.predict(x)` does not compile, because the number of outputs is not known then.
template <std::same_as<ktape::nn::Prediction> T>
struct std::tuple_size<T> {
  static_assert(!std::same_as<T, T>,
                "the outputs are a vector: write std::vector<Tensor> y = model.predict(x); y[0], y[1]");
};
