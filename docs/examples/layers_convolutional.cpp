#include "examples.hpp"

EXAMPLE("nn::Conv1D nn::ConvOptions") {
  nn::Conv1D layer(4, 3, {.padding = "causal"});
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv2D") {
  nn::Conv2D layer(16, 3, {.strides = 2, .padding = "same", .activation = "relu"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv3D") {
  nn::Conv3D layer(4, 2);
  std::cout << layer(K::random_normal({1, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv1DTranspose nn::ConvTransposeOptions") {
  nn::Conv1DTranspose layer(4, 3, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv2DTranspose") {
  nn::Conv2DTranspose layer(4, 3, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv3DTranspose") {
  nn::Conv3DTranspose layer(2, 2, {.strides = 2});
  std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::DepthwiseConv1D nn::DepthwiseConvOptions") {
  nn::DepthwiseConv1D layer(3, {.depth_multiplier = 2});
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::DepthwiseConv2D") {
  nn::DepthwiseConv2D layer(3, {.depth_multiplier = 2});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::SeparableConv1D nn::SeparableConvOptions") {
  nn::SeparableConv1D layer(8, 3);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::SeparableConv2D") {
  nn::SeparableConv2D layer(8, 3);
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::LocallyConnected1D nn::LocallyConnectedOptions") {
  nn::LocallyConnected1D layer(4, 3);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::LocallyConnected2D") {
  nn::LocallyConnected2D layer(4, 3);
  std::cout << layer(K::random_normal({2, 6, 6, 3})).shape()
            << " weights: " << layer.count_params();
}
