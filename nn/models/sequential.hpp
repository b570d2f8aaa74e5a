#pragma once
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {

/// The options of a program that gives just these four in their earlier order, with verbose = 0. Internal: for
/// `Sequential::fit`.
struct EarlierFitOptions {
  template <class T>
  struct Given {
    Given(T value) : value(value) {}
    T value;
  };
  struct Silent {
    Silent(std::nullptr_t) {}
  };
  Given<std::int64_t> batch_size;
  Given<int> epochs;
  Given<double> validation_split;
  Silent verbose;
};

/// A model that calls its layers one after another.
///
///     nn::Sequential model({nn::Dense(16, {.activation = "relu"}), nn::Dense(1)});
///
/// The model is built when its input is known: by an nn::Input as the first entry, by the `input_shape` of
/// the first layer, by `build`, or by the first call.
///
///     nn::Sequential model(
///         {nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
///     std::cout << model(K::ones({2, 3})).shape()
///               << " weights: " << model.count_params();
class Sequential : public Model {
 public:
  Sequential() : Sequential(std::vector<Layer>()) {}
  Sequential(std::initializer_list<Layer> layers, const ModelOptions& options = {});
  explicit Sequential(const std::vector<Layer>& layers, const ModelOptions& options = {});

  /// A layer, or an nn::Input as the first entry.
  class Part {
   public:
    Part(const Layer& layer) : layer_(layer) {}
    Part(const Tensor& input) : input_(input) {}

   private:
    friend class Sequential;
    Layer layer_;
    Tensor input_;
  };
  Sequential(std::initializer_list<Part> parts, const ModelOptions& options = {});

  using Model::fit;
  /// Takes options in the order of earlier versions. Internal: for programs that were written for these.
  History fit(const Tensor& x, const Tensor& y, const EarlierFitOptions& options) const;

  /// Appends a layer. The InputLayer of another model, if appended first, sets the input. Throws ValueError
  /// for the name of another layer.
  void add(const Layer& layer) const;
  /// Sets the input, an nn::Input, before the first layer is added.
  void add(const Tensor& input) const;
  /// Removes the last layer. Throws ValueError for a model without layers.
  void pop() const;
};

/// Makes a model from its config. Internal: sources only.
Sequential sequential_from(const Config& config);

}  // namespace ktape::nn
