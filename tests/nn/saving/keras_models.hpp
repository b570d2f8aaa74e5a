#pragma once
#include <ktape/nn/data/dataset.hpp>
#include <ktape/nn/layers/attention/attention.hpp>
#include <ktape/nn/layers/convolutional/convolution.hpp>
#include <ktape/nn/layers/core/core.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/layers/merging/merging.hpp>
#include <ktape/nn/layers/normalization/normalization.hpp>
#include <ktape/nn/layers/regularization/regularization.hpp>
#include <ktape/nn/layers/reshaping/reshaping.hpp>
#include <ktape/nn/layers/rnn/convolutional_recurrent.hpp>
#include <ktape/nn/layers/rnn/recurrent.hpp>
#include <ktape/nn/layers/rnn/wrappers.hpp>
#include <ktape/nn/models/sequential.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../close.hpp"

/// Models of the tests of Keras's files.
namespace keras_models {

namespace nn = ktape::nn;
using ktape::Tensor;

/// Layers of every kind that has weights: in layers, in models, shared.
inline nn::Model every_kind() {
  const Tensor in = nn::Input({12, 12, 3}, {.name = "image"});
  Tensor h =
      nn::Conv2D(8, {3, 3}, {.strides = {2, 2}, .padding = "same", .use_bias = false, .name = "conv"})(in);
  h = nn::BatchNormalization({.name = "norm"})(h);
  h = nn::DepthwiseConv2D({3, 3}, {.padding = "same", .name = "depthwise"})(h);
  h = nn::SeparableConv2D(8, {3, 3}, {.padding = "same", .name = "separable"})(h);
  h = nn::Reshape({6, 48})(h);
  h = nn::Bidirectional(nn::LSTM(4, {.return_sequences = true}), {.name = "rows"})(h);
  h = nn::MultiHeadAttention(2, 3, {.name = "attention"})({h, h});
  h = nn::TimeDistributed(nn::Dense(8), {.name = "each"})(h);
  const nn::Dense shared(8, {.name = "shared"});
  h = nn::Add()({shared(h), shared(shared(h))});
  h = nn::Sequential({nn::Dense(8), nn::LayerNormalization(), nn::Dense(8)}, {.name = "inner"})(h);
  h = nn::RNN({nn::GRUCell(4), nn::LSTMCell(3)}, {.return_sequences = true, .name = "stack"})(h);
  h = nn::GRU(4, {.name = "last"})(h);
  return nn::Model(in, nn::Dense(3, {.activation = "softmax", .name = "scores"})(nn::Dropout(0.2)(h)));
}

/// Returns the model with other weights than its initial weights.
inline nn::Model with_random_weights(const nn::Model& model) {
  std::vector<Tensor> weights;
  for (const Tensor& weight : model.get_weights())
    weights.push_back(ktape::backend::cast(ktape::backend::random_uniform(weight.shape(), {.minval = 0.1}),
                                           weight.dtype()));
  model.set_weights(weights);
  return model;
}

/// Returns whether two models have equal weights, number by number.
inline Closeness same(const nn::Model& a, const nn::Model& b) {
  return close(a.get_weights(), b.get_weights(), exactly);
}

}  // namespace keras_models
