#include "examples.hpp"

EXAMPLE("nn::Dense nn::DenseOptions") {
  nn::Dense layer(3, {.activation = "relu"});
  std::cout << layer(K::random_normal({2, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::EinsumDense nn::EinsumDenseOptions") {
  nn::EinsumDense layer("abc,cd->abd", {None, 64}, {.bias_axes = "d"});
  std::cout << layer(K::random_normal({2, 5, 16})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Embedding nn::EmbeddingOptions") {
  nn::Embedding layer(1000, 8);
  std::cout << layer(K::constant({{1, 5, 7}}, {.dtype = "int32"})).shape();
}

EXAMPLE("nn::Activation") {
  nn::Activation layer("relu");
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::Identity") {
  nn::Identity layer;
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::Lambda") {
  nn::Lambda scale([](const Tensor& x) { return x / 255.f; });
  std::cout << scale(K::constant({51., 255.}));
}

EXAMPLE("nn::Masking") {
  nn::Masking layer(0.);
  Tensor y = layer(K::constant({{{1.}, {0.}}}));
  std::cout << y.shape();
}

EXAMPLE("nn::Input nn::InputOptions") {
  Tensor x = nn::Input({28, 28});
  std::cout << K::int_shape(x);
}

EXAMPLE("nn::ReLU nn::ReLUOptions") {
  nn::ReLU layer({.max_value = 6});
  std::cout << layer(K::constant({-1., 2., 9.}));
}

EXAMPLE("nn::LeakyReLU nn::LeakyReLUOptions") {
  nn::LeakyReLU layer({.negative_slope = 0.1});
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::ELU nn::ELUOptions") {
  nn::ELU layer;
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::PReLU nn::PReLUOptions") {
  nn::PReLU layer;
  std::cout << layer(K::constant({{-1., 2.}}));
}

EXAMPLE("nn::Softmax nn::SoftmaxOptions") {
  nn::Softmax layer;
  std::cout << layer(K::constant({1., 2., 3.}));
}
