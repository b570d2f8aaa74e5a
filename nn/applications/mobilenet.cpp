#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/applications/mobilenet.hpp>
#include <ktape/nn/layers/activation/activation.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/nn/layers/preprocessing/numeric.hpp>
#include <ktape/nn/layers/regularization/regularization.hpp>
#include <ktape/nn/layers/reshaping/padding.hpp>
#include <ktape/nn/layers/reshaping/reshaping.hpp>

#include <cmath>
#include <cstdio>

namespace ktape::nn::applications {
namespace {

void expect_positive(const char* application, double alpha) {
  if (!(alpha > 0)) fail("[", application, "] alpha must be above 0: received alpha=", alpha);
}

Tensor normalized(const Tensor& x, const std::string& name) {
  return BatchNormalization({.axis = channel_axis(), .momentum = 0.999, .name = name})(x);
}

/// Adds a 1 x 1 convolution without a bias.
Tensor pointwise(const Tensor& x, std::int64_t filters, const std::string& name) {
  return Conv2D(filters, 1, {.padding = "same", .use_bias = false, .name = name})(x);
}

/// Adds a depthwise convolution; with a stride of 2, a separate layer pads with zeros.
Tensor depthwise(Tensor x, std::int64_t kernel_size, std::int64_t stride, const std::string& name,
                 const std::string& pad_name) {
  if (stride == 2) x = ZeroPadding2D(downsampling_padding(x, kernel_size), {.name = pad_name})(x);
  return DepthwiseConv2D(
      kernel_size,
      {.strides = stride, .padding = stride == 1 ? "same" : "valid", .use_bias = false, .name = name})(x);
}

}  // namespace

// --- MobileNetV2 ------------------------------------------------------------------------------------------

namespace {

Tensor relu6(const Tensor& x, const std::string& name) { return ReLU({.max_value = 6, .name = name})(x); }

/// Adds an inverted residual block: wide in the middle, narrow at both ends.
Tensor inverted_block(const Tensor& input, int number, std::int64_t filters, std::int64_t stride) {
  const std::string prefix = number == 0 ? "expanded_conv_" : "block_" + std::to_string(number) + '_';
  Tensor x = input;
  if (number > 0) {
    x = normalized(pointwise(x, 6 * channels_of(input), prefix + "expand"), prefix + "expand_BN");
    x = relu6(x, prefix + "expand_relu");
  }
  x = depthwise(x, 3, stride, prefix + "depthwise", prefix + "pad");
  x = relu6(normalized(x, prefix + "depthwise_BN"), prefix + "depthwise_relu");
  x = normalized(pointwise(x, filters, prefix + "project"), prefix + "project_BN");
  return stride == 1 && channels_of(input) == filters ? Add({.name = prefix + "add"})({input, x}) : x;
}

std::string v2_name(double alpha, const Tensor& input) {
  const std::int64_t rows = input.shape()[channel_axis() == 1 ? 2 : 1];
  char name[64];
  std::snprintf(name, sizeof name, "mobilenetv2_%.2f_", alpha);
  return name + (rows == None ? std::string("None") : std::to_string(rows));
}

}  // namespace

Model MobileNetV2(const MobileNetV2Options& options) {
  const ApplicationOptions common = common_options(options);
  const ApplicationBuilder builder("MobileNetV2", common);
  expect_positive("MobileNetV2", options.alpha);
  const Conv2D first(divisible_by_8(32 * options.alpha), 3,
                     {.strides = 2, .padding = "same", .use_bias = false, .name = "Conv1"});
  Tensor x = relu6(normalized(first(builder.input()), "bn_Conv1"), "Conv1_relu");
  struct Stage {
    int blocks;
    std::int64_t filters, stride;
  };
  int number = 0;
  for (const Stage& stage : {Stage{1, 16, 1}, Stage{2, 24, 2}, Stage{3, 32, 2}, Stage{4, 64, 2},
                             Stage{3, 96, 1}, Stage{3, 160, 2}, Stage{1, 320, 1}})
    for (int block = 0; block < stage.blocks; ++block) {
      const double wide = static_cast<double>(stage.filters) * options.alpha;
      x = inverted_block(x, number++, divisible_by_8(std::floor(wide)), block == 0 ? stage.stride : 1);
    }
  const Conv2D last(options.alpha > 1 ? divisible_by_8(1280 * options.alpha) : 1280, 1,
                    {.use_bias = false, .name = "Conv_1"});
  x = relu6(normalized(last(x), "Conv_1_bn"), "out_relu");
  return builder.model(builder.top(x), v2_name(options.alpha, builder.input()));
}

Tensor mobilenet_v2::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "tf"});
}

// --- MobileNetV3 ------------------------------------------------------------------------------------------

namespace {

/// A row of the paper's table.
struct V3Block {
  double expansion;
  std::int64_t filters, kernel_size, stride;
  bool squeezed, hard_swish;
};

const V3Block small_blocks[] = {
    {1, 16, 3, 2, true, false}, {72. / 16, 24, 3, 2, false, false}, {88. / 24, 24, 3, 1, false, false},
    {4, 40, 5, 2, true, true},  {6, 40, 5, 1, true, true},          {6, 40, 5, 1, true, true},
    {3, 48, 5, 1, true, true},  {3, 48, 5, 1, true, true},          {6, 96, 5, 2, true, true},
    {6, 96, 5, 1, true, true},  {6, 96, 5, 1, true, true}};

/// Returns the row of the minimalistic network: 3 x 3 windows, relu, no squeeze and excitation.
V3Block plain(V3Block block) {
  block.kernel_size = 3;
  block.squeezed = block.hard_swish = false;
  return block;
}

Tensor activated(const Tensor& x, bool hard_swish) {
  return hard_swish ? Layer(Activation("hard_swish"))(x) : ReLU()(x);
}

/// Adds a squeeze-and-excitation block: channels are scaled by a function of their means over the image.
Tensor squeezed_and_excited(const Tensor& x, const std::string& name) {
  const std::int64_t filters = channels_of(x);
  Tensor weight = GlobalAveragePooling2D({.keepdims = true, .name = name + "_avg_pool"})(x);
  weight = Conv2D(divisible_by_8(0.25 * static_cast<double>(filters)), 1,
                  {.padding = "same", .name = name + "_conv"})(weight);
  weight = ReLU({.name = name + "_relu"})(weight);
  weight = Conv2D(filters, 1, {.padding = "same", .name = name + "_conv_1"})(weight);
  return Multiply({.name = name + "_mul"})({x, Activation("hard_sigmoid")(weight)});
}

Tensor v3_block(const Tensor& input, int number, const V3Block& block, double alpha) {
  const std::string prefix = number == 0 ? "expanded_conv_" : "expanded_conv_" + std::to_string(number) + '_';
  const std::int64_t channels = channels_of(input),
                     filters = divisible_by_8(static_cast<double>(block.filters) * alpha);
  Tensor x = input;
  if (number > 0) {
    x = pointwise(x, divisible_by_8(static_cast<double>(channels) * block.expansion), prefix + "expand");
    x = activated(normalized(x, prefix + "expand_bn"), block.hard_swish);
  }
  x = depthwise(x, block.kernel_size, block.stride, prefix + "depthwise", prefix + "depthwise_pad");
  x = activated(normalized(x, prefix + "depthwise_bn"), block.hard_swish);
  if (block.squeezed) x = squeezed_and_excited(x, prefix + "squeeze_excite");
  x = normalized(pointwise(x, filters, prefix + "project"), prefix + "project_bn");
  return block.stride == 1 && channels == filters ? Add({.name = prefix + "add"})({input, x}) : x;
}

/// Adds the classifier, made of 1 x 1 convolutions.
Tensor v3_top(Tensor x, const MobileNetV3Options& options) {
  const std::int64_t units = options.alpha > 1 ? divisible_by_8(1024 * options.alpha) : 1024;
  x = GlobalAveragePooling2D({.keepdims = true})(x);
  x = activated(Conv2D(units, 1, {.padding = "same", .name = "conv_2"})(x), !options.minimalistic);
  if (options.dropout_rate > 0) x = Dropout(options.dropout_rate)(x);
  x = Conv2D(options.classes, 1, {.padding = "same", .name = "logits"})(x);
  return Activation(options.classifier_activation, {.name = "predictions"})(Flatten()(x));
}

}  // namespace

Model MobileNetV3Small(const MobileNetV3Options& options) {
  const ApplicationOptions common = common_options(options);
  const ApplicationBuilder builder("MobileNetV3Small", common, {.any_with_top = true});
  expect_positive("MobileNetV3Small", options.alpha);
  Tensor x = builder.input();
  if (options.include_preprocessing) x = Rescaling(1 / 127.5, {.offset = -1.})(x);
  x = Conv2D(16, 3, {.strides = 2, .padding = "same", .use_bias = false, .name = "conv"})(x);
  x = activated(normalized(x, "conv_bn"), !options.minimalistic);
  int number = 0;
  for (const V3Block& block : small_blocks)
    x = v3_block(x, number++, options.minimalistic ? plain(block) : block, options.alpha);
  x = pointwise(x, divisible_by_8(6 * static_cast<double>(channels_of(x))), "conv_1");
  x = activated(normalized(x, "conv_1_bn"), !options.minimalistic);
  x = builder.include_top() ? v3_top(x, options)
                            : builder.pooled(x, {.average = "avg_pool", .max = "max_pool"});
  return builder.model(x, "MobileNetV3Small");
}

Tensor mobilenet_v3::preprocess_input(const Tensor& images, const std::string&) { return images; }

}  // namespace ktape::nn::applications
