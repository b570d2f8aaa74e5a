#include <ktape/nn/applications/efficientnet.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/nn/layers/preprocessing/numeric.hpp>
#include <ktape/nn/layers/regularization/regularization.hpp>
#include <ktape/nn/layers/reshaping/padding.hpp>
#include <ktape/nn/layers/reshaping/reshaping.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <algorithm>

namespace ktape::nn::applications {
namespace K = backend;

namespace {

/// A row of the paper's table.
struct Stage {
  int blocks;
  std::int64_t filters, kernel_size, stride, expansion;
};
constexpr Stage stages[] = {{1, 16, 3, 1, 1},  {2, 24, 3, 2, 6},  {2, 40, 5, 2, 6}, {3, 80, 3, 2, 6},
                            {3, 112, 5, 1, 6}, {4, 192, 5, 2, 6}, {1, 320, 3, 1, 6}};
constexpr double drop_connect_rate = 0.2, dropout_rate = 0.2;

Initializer kernel_initializer() { return VarianceScaling({.scale = 2, .mode = "fan_out"}); }
Initializer classifier_initializer() {
  return VarianceScaling({.scale = 1. / 3, .mode = "fan_out", .distribution = "uniform"});
}

Tensor normalized(const Tensor& x, const std::string& name) {
  return BatchNormalization({.axis = channel_axis(), .name = name})(x);
}

Tensor activated(const Tensor& x, const std::string& name) { return Activation("swish", {.name = name})(x); }

/// Adds a 1 x 1 convolution without a bias.
Tensor pointwise(const Tensor& x, std::int64_t filters, const std::string& name) {
  return Conv2D(
      filters, 1,
      {.padding = "same", .use_bias = false, .kernel_initializer = kernel_initializer(), .name = name})(x);
}

Tensor depthwise(Tensor x, const Stage& stage, std::int64_t stride, const std::string& prefix) {
  if (stride == 2)
    x = ZeroPadding2D(downsampling_padding(x, stage.kernel_size), {.name = prefix + "dwconv_pad"})(x);
  return DepthwiseConv2D(stage.kernel_size, {.strides = stride,
                                             .padding = stride == 2 ? "valid" : "same",
                                             .use_bias = false,
                                             .depthwise_initializer = kernel_initializer(),
                                             .name = prefix + "dwconv"})(x);
}

/// Adds a squeeze-and-excitation block: channels are scaled by a function of their means over the image.
Tensor squeezed_and_excited(const Tensor& x, std::int64_t squeezed, const std::string& prefix) {
  const std::int64_t filters = channels_of(x);
  const auto mixed = [&](const Tensor& w, std::int64_t units, const char* activation, const char* name) {
    return Conv2D(units, 1,
                  {.padding = "same",
                   .activation = activation,
                   .kernel_initializer = kernel_initializer(),
                   .name = prefix + name})(w);
  };
  Tensor weight = GlobalAveragePooling2D({.name = prefix + "se_squeeze"})(x);
  const Shape one_pixel = channel_axis() == 1 ? Shape{filters, 1, 1} : Shape{1, 1, filters};
  weight = Reshape(one_pixel, {.name = prefix + "se_reshape"})(weight);
  weight = mixed(weight, squeezed, "swish", "se_reduce");
  weight = mixed(weight, filters, "sigmoid", "se_expand");
  return Multiply({.name = prefix + "se_excite"})({x, weight});
}

Tensor block(const Tensor& input, const Stage& stage, std::int64_t stride, double drop_rate,
             const std::string& prefix) {
  const std::int64_t channels = channels_of(input);
  Tensor x = input;
  if (stage.expansion > 1) {
    x = pointwise(x, channels * stage.expansion, prefix + "expand_conv");
    x = activated(normalized(x, prefix + "expand_bn"), prefix + "expand_activation");
  }
  x = depthwise(x, stage, stride, prefix);
  x = activated(normalized(x, prefix + "bn"), prefix + "activation");
  x = squeezed_and_excited(x, std::max<std::int64_t>(1, channels / 4), prefix);
  x = normalized(pointwise(x, stage.filters, prefix + "project_conv"), prefix + "project_bn");
  if (stride > 1 || channels != stage.filters) return x;
  if (drop_rate > 0) x = Dropout(drop_rate, {.noise_shape = {None, 1, 1, 1}, .name = prefix + "drop"})(x);
  return Add({.name = prefix + "add"})({x, input});
}

Tensor blocks(Tensor x) {
  int all = 0, before = 0, number = 0;
  for (const Stage& stage : stages) all += stage.blocks;
  for (const Stage& stage : stages) {
    ++number;
    for (int i = 0; i < stage.blocks; ++i, ++before)
      x = block(x, stage, i == 0 ? stage.stride : 1, drop_connect_rate * before / all,
                "block" + std::to_string(number) + static_cast<char>('a' + i) + '_');
  }
  return x;
}

/// Squares the standard deviations that published files hold in place of variances.
void correct_variance(const Layer& normalization) {
  for (const Variable& weight : normalization.weights()) {
    if (weight.name().find("variance") == std::string::npos) continue;
    const Tensor deviations = K::constant({0.229, 0.224, 0.225}, {.dtype = weight.dtype()}), value = weight;
    if (value.shape() == deviations.shape() && K::max(K::abs(value - deviations)).item<double>() < 1e-6)
      Variable(weight).assign(K::square(value));
  }
}

}  // namespace

Model EfficientNetB0(const ApplicationOptions& options) {
  const ApplicationBuilder builder("EfficientNetB0", options);
  const Normalization normalization({.axis = channel_axis()});
  Tensor x = normalization(Rescaling(1. / 255)(builder.input()));
  x = ZeroPadding2D(downsampling_padding(x, 3), {.name = "stem_conv_pad"})(x);
  x = Conv2D(
      32, 3,
      {.strides = 2, .use_bias = false, .kernel_initializer = kernel_initializer(), .name = "stem_conv"})(x);
  x = blocks(activated(normalized(x, "stem_bn"), "stem_activation"));
  x = activated(normalized(pointwise(x, 1280, "top_conv"), "top_bn"), "top_activation");
  if (builder.include_top()) {
    x = GlobalAveragePooling2D({.name = "avg_pool"})(x);
    x = Dropout(dropout_rate, {.name = "top_dropout"})(x);
    x = builder.classified(x, "predictions", classifier_initializer());
  } else {
    x = builder.pooled(x, {.average = "avg_pool", .max = "max_pool"});
  }
  const Model model = builder.model(x, "efficientnetb0");
  if (!options.weights.empty()) correct_variance(normalization);
  return model;
}

Tensor efficientnet::preprocess_input(const Tensor& images, const std::string&) { return images; }

}  // namespace ktape::nn::applications
