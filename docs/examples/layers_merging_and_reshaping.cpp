#include "examples.hpp"

EXAMPLE("nn::Add nn::add") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Add()({a, b}) << " " << nn::add({a, b});
}

EXAMPLE("nn::Subtract nn::subtract") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Subtract()({a, b}) << " " << nn::subtract({a, b});
}

EXAMPLE("nn::Multiply nn::multiply") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Multiply()({a, b}) << " " << nn::multiply({a, b});
}

EXAMPLE("nn::Average nn::average") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Average()({a, b}) << " " << nn::average({a, b});
}

EXAMPLE("nn::Maximum nn::maximum") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Maximum()({a, b}) << " " << nn::maximum({a, b});
}

EXAMPLE("nn::Minimum nn::minimum") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Minimum()({a, b}) << " " << nn::minimum({a, b});
}

EXAMPLE("nn::Concatenate nn::concatenate nn::ConcatenateOptions") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Concatenate({.axis = -1})({a, b}) << " "
            << nn::concatenate({a, b});
}

EXAMPLE("nn::Dot nn::dot nn::DotOptions") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Dot(1)({a, b}) << " " << nn::dot({a, b}, 1);
}

EXAMPLE("nn::Flatten nn::FlattenOptions") {
  nn::Flatten layer;
  std::cout << layer(K::random_normal({2, 3, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Reshape") {
  nn::Reshape layer({6, 2});
  std::cout << layer(K::random_normal({2, 3, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Permute") {
  nn::Permute layer({2, 1});
  std::cout << layer(K::random_normal({2, 3, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::RepeatVector") {
  nn::RepeatVector layer(3);
  std::cout << layer(K::random_normal({2, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ZeroPadding1D") {
  nn::ZeroPadding1D layer(1);
  std::cout << layer(K::random_normal({2, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ZeroPadding2D") {
  nn::ZeroPadding2D layer({1, 2});
  std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ZeroPadding3D") {
  nn::ZeroPadding3D layer(1);
  std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Cropping1D") {
  nn::Cropping1D layer(1);
  std::cout << layer(K::random_normal({2, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Cropping2D") {
  nn::Cropping2D layer({{1, 0}, {0, 2}});
  std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Cropping3D") {
  nn::Cropping3D layer(1);
  std::cout << layer(K::random_normal({1, 4, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::UpSampling1D") {
  nn::UpSampling1D layer(2);
  std::cout << layer(K::random_normal({2, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::UpSampling2D") {
  nn::UpSampling2D layer(2, {.interpolation = "bilinear"});
  std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::UpSampling3D") {
  nn::UpSampling3D layer(2);
  std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
            << " weights: " << layer.count_params();
}
