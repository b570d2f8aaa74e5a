#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

TEST_CASE("layers give their weights by the names of Keras's attributes") {
  const nn::Dense dense(2);
  dense.build({4, 5});
  CHECK(dense.kernel().shape() == Shape{5, 2});
  CHECK(dense.bias().shape() == Shape{2});
  CHECK(dense.kernel().is(dense.weights()[0]));
  const nn::Conv2D convolution(3, 2);
  convolution.build({1, 8, 8, 4});
  CHECK(convolution.kernel().shape() == Shape{2, 2, 4, 3});
  CHECK(convolution.bias().shape() == Shape{3});
  const nn::SeparableConv1D separable(3, 2);
  separable.build({1, 8, 4});
  CHECK(separable.depthwise_kernel().shape() == Shape{2, 4, 1});
  CHECK(separable.pointwise_kernel().shape() == Shape{1, 4, 3});
  CHECK(separable.bias().shape() == Shape{3});
  const nn::BatchNormalization normalization;
  normalization.build({2, 3});
  CHECK(normalization.gamma().item(0) == 1);
  CHECK(normalization.beta().item(0) == 0);
  CHECK(normalization.moving_mean().item(0) == 0);
  CHECK(normalization.moving_variance().item(0) == 1);
  const nn::Embedding embedding(10, 4);
  embedding.build({2, 3});
  CHECK(embedding.embeddings().shape() == Shape{10, 4});
  const nn::LSTM lstm(3);
  lstm.build({2, 5, 4});
  CHECK(lstm.kernel().shape() == Shape{4, 12});
  CHECK(lstm.recurrent_kernel().shape() == Shape{3, 12});
  CHECK(lstm.bias().shape() == Shape{12});
  const nn::GRUCell cell(3);
  cell.build({2, 4});
  CHECK(cell.recurrent_kernel().shape() == Shape{3, 9});
  const nn::PReLU slopes;
  slopes.build({2, 6});
  CHECK(slopes.alpha().shape() == Shape{6});
  const nn::RMSNormalization rms;
  rms.build({2, 6});
  CHECK(rms.scale().shape() == Shape{6});
  nn::Normalization numbers;
  numbers.adapt(K::constant({{1.f}, {3.f}}));
  CHECK(numbers.mean().item() == 2);
  CHECK(numbers.variance().item() == 1);
}

TEST_CASE("every weight of a layer is found by the end of its path") {
  const Tensor x = K::ones({2, 5, 4});
  const nn::Bidirectional both(nn::LSTM(3, {.name = "lstm"}));
  both(x);
  CHECK(both.weight("forward_lstm/kernel").is(both.weights()[0]));
  CHECK(both.weight("backward_lstm/kernel").shape() == Shape{4, 12});
  CHECK_THROWS_WITH_AS(both.weight("lstm/kernel"), Contains("received name='lstm/kernel'; its weights are"),
                       ValueError);
  const nn::MultiHeadAttention attention(2, 3);
  attention({x, x});
  CHECK(attention.weight("query/kernel").shape() == Shape{4, 2, 3});
  CHECK(attention.weight("attention_output/bias").shape() == Shape{4});
  const nn::Sequential model({nn::Input({3}), nn::Dense(2, {.name = "a"}), nn::Dense(1, {.name = "b"})});
  CHECK(model.weight("a/kernel").is(model.get_layer("a").weight("kernel")));
  CHECK(model.weight("b/bias").shape() == Shape{1});
  // A layer that is added twice has its weights once.
  struct TwiceImpl : nn::LayerImpl {
    nn::Dense dense = add_layer(nn::Dense(4, {.name = "dense"}));
    nn::TimeDistributed each = add_layer(nn::TimeDistributed(dense));
    TwiceImpl() : nn::LayerImpl("Twice") {}
    Tensor call(const Tensor& x) override { return dense(each(x)); }
  };
  const nn::LayerOf<TwiceImpl> twice;
  twice(x);
  CHECK(twice.weight("kernel").is(twice->dense.kernel()));
}

TEST_CASE("a weight that a layer does not have is an error with the names of those that it has") {
  const nn::Dense dense(2, {.use_bias = false, .name = "scores"});
  CHECK_THROWS_WITH_AS(dense.kernel(),
                       "[scores] the layer must be built, by a call or by build(), before it has weights: "
                       "received name='kernel'",
                       ValueError);
  dense.build({1, 3});
  CHECK_THROWS_WITH_AS(
      dense.bias(), "[scores] the layer must have the weight: received name='bias'; its weights are 'kernel'",
      ValueError);
  const nn::Flatten flatten({.name = "flat"});
  flatten(K::ones({1, 2}));
  CHECK_THROWS_WITH_AS(flatten.weight("kernel"),
                       "[flat] the layer must have the weight: received name='kernel'; it has none",
                       ValueError);
  const nn::Sequential model({nn::Input({3}), nn::Dense(2, {.name = "a"}), nn::Dense(1, {.name = "b"})},
                             {.name = "model"});
  CHECK_THROWS_WITH_AS(
      model.weight("bias"),
      "[model] the name must identify one weight: received name='bias', which is 'a/bias' and "
      "'b/bias'",
      ValueError);
}
