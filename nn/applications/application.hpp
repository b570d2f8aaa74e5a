#pragma once
#include <ktape/nn/activations.hpp>
#include <ktape/nn/models/model.hpp>

#include <string>

/// Known image classifiers, with the names of layers and the order of weights that Keras's have: the files of
/// weights that Keras publishes for them load. Mirrors `keras.applications`.
///
///     namespace applications = nn::applications;
///     nn::Model classifier =
///         applications::ResNet50({.weights = "resnet50_weights_tf_dim_ordering_tf_kernels.h5"});
///     Tensor scores = classifier(applications::resnet::preprocess_input(images));
///     auto best = applications::decode_predictions(scores, "imagenet_class_index.json", {.top = 3});
///
/// Each function throws ValueError, naming itself, for an input shape of another rank than 3, one below the
/// size that the architecture needs, one of unknown size together with a classifier, an input tensor that has
/// a value or does not have the input shape, an unknown pooling, and, with weights, an activation of the
/// classifier that is neither softmax nor linear; and what `Model::load_weights` throws for the file.
namespace ktape::nn::applications {

/// What the applications take.
struct ApplicationOptions {
  bool include_top = true;   ///< the classifier, too
  std::string weights = {};  ///< a file, as for `Model::load_weights`; new random ones by default
  Tensor input_tensor = {};  ///< what the images are: symbolic; an nn::Input of the input shape by default
  /// Without the batch. By default the published size with the classifier, and any size without it.
  Shape input_shape = {};
  /// What becomes of the last features, without the classifier: "avg" or "max" over each image; nothing by
  /// default.
  std::string pooling = {};
  std::int64_t classes = 1000;
  ActivationFunction classifier_activation = "softmax";  ///< None for logits
  std::string name = {};                                 ///< Keras's by default: "resnet50"
};

}  // namespace ktape::nn::applications
