#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/applications/by_name.hpp>
#include <ktape/nn/applications/convnext.hpp>
#include <ktape/nn/applications/densenet.hpp>
#include <ktape/nn/applications/efficientnet.hpp>
#include <ktape/nn/applications/inception.hpp>
#include <ktape/nn/applications/mobilenet.hpp>
#include <ktape/nn/applications/resnet.hpp>
#include <ktape/nn/applications/vgg.hpp>
#include <ktape/nn/applications/xception.hpp>

namespace ktape::nn::applications {
namespace {

/// Adapts an application with further options, which keep their defaults.
template <class Options, Model (*make)(const Options&)>
Model with_common(const ApplicationOptions& common) {
  Options options;
  options.include_top = common.include_top, options.weights = common.weights;
  options.input_tensor = common.input_tensor, options.input_shape = common.input_shape;
  options.pooling = common.pooling, options.classes = common.classes;
  options.classifier_activation = common.classifier_activation, options.name = common.name;
  return make(options);
}

}  // namespace

const std::vector<Application>& all_applications() {
  static const std::vector<Application> all{
      {"VGG16", 224, VGG16, vgg16::preprocess_input},
      {"ResNet50", 224, ResNet50, resnet::preprocess_input},
      {"ResNet50V2", 224, ResNet50V2, resnet_v2::preprocess_input},
      {"InceptionV3", 299, InceptionV3, inception_v3::preprocess_input},
      {"Xception", 299, Xception, xception::preprocess_input},
      {"MobileNetV2", 224, with_common<MobileNetV2Options, MobileNetV2>, mobilenet_v2::preprocess_input},
      {"MobileNetV3Small", 224, with_common<MobileNetV3Options, MobileNetV3Small>,
       mobilenet_v3::preprocess_input},
      {"DenseNet121", 224, DenseNet121, densenet::preprocess_input},
      {"EfficientNetB0", 224, EfficientNetB0, efficientnet::preprocess_input},
      {"ConvNeXtTiny", 224, with_common<ConvNeXtOptions, ConvNeXtTiny>, convnext::preprocess_input},
  };
  return all;
}

const Application& application(const std::string& name) {
  std::vector<std::string> names;
  for (const Application& one : all_applications()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  fail("[application] the name must be ", in_quotes(names, " or "), ": received name='", name, "'",
       near_names(name, names));
}

}  // namespace ktape::nn::applications
