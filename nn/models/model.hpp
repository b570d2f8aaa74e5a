#pragma once
#include <ktape/nn/layers/layer.hpp>

namespace ktape::nn {

class ModelImpl;
struct SummaryOptions;

struct ModelOptions {
  std::string name = {};  ///< "model", "model_1", ... by default
  bool trainable = true;
};

/// A layer of layers that can be trained. One is made from symbolic tensors, from a list of layers
/// (Sequential), or of a class of your own:
///
///     Tensor in = nn::Input({28, 28});
///     nn::Model model(in, nn::Dense(10)(nn::Flatten()(in)));
///
///     struct MineImpl : nn::ModelImpl {
///       nn::Dense dense = add_layer(nn::Dense(10));
///       Tensor call(const Tensor& x) override { return dense(x); }
///     };
///     using Mine = nn::ModelOf<MineImpl>;
class Model : public Layer {
 public:
  Model() = default;
  explicit Model(std::shared_ptr<ModelImpl> impl);
  /// The model whose outputs follow from its inputs by calls of layers, which it shares, and by ops. Throws
  /// ValueError for an input that the outputs need and that is not named, and for two layers of one name.
  Model(const TensorList& inputs, const TensorList& outputs, const ModelOptions& options = {});

  ModelImpl& impl() const;

  /// The symbolic tensors that the model was made from. Throws ValueError, naming the model, where there are
  /// none: a class of your own, or a Sequential before its input is known.
  std::vector<Tensor> inputs() const;
  std::vector<Tensor> outputs() const;
  /// The same of a model that has one.
  Tensor input() const;
  Tensor output() const;

  std::vector<Layer> layers() const;
  /// Throws ValueError, with the nearest known names, for an unknown one.
  Layer get_layer(const std::string& name) const;
  /// Throws ValueError for an index out of range; negative ones count from the end.
  Layer get_layer(int index) const;

  /// Prints the table of the layers: shapes, weights and, where they are no simple chain, connections.
  void summary() const;
  void summary(const SummaryOptions& options) const;

  /// Adds a loss that follows from the model's tensors to those that training minimizes.
  void add_loss(const Tensor& loss) const;
};

/// A handle to a model class of your own; `->` reaches its members.
template <class Implementation>
using ModelOf = HandleOf<Model, Implementation>;

/// The class behind a Model.
class ModelImpl : public LayerImpl {
 public:
  explicit ModelImpl(std::string class_name = "Model", const LayerOptions& options = {});

  /// The model's symbolic tensors; none by default.
  virtual std::vector<Tensor> inputs() const { return {}; }
  virtual std::vector<Tensor> outputs() const { return {}; }
  /// The layers that `layers()` lists.
  virtual std::vector<Layer> layers() const { return sublayers(); }
  /// For `Model::add_loss`, with a symbolic loss.
  virtual void add_graph_loss(const Tensor& loss);

 protected:
  /// Says that there is nothing left to build.
  void mark_built() { built_ = true; }
};

}  // namespace ktape::nn
