#include <ktape/nn/applications/convnext.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/layer_scale.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/nn/layers/preprocessing/numeric.hpp>
#include <ktape/nn/models/sequential.hpp>

namespace ktape::nn::applications {
namespace {

struct Stage {
  int blocks;
  std::int64_t channels;
};
constexpr Stage tiny[] = {{3, 96}, {3, 192}, {9, 384}, {3, 768}};

LayerNormalization layer_normalization(const std::string& name) {
  return LayerNormalization({.epsilon = 1e-6, .name = name});
}

/// Returns the layers before a stage, which change the number of channels and divide height and width by 2
/// (by 4 before the first stage).
Sequential downsampling(const std::string& model, int stage, std::int64_t channels) {
  if (stage == 0)
    return Sequential({Conv2D(channels, 4, {.strides = 4, .name = model + "_stem_conv"}),
                       layer_normalization(model + "_stem_layernorm")},
                      {.name = model + "_stem"});
  const std::string number = std::to_string(stage - 1);
  return Sequential({layer_normalization(model + "_downsampling_layernorm_" + number),
                     Conv2D(channels, 2, {.strides = 2, .name = model + "_downsampling_conv_" + number})},
                    {.name = model + "_downsampling_block_" + number});
}

Tensor block(const Tensor& input, std::int64_t channels, const std::string& name) {
  Tensor x =
      Conv2D(channels, 7, {.padding = "same", .groups = channels, .name = name + "_depthwise_conv"})(input);
  x = layer_normalization(name + "_layernorm")(x);
  x = Dense(4 * channels, {.name = name + "_pointwise_conv_1"})(x);
  x = Activation("gelu", {.name = name + "_gelu"})(x);
  x = Dense(channels, {.name = name + "_pointwise_conv_2"})(x);
  x = LayerScale(channels, {.name = name + "_layer_scale"})(x);
  return Add()({input, Activation("linear", {.name = name + "_identity"})(x)});
}

/// Normalizes images to mean 0 and variance 1 over ImageNet.
Tensor normalized(const Tensor& images, const std::string& name) {
  const auto variance = [](double deviation) { return deviation * 255 * deviation * 255; };
  return Normalization({.mean = {0.485 * 255, 0.456 * 255, 0.406 * 255},
                        .variance = {variance(0.229), variance(0.224), variance(0.225)},
                        .name = name + "_prestem_normalization"})(images);
}

}  // namespace

Model ConvNeXtTiny(const ConvNeXtOptions& options) {
  expect_channels_last("ConvNeXtTiny");
  const ApplicationOptions common = common_options(options);
  const ApplicationBuilder builder("ConvNeXtTiny", common);
  const std::string name = options.name.empty() ? "convnext_tiny" : options.name;
  Tensor x = builder.input();
  if (options.include_preprocessing && channels_of(x) == 3) x = normalized(x, name);
  for (int stage = 0; stage < 4; ++stage) {
    const auto [blocks, channels] = tiny[stage];
    x = downsampling(name, stage, channels)(x);
    for (int i = 0; i < blocks; ++i)
      x = block(x, channels, name + "_stage_" + std::to_string(stage) + "_block_" + std::to_string(i));
  }
  if (!builder.include_top()) return builder.model(layer_normalization("")(builder.pooled(x)), name);
  x = GlobalAveragePooling2D({.name = name + "_head_gap"})(x);
  x = layer_normalization(name + "_head_layernorm")(x);
  return builder.model(builder.classified(x, name + "_head_dense"), name);
}

Tensor convnext::preprocess_input(const Tensor& images, const std::string&) { return images; }

}  // namespace ktape::nn::applications
