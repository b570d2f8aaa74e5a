#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/losses/reduction.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;

namespace {

/// Targets of 0, so that the values of MeanAbsoluteError are the predictions: (3, 3), as many samples as steps.
const std::vector<std::vector<float>> steps{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}},
    kept{{1, 1, 0}, {1, 0, 0}, {1, 1, 1}};
const std::vector<float> of_samples{1, 10, 100};

Tensor predictions() { return K::expand_dims(K::constant(steps)); }
Tensor targets() { return K::zeros({3, 3, 1}); }

double sum_of_products() {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) sum += steps[i][j] * kept[i][j] * of_samples[i];
  return sum;
}

double loss_of(const Tensor& weights, const char* reduction = "sum") {
  return nn::MeanAbsoluteError({.reduction = reduction})(
             targets(), predictions(), {.sample_weight = weights, .mask = K::cast(K::constant(kept), "bool")})
      .item<double>();
}

}  // namespace

TEST_CASE("reductions have Keras's names, of any version") {
  const auto name = [](const nn::Reduction& reduction) { return reduction.to_value().string(); };
  CHECK(name("sum_over_batch_size") == "sum_over_batch_size");
  for (const char* mean : {"mean", "auto"}) CHECK(name(mean) == "sum_over_batch_size");
  for (const char* known : {"sum", "none", "mean_with_sample_weight"}) CHECK(name(known) == known);
  CHECK(name(ktape::None) == "none");
  CHECK(name(nn::Reduction(nn::Value())) == "none");
  CHECK_THROWS_WITH_AS(nn::Reduction("average"),
                       "[Loss] the reduction must be 'sum_over_batch_size', 'sum', 'mean', "
                       "'mean_with_sample_weight' or 'none': received reduction='average'",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::Reduction(nn::Value(1)), "[Loss] reduction must be a string: received 1",
                       TypeError);
}

TEST_CASE("values are summed, averaged, averaged by weight, or kept") {
  const Tensor x = doubles({1, 2, 6}), w = doubles({1, 0, 3});
  const auto reduced = [&](const char* reduction, const Tensor& weights, const Tensor& mask = {}) {
    return values(nn::reduce_values("loss", x, weights, mask, reduction));
  };
  CHECK(reduced("sum", {}) == Values{9});
  CHECK(reduced("mean", {}) == Values{3});
  CHECK(reduced("none", {}) == Values{1, 2, 6});
  CHECK(reduced("mean_with_sample_weight", {}) == Values{3});
  CHECK(reduced("sum", w) == Values{19});
  CHECK(close(reduced("mean", w), Values{19. / 3}));
  CHECK(reduced("none", w) == Values{1, 0, 18});
  CHECK(reduced("mean_with_sample_weight", w) == Values{19. / 4});
  const Tensor mask = K::constant({1, 1, 0}, {.dtype = "bool"});
  CHECK(reduced("sum", w, mask) == Values{1});
  CHECK(reduced("mean", w, mask) == Values{0.5});
  CHECK(reduced("mean", {}, mask) == Values{1.5});
  CHECK(reduced("mean_with_sample_weight", w, mask) == Values{1});
}

TEST_CASE("weights of 0, and masks that hide all values, give 0") {
  const Tensor x = doubles({1, 2}), nothing = doubles({0, 0});
  for (const char* reduction : {"sum", "mean", "mean_with_sample_weight"}) {
    CAPTURE(reduction);
    CHECK(values(nn::reduce_values("loss", x, nothing, {}, reduction)) == Values{0});
    CHECK(values(nn::reduce_values("loss", x, {}, nothing, reduction)) == Values{0});
    CHECK(values(slope([&](const Tensor& v) { return nn::reduce_values("loss", v, {}, nothing, reduction); },
                       x)) == Values{0, 0});
  }
}

TEST_CASE("a scalar value takes a scalar weight") {
  CHECK(values(nn::reduce_values("loss", doubles(3), doubles(2), {}, "mean")) == Values{6});
  CHECK(nn::reduce_values("loss", doubles(3), {}, {}, "sum").shape() == Shape{});
}

TEST_CASE("a loss with a mask in a graph has its value for a batch of unknown size, too") {
  const Tensor t = K::placeholder({ktape::None, 2}), p = K::placeholder({ktape::None, 2}),
               m = K::placeholder({.shape = {ktape::None}, .dtype = "bool"});
  const Tensor y = K::zeros({3, 2}), x = normal({3, 2}, 1, "float32"),
               mask = K::constant({1, 0, 1}, {.dtype = "bool"});
  for (const char* reduction : {"sum", "mean", "mean_with_sample_weight", "none"}) {
    CAPTURE(reduction);
    const nn::MeanAbsoluteError loss({.reduction = reduction});
    CHECK(values(K::function({t, p, m}, {loss(t, p, {.mask = m})})({y, x, mask})[0]) ==
          values(loss(y, x, {.mask = mask})));
  }
}

TEST_CASE("reductions have gradients to values and weights") {
  for (const char* reduction : {"sum", "mean", "mean_with_sample_weight", "none"})
    check_gradients(reduction, [&](In in) { return nn::reduce_values("loss", in[0], in[1], {}, reduction); },
                    {normal({3, 2}), doubles({0.5, 1, 2})});
}

TEST_CASE("a last axis of extent 1 is added or removed if the ranks differ by one") {
  const auto shapes = [](const Shape& x, const Shape& y) {
    const nn::SameRank both = nn::to_same_rank(K::ones(x), K::ones(y));
    return std::pair{both.x.shape(), both.y.shape()};
  };
  CHECK(shapes({4, 1}, {4}) == std::pair{Shape{4, 1}, Shape{4, 1}});
  CHECK(shapes({4}, {4, 1}) == std::pair{Shape{4, 1}, Shape{4, 1}});
  CHECK(shapes({4, 3, 1}, {4, 3}) == std::pair{Shape{4, 3}, Shape{4, 3}});
  CHECK(shapes({4, 3}, {4, 3, 1}) == std::pair{Shape{4, 3}, Shape{4, 3}});
  CHECK(shapes({4, 2}, {4}) == std::pair{Shape{4, 2}, Shape{4}});
  CHECK(shapes({4, 1, 1}, {4}) == std::pair{Shape{4, 1, 1}, Shape{4}});
}

TEST_CASE("targets take the dtype of predictions") {
  const nn::SameRank both = nn::like_predictions("loss", ints({1, 2}), doubles({{0.5}, {1}}));
  CHECK(both.x.dtype() == "float64");
  CHECK(both.x.shape() == Shape{2, 1});
  CHECK_THROWS_WITH_AS(nn::like_predictions("loss", K::ones({2, 1}), K::ones({2, 2})),
                       "[loss] y_true and y_pred must have one shape: received y_true=(2, 1), y_pred=(2, 2)",
                       ValueError);
}

// Weights and masks together: each stands along the first axes of the values, whatever the other's shape is.

TEST_CASE("a weight for each sample stands along the samples, also where there are as many steps") {
  const Tensor weights = K::constant(of_samples);
  CHECK(loss_of(weights) == doctest::Approx(sum_of_products()));
  CHECK(loss_of(K::expand_dims(weights)) == doctest::Approx(sum_of_products()));
  const Tensor of_steps = K::expand_dims(weights) * K::ones({3, 3});
  CHECK(loss_of(of_steps) == doctest::Approx(sum_of_products()));
  CHECK(loss_of(K::expand_dims(of_steps)) == doctest::Approx(sum_of_products()));
  // The mean is over the six values that the mask keeps.
  CHECK(loss_of(weights, "mean") == doctest::Approx(sum_of_products() / 6));
}

TEST_CASE("a mask for each sample meets weights for each step") {
  const Tensor of_steps = K::constant(kept), of_sample = K::cast(K::constant({1, 0, 1}), "bool");
  const double sum = nn::MeanAbsoluteError({.reduction = "sum"})(
                         targets(), predictions(), {.sample_weight = of_steps, .mask = of_sample})
                         .item<double>();
  CHECK(sum == doctest::Approx(1 + 2 + 7 + 8 + 9));
}

TEST_CASE("metrics weigh as losses do") {
  nn::Mean metric;
  metric.update_state(K::constant(steps),
                      {.sample_weight = K::constant(of_samples), .mask = K::cast(K::constant(kept), "bool")});
  CHECK(metric.result().item<double>() == doctest::Approx(sum_of_products() / (2 * 1 + 1 * 10 + 3 * 100)));
  metric.reset_state();
  metric.update_state(K::constant(steps),
                      {.sample_weight = K::constant(kept), .mask = K::cast(K::constant({1, 0, 1}), "bool")});
  CHECK(metric.result().item<double>() == doctest::Approx((1 + 2 + 7 + 8 + 9) / 5.));
}

TEST_CASE("fit and evaluate weigh masked steps by sample") {
  const Tensor x = K::expand_dims(K::constant(steps));
  const nn::Sequential model(
      {nn::Input({3, 1}), nn::Masking(5), nn::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = nn::SGD(0.), .loss = nn::MeanAbsoluteError({.reduction = "sum"})});
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) sum += steps[i][j] == 5 ? 0 : steps[i][j] * of_samples[i];
  const nn::FitOptions options{
      .batch_size = 3, .epochs = 1, .verbose = 0, .sample_weight = K::constant(of_samples)};
  CHECK(model.fit(x, targets(), options)["loss"][0] == doctest::Approx(sum));
}

TEST_CASE("weights and masks that do not align are refused by the loss's name") {
  CHECK_THROWS_WITH_AS(
      loss_of(K::ones({2})),
      "[mean_absolute_error] the sample_weight must have the shape of the values, or their first "
      "axes: received sample_weight=(2,), values=(3, 3)",
      ValueError);
  CHECK_THROWS_WITH_AS(nn::MeanSquaredError()(K::zeros({4, 2}), K::ones({4, 2}), {.mask = K::ones({4, 3})}),
                       "[mean_squared_error] the mask must have the shape of the values, or their first "
                       "axes: received mask=(4, 3), "
                       "values=(4,)",
                       ValueError);
}

TEST_CASE("targets and predictions of shapes that merely broadcast are refused") {
  const Tensor column = K::ones({4, 1}), pair = K::ones({4, 2});
  for (const char* name : {"mse", "mae", "mape", "msle", "log_cosh", "huber", "cosine_similarity", "hinge",
                           "squared_hinge", "categorical_hinge", "kl_divergence", "poisson",
                           "binary_crossentropy", "binary_focal_crossentropy", "dice", "tversky"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(
        nn::Loss{name}(column, pair),
        Contains("] y_true and y_pred must have one shape: received y_true=(4, 1), y_pred=(4, 2)"),
        ValueError);
  }
}

TEST_CASE("errors within a loss name the loss and both shapes") {
  const nn::Loss loss([](const Tensor& y_true, const Tensor& y_pred) { return y_true * y_pred; });
  CHECK_THROWS_WITH_AS(loss(K::ones({4, 3}), K::ones({4, 2})),
                       Contains("(in loss 'function', of y_true=(4, 3), y_pred=(4, 2))"), ValueError);
}
