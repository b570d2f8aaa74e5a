#include "masks.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

TEST_CASE("dot-product attention is its formula") {
  const nn::Attention layer({.use_scale = true, .dtype = "float64"});
  const Tensor query = normal({2, 3, 4}, 1), value = normal({2, 3, 5}, 2), key = normal({2, 3, 4}, 3);
  layer.build({query.shape(), value.shape(), key.shape()});
  layer.set_weights({doubles(0.7)});
  const Tensor queries = bools({1, 0, 1, 1, 1, 0}, {2, 3}), keys = bools({1, 1, 0, 1, 1, 1}, {2, 3});
  const Tensor scores = K::matmul(query, key, {.transpose_b = true}) * 0.7;
  const Tensor mask = K::cast(K::expand_dims(keys, 1), "float64") * K::cast(lower_triangle(3), "float64");
  const Tensor expected =
      K::matmul(masked_softmax(scores, mask), value) * K::cast(K::expand_dims(queries), "float64");
  const nn::CallArguments arguments{.mask = {queries, keys}, .use_causal_mask = true};
  CHECK(close(layer({query, value, key}, arguments), expected, {.atol = 1e-12}));
  nn::CallArguments with_scores = arguments;
  with_scores.return_attention_scores = true;
  const std::vector<Tensor> both = layer.apply({query, value, key}, with_scores);
  CHECK(close(both[0], expected, {.atol = 1e-12}));
  CHECK(close(both[1], masked_softmax(scores, mask), {.atol = 1e-12}));
}

TEST_CASE("attention has gradients of first and second order") {
  const Tensor query = normal({1, 2, 3}, 1), value = normal({1, 3, 3}, 2);
  const Tensor mask = bools({1, 1, 0}, {1, 3});
  const auto check = [&](const char* name, const nn::Layer& layer, const nn::CallArguments& arguments) {
    layer.build({query.shape(), value.shape()});
    check_gradients(name, [&](In x) { return layer.apply({x[0], x[1]}, arguments)[0]; }, {query, value});
  };
  const nn::CallArguments masked{.mask = {Tensor(), mask}};
  check("dot", nn::Attention({.use_scale = true, .dtype = "float64"}), masked);
  check("concat", nn::Attention({.score_mode = "concat", .dtype = "float64"}), masked);
  check("additive", nn::AdditiveAttention({.dtype = "float64"}), masked);
  check("heads", nn::MultiHeadAttention(2, 2, {.use_gate = true, .dtype = "float64"}), masked);
  check("heads with scores", nn::MultiHeadAttention(2, 2, {.dtype = "float64"}),
        {.mask = {Tensor(), mask}, .return_attention_scores = true});
}

TEST_CASE("dropout drops weights in training only") {
  const Tensor x = K::ones({1, 50, 4});
  const nn::Attention attention({.dropout = 0.5, .seed = 3});
  const nn::MultiHeadAttention heads(2, 3, {.dropout = 0.5, .seed = 3});
  for (const nn::Layer& layer : std::vector<nn::Layer>{attention, heads}) {
    const Tensor still = layer({x, x}, {.training = false});
    CHECK(values(still) == values(layer({x, x})));
    CHECK(values(layer({x, x}, {.training = true})) != values(still));
    // The scores are those before dropout.
    const std::vector<Tensor> both = layer.apply({x, x}, {.training = true, .return_attention_scores = true});
    CHECK(close(values(both[1])[0], 0.02, {.rtol = 1e-5}));
  }
}

TEST_CASE("attention refuses unsupported options, with the layer's name") {
  const Tensor x = K::ones({2, 3, 4}), steps = bools({1, 1, 1, 1, 1, 0}, {2, 3});
  const auto check = [](const auto& f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), ktape::ValueError);
  };
  check([&] { nn::Attention({.name = "a"})(x); },
        "[a] the layer must be called on {query, value} or {query, value, key}: received 1 tensor");
  check(
      [&] {
        nn::Attention({.name = "a"})({x, K::ones({2, 3, 5})});
      },
      "[a] query and key must have the same batch and number of features: received query=(2, 3, 4), "
      "key=(2, 3, 5)");
  check(
      [&] {
        nn::Attention({.name = "a"})({x, x, K::ones({2, 2, 4})});
      },
      "[a] value and key must have the same shape but for the last axis");
  check(
      [&] {
        nn::Attention({.name = "a"})({x, x}, {.mask = steps});
      },
      "[a] mask must be {query mask, value mask}");
  check([&] { nn::Attention({.score_mode = "sum"}); }, "score_mode must be \"dot\" or \"concat\": received");
  check([&] { nn::AdditiveAttention({.dropout = 1}); }, "dropout must be in [0, 1): received dropout=1");
  check(
      [&] {
        nn::Attention({.name = "a"})({x, x}, {.mask = {K::ones({2, 4}), Tensor()}});
      },
      "[a] a mask must be (batch, steps), as its input: received mask=(2, 4) for shape=(2, 3, 4)");
}
