#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("functions that layers compute, too, have the values of the layers") {
  const Tensor x = normal({2, 3, 4}, 4, "float32"), gamma = normal({4}, 1, "float32"),
               beta = normal({4}, 2, "float32");
  check_same(
      run("LayerNorm", {{"x", of(x)}, {"gamma", of(gamma)}, {"beta", of(beta)}, {"epsilon", value("0.001")}}),
      K::layer_normalization(x, gamma, beta));
  check_same(run("RMSNorm", {{"x", of(x)}, {"scale", of(gamma)}, {"epsilon", value("0.1")}}),
             x / K::sqrt(K::mean(K::square(x), -1, true) + 0.1f) * gamma);
  const Tensor mean = normal({3}, 1, "float32"), variance = K::square(normal({3}, 2, "float32"));
  check_same(
      run("BatchNorm", {{"x", of(x)}, {"mean", of(mean)}, {"variance", of(variance)}, {"axis", value("1")}}),
      (x - K::reshape(mean, {3, 1})) / K::sqrt(K::reshape(variance, {3, 1}) + 0.001f));
  const Tensor image = normal({2, 5, 6, 3}, 2, "float32");
  for (const char* padding : {"valid", "same"}) {
    const nn::Conv2DTranspose layer(4, 3, {.strides = 2, .padding = padding, .use_bias = false});
    const Tensor wanted = layer(image);
    check_same(run("ConvTranspose", {{"inputs", of(image)},
                                     {"kernel", of(layer.weights()[0].value())},
                                     {"strides", value("2")},
                                     {"padding", {.value = padding}}}),
               wanted);
  }
  const nn::SeparableConv2D separable(4, 3, {.use_bias = false});
  const Tensor separated = separable(image);
  check_same(run("SeparableConv", {{"inputs", of(image)},
                                   {"depthwise_kernel", of(separable.weights()[0].value())},
                                   {"pointwise_kernel", of(separable.weights()[1].value())}}),
             separated);
  const Tensor q = normal({2, 5, 2, 4}, 1, "float32"), k = normal({2, 6, 2, 4}, 2, "float32");
  check_same(run("DotProductAttention", {{"query", of(q)}, {"key", of(k)}, {"value", of(k)}}),
             K::scaled_dot_product_attention(q, k, k, {.heads_last = true}));
  check_same(run("MaxPool", {{"inputs", of(image)}, {"pool_size", value("2")}}), nn::MaxPooling2D(2)(image));
  check_same(run("AveragePool", {{"inputs", of(normal({2, 6, 3}, 1, "float32"))}, {"pool_size", value("2")}}),
             nn::AveragePooling1D(2)(normal({2, 6, 3}, 1, "float32")));
  check_same(
      run("BinaryCrossentropy", {{"target", of(K::ones({2, 4}))}, {"output", of(K::sigmoid(x[{All, 0}]))}}),
      K::binary_crossentropy(K::ones({2, 4}), K::sigmoid(x[{All, 0}])));
}
