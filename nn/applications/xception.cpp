#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/applications/xception.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>

namespace ktape::nn::applications {
namespace {

Tensor normalized(const Tensor& x, const std::string& name = "") {
  return BatchNormalization({.axis = channel_axis(), .name = name})(x);
}

Tensor activated(const Tensor& x, const std::string& name) {
  return Activation("relu", {.name = name + "_act"})(x);
}

Tensor separated(const Tensor& x, std::int64_t filters, const std::string& name) {
  const SeparableConv2D convolution(filters, 3, {.padding = "same", .use_bias = false, .name = name});
  return normalized(convolution(x), name + "_bn");
}

/// Adds a block that halves rows and columns, with a convolution on the shortcut. The first convolution has
/// `first_filters` filters.
Tensor halving_block(const Tensor& input, std::int64_t first_filters, std::int64_t filters,
                     const std::string& name, bool activate_input) {
  const Conv2D convolution(filters, 1, {.strides = 2, .padding = "same", .use_bias = false});
  const Tensor shortcut = normalized(convolution(input));
  Tensor x = activate_input ? activated(input, name + "_sepconv1") : input;
  x = separated(x, first_filters, name + "_sepconv1");
  x = separated(activated(x, name + "_sepconv2"), filters, name + "_sepconv2");
  x = MaxPooling2D(3, {.strides = 2, .padding = "same", .name = name + "_pool"})(x);
  return Add()({x, shortcut});
}

Tensor middle_block(const Tensor& input, const std::string& name) {
  Tensor x = input;
  for (const char* part : {"_sepconv1", "_sepconv2", "_sepconv3"})
    x = separated(activated(x, name + part), 728, name + part);
  return Add()({x, input});
}

Tensor stem(Tensor x) {
  x = Conv2D(32, 3, {.strides = 2, .use_bias = false, .name = "block1_conv1"})(x);
  x = activated(normalized(x, "block1_conv1_bn"), "block1_conv1");
  x = Conv2D(64, 3, {.use_bias = false, .name = "block1_conv2"})(x);
  return activated(normalized(x, "block1_conv2_bn"), "block1_conv2");
}

}  // namespace

Model Xception(const ApplicationOptions& options) {
  const ApplicationBuilder builder("Xception", options, {.published = 299, .least = 71});
  Tensor x = stem(builder.input());
  x = halving_block(x, 128, 128, "block2", false);
  x = halving_block(x, 256, 256, "block3", true);
  x = halving_block(x, 728, 728, "block4", true);
  for (int block = 5; block <= 12; ++block) x = middle_block(x, "block" + std::to_string(block));
  x = halving_block(x, 728, 1024, "block13", true);
  x = activated(separated(x, 1536, "block14_sepconv1"), "block14_sepconv1");
  x = activated(separated(x, 2048, "block14_sepconv2"), "block14_sepconv2");
  return builder.model(builder.top(x, {.with_top = "avg_pool"}), "xception");
}

Tensor xception::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "tf"});
}

}  // namespace ktape::nn::applications
