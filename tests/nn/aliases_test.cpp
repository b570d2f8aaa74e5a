#include "../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor, ktape::Variable;

// Keras's other names.

TEST_CASE("layers have Keras's shorter and longer names, as types and in configs") {
  const Tensor images = normal({2, 8, 8, 4}, 1, "float32"), steps = normal({2, 8, 4}, 2, "float32");
  CHECK(values(nn::MaxPool2D()(images)) == values(nn::MaxPooling2D()(images)));
  CHECK(values(nn::AvgPool1D(2)(steps)) == values(nn::AveragePooling1D(2)(steps)));
  CHECK(values(nn::GlobalMaxPool2D()(images)) == values(nn::GlobalMaxPooling2D()(images)));
  CHECK(values(nn::GlobalAvgPool1D()(steps)) == values(nn::GlobalAveragePooling1D()(steps)));
  CHECK(nn::Convolution2D(3, 2)(images).shape() == Shape{2, 7, 7, 3});
  CHECK(nn::Convolution1DTranspose(3, 2)(steps).shape() == Shape{2, 9, 3});
  CHECK(nn::SeparableConvolution1D(3, 2)(steps).shape() == Shape{2, 7, 3});
  CHECK(nn::GroupedQueryAttention(2, 4, 2)({steps, steps}).shape() == Shape{2, 8, 4});
  for (const char* name : {"MaxPool1D",
                           "MaxPool2D",
                           "MaxPool3D",
                           "AvgPool1D",
                           "AvgPool2D",
                           "AvgPool3D",
                           "GlobalMaxPool1D",
                           "GlobalMaxPool2D",
                           "GlobalMaxPool3D",
                           "GlobalAvgPool1D",
                           "GlobalAvgPool2D",
                           "GlobalAvgPool3D",
                           "Convolution1D",
                           "Convolution2D",
                           "Convolution3D",
                           "Convolution1DTranspose",
                           "Convolution2DTranspose",
                           "Convolution3DTranspose",
                           "SeparableConvolution1D",
                           "SeparableConvolution2D",
                           "GroupedQueryAttention"}) {
    CAPTURE(name);
    CHECK(nn::is_registered("layer", name));
  }
}

TEST_CASE("layers that merge are functions, too") {
  const Tensor a = K::constant({{1.f, 4.f}}), b = K::constant({{3.f, 2.f}});
  CHECK(values(nn::add({a, b})) == Values{4, 6});
  CHECK(values(nn::add({a, b, b})) == Values{7, 8});
  CHECK(values(nn::subtract({a, b})) == Values{-2, 2});
  CHECK(values(nn::multiply({a, b})) == Values{3, 8});
  CHECK(values(nn::average({a, b})) == Values{2, 3});
  CHECK(values(nn::maximum({a, b})) == Values{3, 4});
  CHECK(values(nn::minimum({a, b})) == Values{1, 2});
  CHECK(values(nn::concatenate({a, b})) == Values{1, 4, 3, 2});
  CHECK(nn::concatenate({a, b}, 0).shape() == Shape{2, 2});
  CHECK(nn::concatenate({a, b}, {.axis = 0}).shape() == Shape{2, 2});
  CHECK(values(nn::dot({a, b}, 1)) == Values{11});
  const Tensor x = nn::Input({2}), y = nn::Input({2});
  const nn::Model model({x, y}, nn::add({x, y}, {.name = "sum"}));
  CHECK(model.get_layer("sum").class_name() == "Add");
  CHECK(values(model.predict({a, b}, {.verbose = 0})) == Values{4, 6});
}

TEST_CASE(
    "initializers, regularizers and constraints have Keras's names of "
    "functions") {
  const nn::Dense dense(2, {.kernel_initializer = nn::initializers::he_normal({.seed = 1}),
                            .bias_initializer = nn::initializers::ones(),
                            .kernel_regularizer = nn::regularizers::l2(0.5),
                            .bias_regularizer = nn::regularizers::l1_l2({.l1 = 1}),
                            .kernel_constraint = nn::constraints::max_norm(1),
                            .bias_constraint = nn::constraints::non_neg()});
  dense.build({1, 3});
  CHECK(values(dense.kernel()) == values(nn::HeNormal({.seed = 1})({3, 2})));
  CHECK(values(dense.bias()) == Values{1, 1});
  CHECK(dense.losses().size() == 2);
}

TEST_CASE("an optimizer applies pairs of gradients and variables") {
  Variable w = K::constant({1.f, 2.f}), b = K::constant({3.f});
  const Tensor loss = K::sum(w * w) + K::sum(b);
  const nn::SGD sgd(0.1);
  sgd.apply_gradients({{K::gradients(loss, {w})[0], w}, {K::gradients(loss, {b})[0], b}});
  CHECK(values(w)[1] == doctest::Approx(1.6));
  CHECK(values(b)[0] == doctest::Approx(2.9));
}
