#include "examples.hpp"

EXAMPLE("nn::BatchNormalization nn::BatchNormalizationOptions") {
  nn::BatchNormalization layer;
  std::cout << layer(K::constant({{1., 2.}, {3., 4.}}));
}

EXAMPLE("nn::LayerNormalization nn::LayerNormalizationOptions") {
  nn::LayerNormalization layer;
  std::cout << layer(K::constant({{1., 2., 3.}}));
}

EXAMPLE("nn::RMSNormalization nn::RMSNormalizationOptions") {
  nn::RMSNormalization layer;
  std::cout << layer(K::constant({{1., 2., 3.}}));
}

EXAMPLE("nn::UnitNormalization nn::UnitNormalizationOptions") {
  nn::UnitNormalization layer;
  std::cout << layer(K::constant({{3., 4.}}));
}

EXAMPLE("nn::GroupNormalization nn::GroupNormalizationOptions") {
  nn::GroupNormalization layer({.groups = 2});
  std::cout << layer(K::random_normal({2, 4, 4, 6})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Dropout nn::DropoutOptions") {
  nn::Dropout layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 6}), {.training = true}) << " "
            << layer(K::ones({1, 6}));
}

EXAMPLE("nn::AlphaDropout") {
  nn::AlphaDropout layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 4}), {.training = true});
}

EXAMPLE("nn::GaussianDropout") {
  nn::GaussianDropout layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 4}), {.training = true});
}

EXAMPLE("nn::GaussianNoise") {
  nn::GaussianNoise layer(0.1, {.seed = 7});
  std::cout << layer(K::ones({1, 4}), {.training = true});
}

EXAMPLE("nn::SpatialDropout1D") {
  nn::SpatialDropout1D layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 3, 4}), {.training = true}).shape();
}

EXAMPLE("nn::SpatialDropout2D") {
  nn::SpatialDropout2D layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 2, 2, 3}), {.training = true}).shape();
}

EXAMPLE("nn::SpatialDropout3D") {
  nn::SpatialDropout3D layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 2, 2, 2, 3}), {.training = true}).shape();
}

EXAMPLE("nn::ActivityRegularization nn::ActivityRegularizationOptions") {
  nn::ActivityRegularization layer({.l2 = 0.1});
  layer(K::ones({1, 4}));
  std::cout << layer.losses()[0];
}

EXAMPLE("nn::MultiHeadAttention nn::MultiHeadAttentionOptions") {
  nn::MultiHeadAttention attention(4, 8);
  Tensor x = K::random_normal({2, 5, 16});
  std::cout << attention({x, x}, {.use_causal_mask = true}).shape()
            << " weights: " << attention.count_params();
}

EXAMPLE("nn::GroupQueryAttention nn::GroupQueryAttentionOptions") {
  nn::GroupQueryAttention attention(8, 4, 2);
  Tensor x = K::random_normal({2, 5, 16});
  std::cout << attention({x, x}).shape();
}

EXAMPLE(
    "nn::Attention nn::AttentionOptions nn::AdditiveAttention "
    "nn::AdditiveAttentionOptions") {
  Tensor query = K::random_normal({2, 3, 8}), value = K::random_normal({2, 5, 8});
  std::cout << nn::Attention()({query, value}).shape() << " "
            << nn::AdditiveAttention()({query, value}).shape();
}
