// Detects anomalies in a heartbeat-like signal without labels: an autoencoder learns to reconstruct windows
// of normal beats, and reconstructs other windows worse.
// Expect an area under the ROC curve of 0.94 for four kinds of anomalies.
// Try next: an LSTM in place of the convolutions; the largest error of a window as its score; some anomalies
// among the training windows. `--out FOLDER` draws an anomaly and its reconstruction.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::Tensor;

/// A window has 64 values, about two beats.
static constexpr std::int64_t window = 64;

/// Returns noisy windows of a periodic beat, (n, 64, 1), of random phase and slightly varying speed.
/// Anomalous windows have a bump, miss the peak, beat twice as fast or are flat for a while.
static Tensor beats(std::int64_t n, bool in_order, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> noise(0, 0.05);
  const auto peak = [](double x, double at, double width) {
    return std::exp(-std::pow((x - at) / width, 2));
  };

  // A beat is a sum of bell curves over the phase x from 0 to 1: a high peak, a small wave on either side,
  // a dip. Each of the four disorders changes 0.3 of the window or less.
  Tensor windows = Tensor::empty({n, window, 1}, "float32");
  auto values = ktape::view<float>(windows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const int disorder = in_order ? -1 : static_cast<int>(i % 4);
    const double phase = uniform(random), length = 30 * (0.9 + 0.2 * uniform(random)),
                 at = 0.2 + 0.5 * uniform(random);
    for (std::size_t t = 0; t < window; ++t) {
      const double place = static_cast<double>(t) / window;
      const bool here = place > at && place < at + 0.3;
      const double speed = disorder == 2 && here ? 2 : 1;
      const double x = std::fmod(phase + speed * static_cast<double>(t) / length, 1);
      double y = (disorder == 1 && here ? 0 : 1) * peak(x, 0.4, 0.04) + 0.25 * peak(x, 0.2, 0.06) +
                 0.35 * peak(x, 0.7, 0.08) - 0.2 * peak(x, 0.48, 0.03);
      if (disorder == 0) y += 0.6 * peak(place, at, 0.05);
      if (disorder == 3 && here) y = 0.3;
      values(i, t, 0) = static_cast<float>(y + noise(random));
    }
  }
  return windows;
}

/// Returns the autoencoder: strides of 2 halve 64 values to 32 and 16, the bottleneck has eight units, and
/// transposed convolutions go back. Phase, speed and little more fit through eight numbers, so only windows
/// like those of the training can be rebuilt.
static nn::Sequential rebuilder() {
  return nn::Sequential({
      nn::Input({window, 1}),
      nn::Conv1D(16, 7, {.strides = 2, .padding = "same", .activation = "relu"}),
      nn::Conv1D(16, 7, {.strides = 2, .padding = "same", .activation = "relu"}),
      nn::Flatten(),
      nn::Dense(8),
      nn::Dense(16 * 16, {.activation = "relu"}),
      nn::Reshape({16, 16}),
      nn::Conv1DTranspose(16, 7, {.strides = 2, .padding = "same", .activation = "relu"}),
      nn::Conv1DTranspose(1, 7, {.strides = 2, .padding = "same", .dtype = "float32"}),
  });
}

/// Trains on normal windows alone: anomalies are rare and of unknown kinds, so labels for them rarely
/// exist.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 40, .quick_epochs = 12});
  K::set_random_seed(run.seed);

  // Input and target are the same windows. The last tenth is for validation; a growing gap between the
  // losses would tell of learning by heart.
  const Tensor ordinary = beats(2000, true, run.seed);

  const nn::Sequential model = rebuilder();
  model.compile({.optimizer = nn::Adam(0.003), .loss = "mse"});
  model.fit(ordinary, ordinary,
            {.batch_size = 64, .epochs = run.epochs, .verbose = 2, .validation_split = 0.1});

  // The score of a window is its reconstruction error. A threshold would depend on the costs of alarms; the
  // area under the ROC curve judges all thresholds at once. AUC expects scores in 0..1, hence the division
  // by the maximum.
  const Tensor normal = beats(500, true, run.seed + 1), strange = beats(500, false, run.seed + 2);
  const Tensor windows = K::concatenate({normal, strange}, 0),
               rebuilt = model.predict(windows, {.verbose = 0});
  const Tensor scores = K::mean(K::square(windows - rebuilt), {1, 2});
  const Tensor is_strange = K::concatenate({K::zeros({500}), K::ones({500})}, 0);
  const double area = nn::AUC({.num_thresholds = 500})(is_strange, scores / K::max(scores)).item();

  // Window 502 is the third anomaly, a beat that is too fast. The histogram shows how well the errors of
  // both kinds separate.
  if (!run.out.empty()) {
    plot::lines({{"out of order", windows[{502}]}, {"rebuilt", rebuilt[{502}]}},
                {.title = "A beat that is too fast", .x = {.label = "time"}})
        .save(run.out + "/window.svg");
    plot::histogram(
        scores,
        {.bins = 60, .title = "Errors of all windows", .x = {.label = "mean squared error", .log = true}})
        .save(run.out + "/scores.svg");
  }

  // 0.5 would be guessing; 1 would be a score that separates both kinds completely.
  const double expected = run.quick ? 0.85 : 0.94;
  std::printf("area under the ROC curve: %.4f (expected: %.2f or more)\n", area, expected);
  return area >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "anomaly: %s\n", error.what());
  return 1;
}
