#include "examples.hpp"

EXAMPLE("nn::MaxPooling1D nn::PoolingOptions") {
  nn::MaxPooling1D layer(2);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::MaxPooling2D") {
  nn::MaxPooling2D layer({3, 3}, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::MaxPooling3D") {
  nn::MaxPooling3D layer(2);
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalMaxPooling1D nn::GlobalPoolingOptions") {
  nn::GlobalMaxPooling1D layer;
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalMaxPooling2D") {
  nn::GlobalMaxPooling2D layer;
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalMaxPooling3D") {
  nn::GlobalMaxPooling3D layer({.keepdims = true});
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::AveragePooling1D") {
  nn::AveragePooling1D layer(2);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::AveragePooling2D") {
  nn::AveragePooling2D layer({3, 3}, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::AveragePooling3D") {
  nn::AveragePooling3D layer(2);
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalAveragePooling1D") {
  nn::GlobalAveragePooling1D layer;
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalAveragePooling2D") {
  nn::GlobalAveragePooling2D layer;
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalAveragePooling3D") {
  nn::GlobalAveragePooling3D layer({.keepdims = true});
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}
