#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/applications/vgg.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>
#include <ktape/nn/layers/reshaping/reshaping.hpp>

namespace ktape::nn::applications {
namespace {

Tensor block(Tensor x, int number, std::int64_t filters, int convolutions) {
  const std::string name = "block" + std::to_string(number);
  for (int i = 1; i <= convolutions; ++i)
    x = Conv2D(filters, 3,
               {.padding = "same", .activation = "relu", .name = name + "_conv" + std::to_string(i)})(x);
  return MaxPooling2D(2, {.strides = 2, .name = name + "_pool"})(x);
}

}  // namespace

Model VGG16(const ApplicationOptions& options) {
  const ApplicationBuilder builder("VGG16", options);
  Tensor x = block(builder.input(), 1, 64, 2);
  x = block(x, 2, 128, 2);
  x = block(x, 3, 256, 3);
  x = block(x, 4, 512, 3);
  x = block(x, 5, 512, 3);
  if (!builder.include_top()) return builder.model(builder.pooled(x), "vgg16");
  x = Flatten({.name = "flatten"})(x);
  x = Dense(4096, {.activation = "relu", .name = "fc1"})(x);
  x = Dense(4096, {.activation = "relu", .name = "fc2"})(x);
  return builder.model(builder.classified(x), "vgg16");
}

Tensor vgg16::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "caffe"});
}

}  // namespace ktape::nn::applications
