#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/applications/resnet.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/nn/layers/reshaping/padding.hpp>

namespace ktape::nn::applications {
namespace {

Tensor normalized(const Tensor& x, const std::string& name) {
  return BatchNormalization({.axis = channel_axis(), .epsilon = 1.001e-5, .name = name})(x);
}

Tensor activated(const Tensor& x, const std::string& name) { return Activation("relu", {.name = name})(x); }

/// Adds the first layers: convolution, normalization, activation and maximum pooling.
Tensor stem(Tensor x, bool activation) {
  x = ZeroPadding2D(3, {.name = "conv1_pad"})(x);
  x = Conv2D(64, 7, {.strides = 2, .name = "conv1_conv"})(x);
  if (activation) x = activated(normalized(x, "conv1_bn"), "conv1_relu");
  x = ZeroPadding2D(1, {.name = "pool1_pad"})(x);
  return MaxPooling2D(3, {.strides = 2, .name = "pool1_pool"})(x);
}

std::string block_name(int stage, int block) {
  return "conv" + std::to_string(stage) + "_block" + std::to_string(block);
}

// --- The first version ------------------------------------------------------------------------------------

Tensor block_v1(const Tensor& input, std::int64_t filters, std::int64_t stride, bool convolved_shortcut,
                const std::string& name) {
  Tensor shortcut = input;
  if (convolved_shortcut) {
    shortcut = Conv2D(4 * filters, 1, {.strides = stride, .name = name + "_0_conv"})(input);
    shortcut = normalized(shortcut, name + "_0_bn");
  }
  Tensor x = Conv2D(filters, 1, {.strides = stride, .name = name + "_1_conv"})(input);
  x = activated(normalized(x, name + "_1_bn"), name + "_1_relu");
  x = Conv2D(filters, 3, {.padding = "same", .name = name + "_2_conv"})(x);
  x = activated(normalized(x, name + "_2_bn"), name + "_2_relu");
  x = Conv2D(4 * filters, 1, {.name = name + "_3_conv"})(x);
  x = normalized(x, name + "_3_bn");
  return activated(Add({.name = name + "_add"})({shortcut, x}), name + "_out");
}

Tensor stack_v1(Tensor x, int stage, std::int64_t filters, int blocks, std::int64_t first_stride) {
  for (int block = 1; block <= blocks; ++block)
    x = block_v1(x, filters, block == 1 ? first_stride : 1, block == 1, block_name(stage, block));
  return x;
}

// --- The second version -----------------------------------------------------------------------------------

Tensor block_v2(const Tensor& input, std::int64_t filters, std::int64_t stride, bool convolved_shortcut,
                const std::string& name) {
  const Tensor active = activated(normalized(input, name + "_preact_bn"), name + "_preact_relu");
  Tensor shortcut = input;
  if (convolved_shortcut)
    shortcut = Conv2D(4 * filters, 1, {.strides = stride, .name = name + "_0_conv"})(active);
  else if (stride > 1) shortcut = MaxPooling2D(1, {.strides = stride})(input);
  Tensor x = Conv2D(filters, 1, {.use_bias = false, .name = name + "_1_conv"})(active);
  x = activated(normalized(x, name + "_1_bn"), name + "_1_relu");
  x = ZeroPadding2D(1, {.name = name + "_2_pad"})(x);
  x = Conv2D(filters, 3, {.strides = stride, .use_bias = false, .name = name + "_2_conv"})(x);
  x = activated(normalized(x, name + "_2_bn"), name + "_2_relu");
  x = Conv2D(4 * filters, 1, {.name = name + "_3_conv"})(x);
  return Add({.name = name + "_out"})({shortcut, x});
}

Tensor stack_v2(Tensor x, int stage, std::int64_t filters, int blocks, std::int64_t last_stride) {
  for (int block = 1; block <= blocks; ++block)
    x = block_v2(x, filters, block == blocks ? last_stride : 1, block == 1, block_name(stage, block));
  return x;
}

constexpr PoolNames pool_names{"avg_pool", "avg_pool", "max_pool"};

}  // namespace

Model ResNet50(const ApplicationOptions& options) {
  const ApplicationBuilder builder("ResNet50", options);
  Tensor x = stem(builder.input(), true);
  x = stack_v1(x, 2, 64, 3, 1);
  x = stack_v1(x, 3, 128, 4, 2);
  x = stack_v1(x, 4, 256, 6, 2);
  x = stack_v1(x, 5, 512, 3, 2);
  return builder.model(builder.top(x, pool_names), "resnet50");
}

Model ResNet50V2(const ApplicationOptions& options) {
  const ApplicationBuilder builder("ResNet50V2", options);
  Tensor x = stem(builder.input(), false);
  x = stack_v2(x, 2, 64, 3, 2);
  x = stack_v2(x, 3, 128, 4, 2);
  x = stack_v2(x, 4, 256, 6, 2);
  x = stack_v2(x, 5, 512, 3, 1);
  x = activated(normalized(x, "post_bn"), "post_relu");
  return builder.model(builder.top(x, pool_names), "resnet50v2");
}

Tensor resnet::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "caffe"});
}

Tensor resnet_v2::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "tf"});
}

}  // namespace ktape::nn::applications
