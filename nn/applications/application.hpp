#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/models/model.hpp>

#include <string>

/// Known image classifiers. Names of layers and the order of weights are Keras's, so that the files of
/// weights that Keras publishes load. Mirrors `keras.applications`.
///
///     namespace applications = nn::applications;
///     nn::Model classifier =
///         applications::ResNet50({.weights = "resnet50_weights_tf_dim_ordering_tf_kernels.h5"});
///     Tensor scores = classifier(applications::resnet::preprocess_input(images));
///     auto best = applications::decode_predictions(scores, "imagenet_class_index.json", {.top = 3});
///
/// Each function throws ValueError, naming itself, for an input shape of another rank than 3, of a size below
/// the minimum of the architecture, or of unknown size with a classifier, for an input tensor with a value or
/// of another shape, an unknown pooling, and, with weights, an activation of the classifier that is neither
/// softmax nor linear. Throws the errors of `Model::load_weights` for the file of weights.
namespace ktape::nn::applications {

/// Options of all applications.
struct ApplicationOptions {
  bool include_top = true;   ///< whether the model ends with the classifier
  std::string weights = {};  ///< a file for `Model::load_weights`; random weights by default
  Tensor input_tensor = {};  ///< a symbolic tensor of images; an nn::Input of the input shape by default
  /// Shape of one image. By default the published size with the classifier, and any size without a
  /// classifier.
  Shape input_shape = {};
  /// Pooling of the last features over each image, without a classifier: "avg", "max" or none (by default).
  std::string pooling = {};
  std::int64_t classes = 1000;
  ActivationFunction classifier_activation = "softmax";  ///< None for logits
  std::string name = {};                                 ///< "resnet50" and so on by default
};

}  // namespace ktape::nn::applications
