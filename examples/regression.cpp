// Linear regression in two ways: the closed form of least squares, and gradient descent on the squared error.
// Both must find equal weights, close to the weights that generated the data.
// Expect weights that differ by 0.001 at most.
// One seed gives one result, with any number of threads.
// Try next: a learning rate of 1, which is too large; nn::L2(0.1) as kernel_regularizer, and the closed form
// with 0.1 n on the diagonal; fewer samples than features.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::All, ktape::Slice, ktape::Tensor;

/// Solves A w = b for a positive definite A by Gauss-Jordan elimination: the rows of (A, b) are combined
/// until A has become the identity, and b the solution. A positive definite matrix needs no exchange of
/// rows, since every pivot is positive.
static Tensor solve(const Tensor& A, const Tensor& b) {
  Tensor rows = K::concatenate({A, b}, 1);
  const std::int64_t n = A.shape()[0];
  for (std::int64_t i = 0; i < n; ++i) {
    const Tensor pivot = rows[{Slice(i, i + 1)}] / rows.item(i, i);
    const Tensor unit = K::reshape(K::one_hot({i}, n), {n, 1});
    rows = rows - (rows[{All, Slice(i, i + 1)}] - unit) * pivot;
  }
  return rows[{All, Slice(n, n + 1)}];
}

/// Fits y = x w + b twice. Least squares has a closed form, so the exact optimum shows whether gradient
/// descent has converged.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 60, .quick_epochs = 60});
  K::set_random_seed(run.seed);

  // y = 3 a - 2 b + 0.5 c + 1 + noise, for 512 samples of three features. The weights of generated data are
  // known, so both solutions can be compared with the truth.
  const std::int64_t samples = 512;
  const Tensor x = K::random_normal({samples, 3});
  const Tensor truth = K::constant({{3.f}, {-2.f}, {0.5f}});
  const Tensor y = K::dot(x, truth) + 1.f + 0.3f * K::random_normal({samples, 1});

  // Closed form: (X'X) w = X'y, with a column of ones for the bias. X'X is 4 x 4, however many samples
  // there are, but a network with a hidden layer has no such equation.
  const Tensor X = K::concatenate({x, K::ones({samples, 1})}, 1);
  const Tensor closed = solve(K::dot(K::transpose(X), X), K::dot(K::transpose(X), y));

  // Gradient descent: one layer without activation, all samples in a batch. A full batch has no random
  // noise in its gradient, so the weights settle at the optimum itself. The copy of the layer in the model
  // shares its weights, so `layer` can be asked for them after the training.
  const nn::Dense layer(1, {.dtype = "float32"});
  nn::Sequential model({nn::Input({3}), layer});
  model.compile({.optimizer = nn::SGD(0.1), .loss = "mse", .metrics = {"mae"}});
  const nn::History history = model.fit(x, y, {.batch_size = samples, .epochs = run.epochs, .verbose = 0});
  const Tensor descended =
      K::concatenate({layer.get_weights()[0], K::expand_dims(layer.get_weights()[1])}, 0);

  // Both solutions miss the weights of the data by the same amount: the noise of 512 samples, not the
  // method, is the cause.
  std::printf("              a        b        c     bias\n");
  std::printf("made from   3.0000  -2.0000   0.5000   1.0000\n");
  for (const auto& [name, w] : {std::pair{"closed  ", closed}, std::pair{"descended", descended}})
    std::printf("%-9s %8.4f %8.4f %8.4f %8.4f\n", name, w.item(0, 0), w.item(1, 0), w.item(2, 0),
                w.item(3, 0));

  // On a logarithmic axis the loss falls steeply until the variance of the noise, 0.3^2, is all that is
  // left.
  if (!run.out.empty()) {
    plot::curves(history, "loss", {.title = "Gradient descent", .x = {.label = "epoch"}, .y = {.log = true}})
        .save(run.out + "/loss.svg");
    plot::scatter({{"samples", model.predict(x, {.verbose = 0}), y}},
                  {.title = "Predictions", .x = {.label = "y"}, .y = {.label = "predicted"}})
        .save(run.out + "/predictions.svg");
  }

  // Two bounds: the solutions must agree with each other closely, and with the truth as far as the noise
  // allows.
  const double difference = K::max(K::abs(closed - descended)).item(), expected = 0.001;
  const double error = K::max(K::abs(closed[{Slice(0, 3)}] - truth)).item();
  std::printf("largest difference to the weights of the data: %.4f\n", error);
  std::printf("largest difference of the two solutions: %.5f (expected: %.3f or less)\n", difference,
              expected);
  return difference <= expected && error < 0.1 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "regression: %s\n", error.what());
  return 1;
}
