#include "masks.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

/// Returns the formula, head by head, on (batch, steps, features); the mask broadcasts to (batch, queries,
/// keys).
Tensor by_hand(const std::vector<Tensor>& w, const Tensor& query, const Tensor& value, const Tensor& key,
               const Tensor& mask) {
  const std::int64_t heads = w[0].shape()[1], key_dim = w[0].shape()[2];
  Tensor sum = w[7];
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto projected = [&](const Tensor& x, int at) {
      const auto head = [&](const Tensor& t, int axis) { return K::split(t, heads, axis)[std::size_t(h)]; };
      return K::dot(x, K::squeeze(head(w[std::size_t(at)], 1), 1)) + head(w[std::size_t(at + 1)], 0);
    };
    const Tensor scores = K::matmul(projected(query, 0), projected(key, 2), {.transpose_b = true}) /
                          std::sqrt(static_cast<double>(key_dim));
    const Tensor result = K::matmul(masked_softmax(scores, mask), projected(value, 4));
    sum = sum + K::dot(result, K::squeeze(K::split(w[6], heads, 0)[std::size_t(h)], 0));
  }
  return sum;
}

void give_random_weights(const nn::Layer& layer) {
  std::vector<Tensor> weights;
  int seed = 40;
  for (const Variable& weight : layer.weights())
    weights.push_back(normal(weight.shape(), seed++, weight.dtype()));
  layer.set_weights(weights);
}

}  // namespace

TEST_CASE("multi-head attention follows the formula, with and without the fused op") {
  const nn::MultiHeadAttention layer(2, 3, {.value_dim = 4, .dtype = "float64"});
  const Tensor query = normal({2, 3, 5}, 1), value = normal({2, 4, 6}, 2), key = normal({2, 4, 7}, 3);
  layer.build({query.shape(), value.shape(), key.shape()});
  give_random_weights(layer);
  const Tensor all = K::ones({3, 4}, {.dtype = "float64"});
  const Tensor expected = by_hand(layer.get_weights(), query, value, key, all);
  CHECK(close(layer({query, value, key}), expected, {.atol = 1e-12}));

  const std::vector<Tensor> both = layer.apply({query, value, key}, {.return_attention_scores = true});
  CHECK(close(both[0], expected, {.atol = 1e-12}));
  CHECK(both[1].shape() == Shape{2, 2, 3, 4});
  CHECK(close(K::sum(both[1], -1), K::ones({2, 2, 3}, {.dtype = "float64"}), {.atol = 1e-12}));
}

TEST_CASE("masks of all kinds combine") {
  const nn::MultiHeadAttention layer(2, 3, {.dtype = "float64"});
  const Tensor x = normal({2, 4, 5}, 1);
  layer.build({x.shape(), x.shape()});
  give_random_weights(layer);
  const Tensor keys = bools({1, 1, 0, 1, 1, 1, 1, 0}, {2, 4});
  const Tensor given = bools({1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0}, {4, 4});
  const Tensor all = K::cast(K::expand_dims(keys, 1), "float64") * K::cast(given, "float64") *
                     K::cast(lower_triangle(4), "float64");
  const nn::CallArguments arguments{
      .mask = {Tensor(), keys}, .attention_mask = given, .use_causal_mask = true};
  const Tensor expected = by_hand(layer.get_weights(), x, x, x, all);
  CHECK(close(layer({x, x}, arguments), expected, {.atol = 1e-12}));
  nn::CallArguments with_scores = arguments;
  with_scores.return_attention_scores = true;
  const std::vector<Tensor> both = layer.apply({x, x}, with_scores);
  CHECK(close(both[0], expected, {.atol = 1e-12}));
  CHECK(values(both[1])[1] == 0);  // the second key comes after the first query

  SUBCASE("an attention mask may have heads") {
    const Tensor ones = K::ones({2, 2, 4, 4}) * K::cast(K::expand_dims(given, 0), "float32");
    CHECK(close(layer({x, x}, {.mask = {Tensor(), keys}, .attention_mask = ones, .use_causal_mask = true}),
                expected, {.atol = 1e-12}));
  }
  SUBCASE("the inputs carry masks, and the output has the mask of the query") {
    const Tensor masked = nn::with_mask(x, keys);
    const Tensor y = layer({masked, masked}, {.attention_mask = given, .use_causal_mask = true});
    CHECK(values(nn::mask_of(y)) == values(keys));
    const nn::Layer again = layer;
    const std::vector<Tensor> scored =
        again.apply({masked, masked},
                    {.attention_mask = given, .use_causal_mask = true, .return_attention_scores = true});
    CHECK(close(scored[0], y, {.atol = 1e-12}));
    CHECK_FALSE(nn::mask_of(scored[1]).defined());
  }
}

TEST_CASE("a query that sees no key gets the bias of the output alone") {
  const nn::MultiHeadAttention layer(1, 2, {.dtype = "float64"});
  const Tensor x = normal({1, 2, 3}, 1), hidden = bools({0, 0}, {1, 2});
  layer.build({x.shape(), x.shape()});
  give_random_weights(layer);
  for (const bool scores : {false, true}) {
    const Tensor y = layer.apply({x, x}, {.mask = {Tensor(), hidden}, .return_attention_scores = scores})[0];
    CHECK(close(y, K::zeros_like(x) + layer.get_weights()[7], {.atol = 1e-12}));
  }
}

TEST_CASE("a sliding window hides distant keys, on both sides or before the query") {
  const nn::MultiHeadAttention layer(1, 2, {.sliding_window = 2});
  const Tensor x = K::random_normal({1, 4, 3});
  const auto seen = [&](bool causal) {
    const nn::CallArguments arguments{.use_causal_mask = causal, .return_attention_scores = true};
    return values(K::cast(layer.apply({x, x}, arguments)[1] > 0, "int32"));
  };
  CHECK(seen(false) == Values{1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1});
  CHECK(seen(true) == Values{1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1});
  const Tensor scored = layer.apply({x, x}, {.use_causal_mask = true, .return_attention_scores = true})[0];
  CHECK(close(layer({x, x}, {.use_causal_mask = true}), scored, {.atol = 1e-5}));
}

TEST_CASE("attention over some axes treats the other axes as batch") {
  const Tensor x = normal({2, 3, 4, 5}, 1);
  const auto made = [&](const ktape::Axes& axes) {
    const nn::MultiHeadAttention layer(2, 3, {.attention_axes = axes, .dtype = "float64"});
    layer.build({x.shape(), x.shape()});
    give_random_weights(layer);
    return layer;
  };
  const nn::MultiHeadAttention flat(2, 3, {.dtype = "float64"});
  flat.build({Shape{2, 3, 5}, Shape{2, 3, 5}});
  give_random_weights(flat);

  SUBCASE("over the last axis") {
    const nn::MultiHeadAttention layer = made(2);
    const std::vector<Tensor> both = layer.apply({x, x}, {.return_attention_scores = true});
    CHECK(both[1].shape() == Shape{2, 3, 2, 4, 4});
    const Tensor expected = K::reshape(flat({K::reshape(x, {6, 4, 5}), K::reshape(x, {6, 4, 5})}), x.shape());
    CHECK(close(both[0], expected, {.atol = 1e-12}));
    CHECK(close(layer({x, x}), expected, {.atol = 1e-12}));
    CHECK(close(
        layer({x, x}, {.use_causal_mask = true}),
        K::reshape(flat({K::reshape(x, {6, 4, 5}), K::reshape(x, {6, 4, 5})}, {.use_causal_mask = true}),
                   x.shape()),
        {.atol = 1e-12}));
  }
  SUBCASE("over the first axis, with a mask of the steps") {
    const nn::MultiHeadAttention layer = made(1);
    const Tensor mask = bools({1, 0, 1, 1, 1, 0}, {2, 3});
    const Tensor turned = K::reshape(K::permute_dimensions(x, {0, 2, 1, 3}), {8, 3, 5});
    const Tensor repeated = K::repeat_elements(mask, 4, 0);
    const Tensor expected = K::permute_dimensions(
        K::reshape(flat({turned, turned}, {.mask = {Tensor(), repeated}}), {2, 4, 3, 5}), {0, 2, 1, 3});
    CHECK(close(layer({x, x}, {.mask = {Tensor(), mask}}), expected, {.atol = 1e-12}));
  }
  SUBCASE("over both axes") {
    const nn::MultiHeadAttention layer = made({});
    const std::vector<Tensor> both = layer.apply({x, x}, {.return_attention_scores = true});
    CHECK(both[1].shape() == Shape{2, 2, 3, 4, 3, 4});
    const Tensor steps = K::reshape(x, {2, 12, 5});
    CHECK(close(both[0], K::reshape(flat({steps, steps}), x.shape()), {.atol = 1e-12}));
    CHECK(close(layer({x, x}), both[0], {.atol = 1e-12}));
    const Tensor mask = K::cast(normal({2, 3, 4, 3, 4}, 8) > -1, "float64");
    const Tensor masked = layer({x, x}, {.attention_mask = mask});
    CHECK(
        close(masked,
              K::reshape(flat({steps, steps}, {.attention_mask = K::reshape(mask, {2, 12, 12})}), x.shape()),
              {.atol = 1e-12}));
  }
}

TEST_CASE("a symbolic call has known shapes except for unknown steps") {
  const Tensor x = nn::Input({None, 4, 5});
  CHECK(nn::MultiHeadAttention(2, 3)({x, x}).shape() == Shape{None, None, 4, 5});
  CHECK(nn::MultiHeadAttention(2, 3, {.output_shape = {6, 7}, .attention_axes = 2})({x, x}).shape() ==
        Shape{None, None, 4, 6, 7});
  const Tensor sequence = nn::Input({None, 5});
  const std::vector<Tensor> both = nn::MultiHeadAttention(2, 3).apply(
      {sequence, sequence}, {.use_causal_mask = true, .return_attention_scores = true});
  CHECK(both[0].shape() == Shape{None, None, 5});
  CHECK(both[1].shape() == Shape{None, 2, None, None});
}

TEST_CASE("a gate scales the results of the heads") {
  const nn::MultiHeadAttention layer(2, 3, {.use_gate = true, .dtype = "float64"});
  const nn::MultiHeadAttention plain(2, 3, {.dtype = "float64"});
  const Tensor x = normal({2, 4, 5}, 1);
  layer({x, x}), plain({x, x});
  std::vector<Tensor> weights = layer.get_weights();
  REQUIRE(weights.size() == 10);
  CHECK(layer.weights()[4].name() == layer.name() + "/gate/kernel");
  weights[4] = K::zeros_like(weights[4]), weights[5] = K::zeros_like(weights[5]);
  layer.set_weights(weights);
  weights.erase(weights.begin() + 4, weights.begin() + 6);
  weights[6] = weights[6] / 2;
  plain.set_weights(weights);
  CHECK(close(layer({x, x}), plain({x, x}), {.atol = 1e-12}));
}

TEST_CASE("grouped queries share keys and values") {
  const nn::GroupQueryAttention layer(3, 4, 2, {.dtype = "float64"});
  const nn::MultiHeadAttention each(4, 3, {.dtype = "float64"});
  const Tensor query = normal({2, 3, 5}, 1), value = normal({2, 4, 5}, 2);
  layer({query, value}), each({query, value});
  give_random_weights(layer);
  std::vector<Tensor> weights = layer.get_weights();
  CHECK(weights[2].shape() == Shape{5, 2, 3});
  CHECK(weights[6].shape() == Shape{4, 3, 5});
  for (const std::size_t kernel : {2u, 4u}) {
    weights[kernel] = K::repeat_elements(weights[kernel], 2, 1);
    weights[kernel + 1] = K::repeat_elements(weights[kernel + 1], 2, 0);
  }
  each.set_weights(weights);
  for (const bool causal : {false, true})
    CHECK(close(layer({query, value}, {.use_causal_mask = causal}),
                each({query, value}, {.use_causal_mask = causal}), {.atol = 1e-12}));
}

TEST_CASE("a model with attention learns") {
  K::set_random_seed(1);
  const Tensor tokens = nn::Input({6}, {.dtype = "int32"});
  const Tensor embedded = nn::Embedding(7, 4, {.mask_zero = true})(tokens);
  const Tensor attended = nn::MultiHeadAttention(2, 4)({embedded, embedded}, {.use_causal_mask = true});
  nn::Model model(tokens, nn::Dense(1)(nn::GlobalAveragePooling1D()(nn::Add()({embedded, attended}))));
  model.compile({.optimizer = nn::Adam(0.02), .loss = "mse"});
  const Tensor x = K::random_uniform({64, 6}, {.maxval = 7, .dtype = "int32", .seed = 1});
  const Tensor y = K::cast(K::any(K::equal(x, 3), -1, true), "float32");
  const nn::History history = model.fit(x, y, {.epochs = 20, .verbose = 0});
  CHECK(history["loss"].back() < 0.5 * history["loss"].front());
}

TEST_CASE("configs have Keras's keys") {
  const nn::MultiHeadAttention layer(
      2, 3, {.value_dim = 4, .output_shape = {6}, .attention_axes = {1, 2}, .use_gate = true});
  CHECK(layer.get_config().names() ==
        std::vector<std::string>{"name", "trainable", "dtype", "num_heads", "key_dim", "value_dim", "dropout",
                                 "use_bias", "output_shape", "attention_axes", "kernel_initializer",
                                 "bias_initializer", "kernel_regularizer", "bias_regularizer",
                                 "activity_regularizer", "kernel_constraint", "bias_constraint", "use_gate",
                                 "seed"});
  const nn::Layer again = nn::Layer::from_value(nn::from_json(nn::to_json(layer.to_value())));
  CHECK(again.get_config() == layer.get_config());
  const nn::Layer grouped = nn::Layer::from_value(nn::Config{
      {"class_name", "GroupedQueryAttention"},
      {"config", nn::Config{{"head_dim", 3}, {"num_query_heads", 4}, {"num_key_value_heads", 2}}}});
  CHECK(grouped.class_name() == "GroupQueryAttention");
}

TEST_CASE("multi-head attention refuses unsupported options, with the layer's name") {
  const Tensor x = K::ones({2, 3, 4}), picture = K::ones({2, 3, 4, 5}),
               steps = bools({1, 1, 1, 1, 1, 0}, {2, 3});
  const auto check = [](const auto& f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), ktape::ValueError);
  };
  check([&] { nn::MultiHeadAttention(0, 3); }, "num_heads must be at least 1: received num_heads=0");
  check([&] { nn::MultiHeadAttention(2, 3, {.sliding_window = 0}); }, "sliding_window must be at least 1");
  check([&] { nn::MultiHeadAttention(2, 3, {.dropout = 0.1, .flash_attention = true}); },
        "flash_attention does not support dropout");
  check(
      [&] {
        nn::MultiHeadAttention(2, 3, {.attention_axes = 3, .name = "m"})({picture, picture});
      },
      "[m] attention_axes must be axes of the inputs between batch and features, each once: received "
      "attention_axes=3 for inputs of rank 4");
  check(
      [&] {
        nn::MultiHeadAttention(2, 3, {.name = "m"})({x, picture});
      },
      "[m] query and value must have one rank");
  for (const bool scores : {false, true})
    check(
        [&] {
          nn::MultiHeadAttention(2, 3, {.name = "m"})
              .apply({K::ones({1, 3, 4}), K::ones({1, 3, 4})},
                     {.attention_mask = K::ones({2, 3, 3}), .return_attention_scores = scores});
        },
        "must broadcast to");
  check(
      [&] {
        nn::MultiHeadAttention(2, 3, {.name = "m"})({x, x}, {.attention_mask = K::ones({3})});
      },
      "[m] attention_mask must have the axes of queries and keys: received shape=(3,)");
  check(
      [&] {
        nn::MultiHeadAttention(
            2, 3, {.attention_axes = 2, .name = "m"})({K::ones({2, 6, 4, 5}), K::ones({3, 4, 4, 5})});
      },
      "[m] query and value must agree in the axes without attention");
  const nn::MultiHeadAttention over_both(2, 3, {.name = "m"});
  check(
      [&] {
        over_both({picture, picture}, {.use_causal_mask = true});
      },
      "[m] use_causal_mask needs attention over one axis: received attention_axes=[1,2]");
  check(
      [&] {
        over_both({picture, picture}, {.mask = {steps, steps}});
      },
      "[m] masks of steps need attention over the steps, axis 1, alone");
  const nn::MultiHeadAttention insisting(2, 3, {.flash_attention = true, .name = "m"});
  check(
      [&] {
        insisting.apply({x, x}, {.return_attention_scores = true});
      },
      "[m] flash_attention does not return scores");
  check([&] { nn::GroupQueryAttention(3, 4, 3); },
        "num_query_heads must be a multiple of num_key_value_heads: received num_query_heads=4, "
        "num_key_value_heads=3");
}
