#include <doctest/doctest.h>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/math/math.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/nn/losses.hpp>
#include <ktape/ops/keras/nn/patches.hpp>
#include <ktape/ops/nn/ctc.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>

#include <cmath>
#include <limits>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;

TEST_CASE("ops: segments, empty ones and ids that are ignored") {
  const Tensor data = doubles({1., 2., 3., 4.}), ids = ints({0, -1, 2, 2});
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(values(ops::segment_sum(data, ids)) == Values{1, 0, 7});
  CHECK(values(ops::segment_prod(data, ids, 4)) == Values{1, 1, 12, 1});
  CHECK(values(ops::segment_max(data, ids, 2)) == Values{1, -inf});
  CHECK(values(ops::segment_min(data, ids)) == Values{1, inf, 3});
  CHECK_THROWS_WITH_AS(ops::segment_sum(data, doubles({0., 1., 2., 3.})),
                       "[segment_sum] segment_ids must be integers: received dtype=float64", TypeError);
  CHECK_THROWS_WITH_AS(
      ops::segment_max(data, ints({0, 1})),
      "[segment_max] segment_ids must be a vector with an id for each slice of data: received data=(4,), "
      "segment_ids=(2,)",
      ValueError);
  CHECK_THROWS_WITH_AS(ops::extract_sequences(data, 5, 1),
                       "[extract_sequences] the last axis must have 5 elements: received x=(4,)", ValueError);
}

TEST_CASE("ops: functions of nn refuse wrong arguments") {
  CHECK_THROWS_WITH_AS(ops::celu(doubles({1.}), 0), "[celu] alpha must not be 0: received alpha=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::max_pool(K::zeros({2, 3}), 2),
                       "[max_pool] inputs must have one, two or three spatial axes: received inputs=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      ops::depth_to_space(K::zeros({1, 2, 2, 4}), 2, "last"),
      "[depth_to_space] data_format must be \"channels_first\" or \"channels_last\": received "
      "data_format=\"last\"",
      ValueError);
  CHECK_THROWS_WITH_AS(ops::fold(K::zeros({1, 8, 11}), {4, 5}, 2),
                       "[fold] x must be (batch, channels * 4, 12): received x=(1, 8, 11)", ValueError);
  CHECK_THROWS_AS(ops::conv(K::zeros({1, 5, 3}), K::zeros({2, 2, 2})), ValueError);
  CHECK_THROWS_AS(ops::ctc_loss(ints({{1}}), K::zeros({1, 2, 3}), ints({2}), ints({2})), ValueError);
  CHECK_THROWS_WITH_AS(
      ops::ctc_decode(K::zeros({1, 2, 3}), ints({2}), {.strategy = "best"}),
      "[ctc_decode] strategy must be \"greedy\" or \"beam_search\": received strategy=\"best\"", ValueError);
  CHECK_THROWS_WITH_AS(ops::psnr(K::zeros({2}), K::zeros({3}), 1),
                       "[psnr] both tensors must have one shape: received x1=(2,), x2=(3,)", ValueError);
}

TEST_CASE("ops: without steps only the empty label has a path") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Tensor labels = ints({{1, 2}, {1, 2}, {1, 1}, {1, 2}}), label_lengths = ints({0, 1, 2, 2}),
               lengths = ints({0, 0, 2, 3});
  const auto loss = [&](const Tensor& logits) {
    return ops::ctc_loss(labels, logits, label_lengths, lengths);
  };
  for (const char* dtype : {"float32", "float64"}) {
    const Tensor logits = normal({4, 4, 3}, 1, dtype);
    const Values losses = values(loss(logits));
    CHECK(losses[0] == 0);
    CHECK(losses[1] == inf);
    CHECK(losses[2] == inf);  // two equal labels need a blank between
    const Tensor last = logits[3];
    const Tensor alone = ops::ctc_loss(ints({{1, 2}}), K::expand_dims(last, 0), ints({2}), ints({3}));
    CHECK(losses[3] == doctest::Approx(alone.item()));
    // The samples without a path, and steps after the last one, have no influence.
    const Tensor slopes = slope(loss, logits);
    for (const std::int64_t i : {0, 1, 2}) CHECK(K::max(K::abs(slopes[i])).item() == 0);
    CHECK(K::max(K::abs(slopes[3][3])).item() == 0);
    CHECK(K::max(K::abs(slopes[3])).item() > 0.01);
  }
  check_gradients("ctc_loss", [&](In in) { return K::where(K::is_finite(loss(in[0])), loss(in[0]), 0); },
                  {normal({4, 4, 3}, 1)});
  CHECK(values(ops::ctc_loss(K::zeros({2, 2}, {.dtype = "int32"}), K::zeros({2, 0, 3}), ints({0, 1}),
                             ints({0, 0}))) == Values{0, inf});
  CHECK(values(ops::ctc_loss(K::zeros({1, 0}, {.dtype = "int32"}), K::zeros({1, 2, 3}), ints({0}),
                             ints({2})))[0] == doctest::Approx(2 * std::log(3)));
  CHECK(values(K::ctc_batch_cost(ints({{0}}), K::ones({1, 2, 3}), ints({{0}}), ints({{0}}))) == Values{0});
}

TEST_CASE("ops: a class without probability has no influence on other paths") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor logits = doubles({{{0.5, 1., -inf}, {0., 1., -inf}}});
  const auto loss = [](const Tensor& x) { return ops::ctc_loss(ints({{1}}), x, ints({1}), ints({2})); };
  const Tensor without = ops::ctc_loss(ints({{1}}), doubles({{{0.5, 1.}, {0., 1.}}}), ints({1}), ints({2}));
  CHECK(loss(logits).item() == doctest::Approx(without.item()));
  CHECK(K::all(K::is_finite(slope(loss, logits))).item<bool>());
  CHECK(ops::ctc_loss(ints({{2}}), logits, ints({1}), ints({2})).item() == inf);
}

TEST_CASE("ops: moments of half precision are clipped to the range of float16, as in Keras") {
  const Tensor x = K::constant({60000., -60000., 60000., -60000.}, {.dtype = "float16"});
  for (const bool keepdims : {false, true}) {
    const auto [mean, variance] = ops::moments(x, {0}, keepdims);
    CHECK(mean.dtype() == "float16");
    CHECK(variance.shape() == (keepdims ? Shape{1} : Shape{}));
    CHECK(values(mean) == Values{0});
    CHECK(values(variance) == Values{65504});
  }
  const auto wide = ops::moments(K::constant({3e38, 3e38}, {.dtype = "bfloat16"}), {0});
  CHECK(values(wide.mean) == Values{65536});  // the nearest number of bfloat16
  CHECK(values(ops::moments(K::constant({300., -300.}), {0}).variance) == Values{90000});
}

TEST_CASE("ops: layer_normalization scaled by the variance, in the dtype of x") {
  const Tensor x = doubles({{1., 3.}, {-2., 6.}}), gamma = doubles({2., 0.5});
  const Tensor y = ops::layer_normalization(x, gamma, {}, {.epsilon = 0, .rms_scaling = true});
  CHECK(close(y, doubles({{2., 1.5}, {-1., 0.75}})));
  const Tensor first =
      ops::layer_normalization(x, gamma, gamma, {.axis = 0, .epsilon = 0, .rms_scaling = true});
  CHECK(close(first, doubles({{4 / 3., 4.}, {-2 / 3., 2.}})));
  for (const char* dtype : {"float16", "bfloat16", "float32"}) {
    CHECK(ops::layer_normalization(K::cast(x, dtype), gamma, {}, {.rms_scaling = true}).dtype() == dtype);
    CHECK(ops::layer_normalization(K::cast(x, dtype), gamma, gamma).dtype() == dtype);
  }
  CHECK_THROWS_WITH_AS(
      ops::layer_normalization(x, doubles({1., 2., 3.}), {}, {.rms_scaling = true}),
      "[layer_normalization] gamma must have the shape (2,) of the normalized axes: received gamma=(3,)",
      ValueError);
}

TEST_CASE("ops: ctc_loss of halves is float32, attention has the common dtype") {
  const Tensor scores = normal({1, 4, 3});
  for (const char* dtype : {"float16", "bfloat16"}) {
    const Tensor loss = ops::ctc_loss(ints({{1, 2}}), K::cast(scores, dtype), ints({2}), ints({4}));
    CHECK(loss.dtype() == "float32");
    const Tensor open = K::placeholder({.shape = Shape{1, 4, 3}, .dtype = dtype});
    CHECK(ops::ctc_loss(ints({{1, 2}}), open, ints({2}), ints({4})).dtype() == "float32");
  }
  CHECK(ops::ctc_loss(ints({{1, 2}}), scores, ints({2}), ints({4})).dtype() == "float64");
  const Tensor q = K::ones({2, 3, 1, 8}, {.dtype = "float16"}),
               k = K::ones({2, 3, 1, 8}, {.dtype = "bfloat16"}),
               v = K::ones({2, 3, 1, 8}, {.dtype = "float16"}), w = K::ones({2, 3, 1, 8});
  CHECK(ops::dot_product_attention(q, v, v).dtype() == "float16");
  CHECK(ops::dot_product_attention(q, k, v).dtype() == "float32");
  CHECK(ops::dot_product_attention(q, w, w, {.bias = K::zeros({3, 3}, {.dtype = "float64"})}).dtype() ==
        "float32");
  CHECK(ops::dot_product_attention(q, v, K::cast(v, "int32")).dtype() == "float16");
}

TEST_CASE("ops: greedy paths and their scores") {
  const Tensor scores = doubles({{{0.1, 0.9}, {0.2, 0.8}, {0.7, 0.3}}});
  const auto [paths, total] = ops::ctc_decode(scores, ints({3}));
  CHECK(values(paths) == Values{1, -1, -1});
  CHECK(values(total)[0] == doctest::Approx(-2.4));
}

namespace {

auto with(Tensor (*f)(const Tensor&, double), double number) {
  return [=](In in) { return f(in[0], number); };
}

// clang-format off
const Catalogue activations([]() -> Catalogue::Rows {
  const Tensor x = awkward_numbers();
  return {
      {"ops::relu", of(ops::relu), {x}}, {"ops::relu6", of(ops::relu6), {x}}, {"ops::leaky_relu", with(ops::leaky_relu, 0.2), {x}},
      {"ops::elu", with(ops::elu, 1.5), {x}}, {"ops::celu", with(ops::celu, 1.5), {x}}, {"ops::selu", of(ops::selu), {x}},
      {"ops::gelu", [](In in) { return ops::gelu(in[0]); }, {x}},
      {"ops::glu", [](In in) { return ops::glu(K::reshape(in[0], {-1, 6}), 1); }, {x}},
      {"ops::sigmoid", of(ops::sigmoid), {x}}, {"ops::log_sigmoid", of(ops::log_sigmoid), {x}},
      {"ops::silu", of(ops::silu), {x}}, {"ops::swish", of(ops::swish), {x}},
      {"ops::hard_sigmoid", of(ops::hard_sigmoid), {x}}, {"ops::hard_silu", of(ops::hard_silu), {x}},
      {"ops::hard_swish", of(ops::hard_swish), {x}}, {"ops::hard_tanh", of(ops::hard_tanh), {x}},
      {"ops::hard_shrink", with(ops::hard_shrink, 0.3), {x}}, {"ops::soft_shrink", with(ops::soft_shrink, 0.3), {x}},
      {"ops::tanh_shrink", of(ops::tanh_shrink), {x}},
      {"ops::threshold", [](In in) { return ops::threshold(in[0], 0.25, -1); }, {x}},
      {"ops::softplus", of(ops::softplus), {x}}, {"ops::softsign", of(ops::softsign), {x}},
      {"ops::squareplus", with(ops::squareplus, 4), {x}},
      {"ops::softmax", [](In in) { return ops::softmax(in[0], {0, 1}); }, {normal({2, 3})}},
      {"ops::log_softmax", [](In in) { return ops::log_softmax(in[0], {0, 1}); }, {normal({2, 3})}},
      {"ops::sparsemax", [](In in) { return ops::sparsemax(in[0]); }, {normal({2, 3})}},
      {"ops::sparse_plus", of(ops::sparse_plus), {x}}, {"ops::sparse_sigmoid", of(ops::sparse_sigmoid), {x}},
  };
});

const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor image = normal({1, 5, 6, 2}), signal = normal({2, 6, 2}, 2), ids = ints({1, 0, 1, -1, 1});
  const Tensor query = normal({2, 3, 1, 4}, 1), key = normal({2, 3, 1, 4}, 2), value = normal({2, 3, 1, 4}, 3);
  return {
      {"ops::conv", of2([](const Tensor& x, const Tensor& k) { return ops::conv(x, k, {.padding = "same"}); }), {signal, normal({3, 2, 4})}},
      {"ops::conv_transpose", of2([](const Tensor& x, const Tensor& k) { return ops::conv_transpose(x, k, {.strides = 2, .padding = "same", .output_padding = Shape{1}}); }), {signal, normal({3, 3, 2})}},
      {"ops::depthwise_conv", of2([](const Tensor& x, const Tensor& k) { return ops::depthwise_conv(x, k, {.strides = 2}); }), {signal, normal({3, 2, 2})}},
      {"ops::separable_conv", [](In in) { return ops::separable_conv(in[0], in[1], in[2]); }, {signal, normal({3, 2, 2}), normal({1, 4, 3})}},
      {"ops::max_pool", [](In in) { return ops::max_pool(in[0], 2); }, {signal}},
      {"ops::average_pool", [](In in) { return ops::average_pool(in[0], {2, 3}, {.strides = 1, .padding = "same"}); }, {image}},
      {"ops::adaptive_max_pool", [](In in) { return ops::adaptive_max_pool(K::reshape(in[0], {-1, 5, 6, 2}), {2, 4}); }, {image}},
      {"ops::adaptive_average_pool", [](In in) { return ops::adaptive_average_pool(K::reshape(in[0], {-1, 5, 6, 2}), 3); }, {image}},
      {"ops::moments", [](In in) { return ops::moments(in[0], {0, 2}).variance; }, {signal}},
      {"ops::normalize", [](In in) { return ops::normalize(in[0], -1, 3); }, {K::exp(signal)}},
      {"ops::batch_normalization", [](In in) { return ops::batch_normalization(in[0], in[1], in[2], -1, in[3], in[4]); },
       {normal({3, 4}), normal({4}, 2), K::exp(normal({4}, 3)), normal({4}, 4), normal({4}, 5)}},
      {"ops::layer_normalization", [](In in) { return ops::layer_normalization(in[0], in[1], in[2]); }, {normal({3, 4}), normal({4}, 2), normal({4}, 3)}},
      {"ops::layer_normalization", [](In in) { return ops::layer_normalization(in[0], in[1], {}, {.axis = 0, .rms_scaling = true}); }, {normal({3, 4}), normal({3}, 2)}},
      {"ops::rms_normalization", [](In in) { return ops::rms_normalization(in[0], in[1]); }, {normal({3, 4}), normal({4}, 2)}},
      {"ops::dot_product_attention", [](In in) { return ops::dot_product_attention(in[0], in[1], in[2], {.is_causal = true}); }, {query, key, value}},
      {"ops::dot_product_attention", [](In in) { return ops::dot_product_attention(in[0], in[1], in[2], {.bias = in[3], .attn_logits_soft_cap = 2}); }, {query, key, value, normal({3, 3})}},
      {"ops::categorical_crossentropy", of2([](const Tensor& t, const Tensor& o) { return ops::categorical_crossentropy(t, o); }), {random_probabilities({2, 3}), random_probabilities({2, 3})}},
      {"ops::sparse_categorical_crossentropy", [](In in) { return ops::sparse_categorical_crossentropy(ints({1, 2}), in[0], true); }, {normal({2, 3})}},
      {"ops::sparse_categorical_crossentropy", [](In in) { return ops::sparse_categorical_crossentropy(ints({1, 2}), in[0]); }, {random_probabilities({2, 3})}},
      {"ops::binary_crossentropy", of2([](const Tensor& t, const Tensor& o) { return ops::binary_crossentropy(t, o, true); }), {random_probabilities({2, 3}), normal({2, 3})}},
      {"ops::ctc_loss", [](In in) { return ops::ctc_loss(ints({{1, 2}, {2, 2}}), in[0], ints({2, 2}), ints({4, 3})); }, {normal({2, 4, 3})}},
      {"ops::depth_to_space", [](In in) { return ops::depth_to_space(in[0], 2); }, {normal({1, 2, 3, 8})}},
      {"ops::space_to_depth", [](In in) { return ops::space_to_depth(in[0], 2, "channels_first"); }, {normal({1, 2, 4, 2})}},
      {"ops::polar", of2([](const Tensor& r, const Tensor& phi) { return ops::polar(r, phi).imag; }), {normal({3}), normal({3}, 2)}},
      {"ops::psnr", of2([](const Tensor& x, const Tensor& y) { return ops::psnr(x, y, 1); }), {normal({3}), normal({3}, 2)}},
      {"ops::unfold", [](In in) { return ops::unfold(in[0], 2, {.padding = 1, .stride = 2}); }, {normal({1, 2, 4, 5})}},
      {"ops::fold", [](In in) { return ops::fold(in[0], {4, 5}, 2); }, {normal({1, 8, 12})}},
      {"ops::segment_sum", [=](In in) { return ops::segment_sum(in[0], ids, 3); }, {normal({5, 2})}},
      {"ops::segment_prod", [=](In in) { return ops::segment_prod(in[0], ids, 3); }, {doubles({{1., 2.}, {2., -1.}, {0., 3.}, {3., 1.}, {0., 0.5}})}},
      {"ops::segment_max", [=](In in) { return ops::segment_max(in[0], ids, 2); }, {normal({5, 2})}},
      {"ops::segment_min", [=](In in) { return ops::segment_min(in[0], ids, 2); }, {normal({5, 2})}},
      {"ops::extract_sequences", [](In in) { return ops::extract_sequences(in[0], 3, 2); }, {normal({2, 7})}},
      {"ops::ctc_decode", no_gradient},
  };
});
// clang-format on

}  // namespace
