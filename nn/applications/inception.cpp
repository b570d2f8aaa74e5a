#include <ktape/nn/applications/imagenet.hpp>
#include <ktape/nn/applications/inception.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/pooling/pooling.hpp>

namespace ktape::nn::applications {
namespace {

struct Window {
  std::int64_t stride = 1;
  const char* padding = "same";
};

Tensor convolved(const Tensor& x, std::int64_t filters, std::int64_t rows, std::int64_t columns,
                 const Window& window = {}) {
  const Conv2D convolution(filters, {rows, columns},
                           {.strides = window.stride, .padding = window.padding, .use_bias = false});
  const BatchNormalization normalization({.axis = channel_axis(), .scale = false});
  return Activation("relu")(normalization(convolution(x)));
}

constexpr Window valid{1, "valid"}, halving{2, "valid"};

Tensor joined(const std::vector<Tensor>& branches, const std::string& name = "") {
  return Concatenate({.axis = channel_axis(), .name = name})(branches);
}

Tensor averaged(const Tensor& x, std::int64_t filters) {
  return convolved(AveragePooling2D(3, {.strides = 1, .padding = "same"})(x), filters, 1, 1);
}

Tensor halved(const Tensor& x) { return MaxPooling2D(3, {.strides = 2})(x); }

Tensor stem(Tensor x) {
  x = convolved(x, 32, 3, 3, halving);
  x = convolved(x, 32, 3, 3, valid);
  x = convolved(x, 64, 3, 3);
  x = halved(x);
  x = convolved(x, 80, 1, 1, valid);
  x = convolved(x, 192, 3, 3, valid);
  return halved(x);
}

/// Adds a block of parallel convolutions: 1 x 1, 5 x 5, and 3 x 3 twice.
Tensor mixed_small(const Tensor& x, std::int64_t pool_filters, const std::string& name) {
  const Tensor one = convolved(x, 64, 1, 1);
  const Tensor five = convolved(convolved(x, 48, 1, 1), 64, 5, 5);
  Tensor three = convolved(x, 64, 1, 1);
  three = convolved(three, 96, 3, 3);
  three = convolved(three, 96, 3, 3);
  return joined({one, five, three, averaged(x, pool_filters)}, name);
}

/// Reduces images to 17 x 17 pixels.
Tensor first_reduction(const Tensor& x) {
  const Tensor three = convolved(x, 384, 3, 3, halving);
  Tensor twice = convolved(x, 64, 1, 1);
  twice = convolved(twice, 96, 3, 3);
  twice = convolved(twice, 96, 3, 3, halving);
  return joined({three, twice, halved(x)}, "mixed3");
}

/// Adds a block of 1 x 7 and 7 x 1 convolutions.
Tensor mixed_seven(const Tensor& x, std::int64_t filters, const std::string& name) {
  const Tensor one = convolved(x, 192, 1, 1);
  Tensor seven = convolved(x, filters, 1, 1);
  seven = convolved(seven, filters, 1, 7);
  seven = convolved(seven, 192, 7, 1);
  Tensor twice = convolved(x, filters, 1, 1);
  twice = convolved(twice, filters, 7, 1);
  twice = convolved(twice, filters, 1, 7);
  twice = convolved(twice, filters, 7, 1);
  twice = convolved(twice, 192, 1, 7);
  return joined({one, seven, twice, averaged(x, 192)}, name);
}

/// Reduces images to 8 x 8 pixels.
Tensor second_reduction(const Tensor& x) {
  const Tensor three = convolved(convolved(x, 192, 1, 1), 320, 3, 3, halving);
  Tensor seven = convolved(x, 192, 1, 1);
  seven = convolved(seven, 192, 1, 7);
  seven = convolved(seven, 192, 7, 1);
  seven = convolved(seven, 192, 3, 3, halving);
  return joined({three, seven, halved(x)}, "mixed8");
}

/// Adds a 1 x 3 and a 3 x 1 convolution side by side.
Tensor split(const Tensor& x, const std::string& name = "") {
  const Tensor row = convolved(x, 384, 1, 3), column = convolved(x, 384, 3, 1);
  return joined({row, column}, name);
}

Tensor mixed_wide(const Tensor& x, int number) {
  const Tensor one = convolved(x, 320, 1, 1);
  const Tensor three = split(convolved(x, 384, 1, 1), "mixed9_" + std::to_string(number));
  Tensor twice = convolved(x, 448, 1, 1);
  twice = split(convolved(twice, 384, 3, 3));
  return joined({one, three, twice, averaged(x, 192)}, "mixed" + std::to_string(9 + number));
}

}  // namespace

Model InceptionV3(const ApplicationOptions& options) {
  const ApplicationBuilder builder("InceptionV3", options, {.published = 299, .least = 75});
  Tensor x = stem(builder.input());
  x = mixed_small(x, 32, "mixed0");
  x = mixed_small(x, 64, "mixed1");
  x = mixed_small(x, 64, "mixed2");
  x = first_reduction(x);
  x = mixed_seven(x, 128, "mixed4");
  x = mixed_seven(x, 160, "mixed5");
  x = mixed_seven(x, 160, "mixed6");
  x = mixed_seven(x, 192, "mixed7");
  x = second_reduction(x);
  x = mixed_wide(x, 0);
  x = mixed_wide(x, 1);
  return builder.model(builder.top(x, {.with_top = "avg_pool"}), "inception_v3");
}

Tensor inception_v3::preprocess_input(const Tensor& images, const std::string& data_format) {
  return applications::preprocess_input(images, {data_format, "tf"});
}

}  // namespace ktape::nn::applications
