#include <ktape/nn/applications/densenet.hpp>
#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/nn/layers/reshaping/padding.hpp>

namespace ktape::nn::applications {
namespace {

constexpr std::int64_t growth = 32;  ///< channels that each convolution of a block adds

/// Adds a normalization and an activation.
Tensor activated(const Tensor& x, const std::string& bn_name, const std::string& relu_name) {
  return Activation("relu",
                    {.name = relu_name})(BatchNormalization({.epsilon = 1.001e-5, .name = bn_name})(x));
}

Tensor block(const Tensor& input, const std::string& name) {
  Tensor x = activated(input, name + "_0_bn", name + "_0_relu");
  x = Conv2D(4 * growth, 1, {.use_bias = false, .name = name + "_1_conv"})(x);
  x = activated(x, name + "_1_bn", name + "_1_relu");
  x = Conv2D(growth, 3, {.padding = "same", .use_bias = false, .name = name + "_2_conv"})(x);
  return Concatenate({.name = name + "_concat"})({input, x});
}

Tensor stage(Tensor x, int blocks, const std::string& name) {
  for (int i = 1; i <= blocks; ++i) x = block(x, name + "_block" + std::to_string(i));
  return x;
}

/// Halves channels, rows and columns.
Tensor transition(const Tensor& input, const std::string& name) {
  Tensor x = activated(input, name + "_bn", name + "_relu");
  x = Conv2D(channels_of(x) / 2, 1, {.use_bias = false, .name = name + "_conv"})(x);
  return AveragePooling2D(2, {.strides = 2, .name = name + "_pool"})(x);
}

Tensor stem(Tensor x) {
  x = ZeroPadding2D(3)(x);
  x = Conv2D(64, 7, {.strides = 2, .use_bias = false, .name = "conv1_conv"})(x);
  x = ZeroPadding2D(1)(activated(x, "conv1_bn", "conv1_relu"));
  return MaxPooling2D(3, {.strides = 2, .name = "pool1"})(x);
}

}  // namespace

Model DenseNet121(const ApplicationOptions& options) {
  expect_channels_last("DenseNet121");
  const ApplicationBuilder builder("DenseNet121", options);
  Tensor x = stem(builder.input());
  x = transition(stage(x, 6, "conv2"), "pool2");
  x = transition(stage(x, 12, "conv3"), "pool3");
  x = transition(stage(x, 24, "conv4"), "pool4");
  x = activated(stage(x, 16, "conv5"), "bn", "relu");
  return builder.model(builder.top(x, {"avg_pool", "avg_pool", "max_pool"}), "densenet121");
}

Tensor densenet::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "torch"});
}

}  // namespace ktape::nn::applications
