// Monte Carlo dropout (Gal and Ghahramani): with dropout in prediction, each prediction is that of a random
// subnetwork, and the spread of many predictions measures the uncertainty. The data have a gap.
// Expect a spread at least 3 times as large in the gap and beyond the data as among the data.
// One seed gives one result, with any number of threads.
// Try next: no dropout; a rate of 0.5; an ensemble of ten separately trained networks, and the spread of
// their predictions. `--out FOLDER` draws the prediction with its uncertainty.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::Tensor;

/// Returns the function that the data follow.
static Tensor truth(const Tensor& x) { return K::sin(2.f * x) + 0.3f * x; }

/// Returns the network x -> y. Each dropout makes a random subnetwork; subnetworks agree where data held
/// them together, and differ where nothing did.
static nn::Sequential curve() {
  return nn::Sequential({
      nn::Input({1}),
      nn::Dense(128, {.activation = "relu"}),
      nn::Dropout(0.1),
      nn::Dense(128, {.activation = "relu"}),
      nn::Dropout(0.1),
      nn::Dense(1, {.dtype = "float32"}),
  });
}

/// Trains an ordinary regression, and then predicts with dropout switched on.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 400, .quick_epochs = 100});
  K::set_random_seed(run.seed);

  // Points from -3 to -1 and from 1 to 3, with a little noise: no data in the gap between -1 and 1.
  const Tensor side = 2.f * K::cast(K::random_uniform({400, 1}) < 0.5f, "float32") - 1.f;
  const Tensor x = side * K::random_uniform({400, 1}, {.minval = 1, .maxval = 3});
  const Tensor y = truth(x) + 0.1f * K::random_normal({400, 1});

  // Nothing of the training is Bayesian: dropout and squared error are enough.
  const nn::Sequential model = curve();
  model.compile({.optimizer = nn::Adam(0.003), .loss = "mse"});
  model.fit(x, y, {.batch_size = 100, .epochs = run.epochs, .verbose = 0});

  // 200 predictions, each with a new random dropout: `{.training = true}` is Keras's `model(x,
  // training=True)`. `predict` would switch dropout off and give the same curve each time. The spread is
  // the standard deviation over the predictions at each x.
  const Tensor line = K::reshape(K::arange(-4.5f, 4.5f, 0.05f), {-1, 1});
  std::vector<Tensor> drawn;
  {
    const ktape::NoGrad off;
    for (int i = 0; i < 200; ++i) drawn.push_back(K::squeeze(model(line, {.training = true}), -1));
  }
  const Tensor mean = K::mean(K::stack(drawn), 0), spread = K::std(K::stack(drawn), 0);

  // Masks of 0 and 1 choose the places among the data and apart from them; the mean over a mask is
  // sum(value * mask) / sum(mask).
  const Tensor distance = K::abs(K::squeeze(line, -1));
  const Tensor among = K::cast((distance > 1.2f) & (distance < 2.8f), "float32");
  const Tensor apart = K::cast((distance < 0.5f) | (distance > 3.5f), "float32");
  const double known = (K::sum(spread * among) / K::sum(among)).item();
  const double unknown = (K::sum(spread * apart) / K::sum(apart)).item();
  const double error = (K::sum(K::abs(mean - truth(K::squeeze(line, -1))) * among) / K::sum(among)).item();

  // The mean curve in a band of two spreads, with the borders of the data as vertical lines.
  if (!run.out.empty())
    plot::lines({{.name = "prediction ± 2 spreads", .y = mean, .x = line, .error = 2.f * spread},
                 {.name = "truth", .y = truth(line), .x = line, .line = "dashed", .marker = "none"}},
                {.title = "Data from -3 to -1 and from 1 to 3",
                 .x = {.label = "x"},
                 .y = {.label = "y"},
                 .vertical = {{-3}, {-1}, {1}, {3}}})
        .save(run.out + "/uncertainty.svg");

  // The factor compares spreads, not errors: a spread is known even where the truth is not. Its size
  // depends on the rate of dropout, so only comparisons are safe.
  const double factor = unknown / known, expected = run.quick ? 1.5 : 3;
  std::printf("mean error among the data: %.3f\n", error);
  std::printf("spread: %.3f among the data, %.3f apart from them\n", known, unknown);
  std::printf("less sure by a factor of %.2f (expected: %.1f or more)\n", factor, expected);
  return factor >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bayes_dropout: %s\n", error.what());
  return 1;
}
