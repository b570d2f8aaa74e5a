// Measures the samples a second that several processes train on together. Usage: mpirun -n 2
// ktape_bench_distributed [seconds [workload ...]] Prints, for each workload: name, processes, samples a
// second, samples a second of CPU time of one process, bytes a step, share of the time of sending that was
// hidden.
#include <ktape/ktape.hpp>
#include <ktape/nn/distributed/distributed.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <vector>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace distributed = ktape::nn::distributed;
using ktape::Tensor;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_of_run = 5;
std::set<std::string> wanted;  ///< all, where it is empty

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Returns one layer of a transformer's encoder.
Tensor encoded(const Tensor& x) {
  const Tensor attended = nn::MultiHeadAttention(4, 32)({x, x});
  const Tensor h = nn::LayerNormalization()(nn::Add()({x, attended}));
  const Tensor f = nn::Dense(128)(nn::Dense(512, {.activation = "gelu"})(h));
  return nn::LayerNormalization()(nn::Add()({h, f}));
}

/// Returns the number that rank 0 has.
double of_first(double number) { return distributed::broadcast(K::constant(number)).item<double>(); }

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

void report(const char* name, const nn::Model& model, const Tensor& x, const Tensor& y,
            const nn::Loss& loss) {
  if (!wanted.empty() && !wanted.contains(name)) return;
  model.compile({.optimizer = distributed::Optimizer(nn::Adam()), .loss = loss});
  distributed::broadcast(model.weights());
  const auto seconds_of = [&](int steps) {
    distributed::barrier();
    const Clock::time_point began = Clock::now();
    for (int step = 0; step < steps; ++step) model.train_on_batch(x, y);
    return seconds_since(began);
  };
  seconds_of(3);
  // Rounds of about 50 ms. Other programs disturb some rounds, so the median is reported.
  const int steps = std::max(1, static_cast<int>(0.05 * 3 / of_first(seconds_of(3))));
  const distributed::Traffic before = distributed::traffic();
  const Clock::time_point began = Clock::now();
  const double cpu = cpu_seconds();
  std::vector<double> rounds;
  do rounds.push_back(seconds_of(steps));
  while (of_first(seconds_since(began)) < seconds_of_run);
  const double cpu_seconds_of_step = (cpu_seconds() - cpu) / static_cast<double>(rounds.size()) / steps;
  const distributed::Traffic after = distributed::traffic();
  const distributed::Traffic sent{after.bytes - before.bytes, after.seconds - before.seconds,
                                  after.waited - before.waited};
  const auto samples = static_cast<double>(x.shape()[0]);
  if (distributed::first())
    std::printf("%-12s %d %10.1f %10.1f %12lld %6.2f\n", name, distributed::size(),
                samples * distributed::size() * steps / median(rounds), samples / cpu_seconds_of_step,
                static_cast<long long>(sent.bytes / std::ssize(rounds) / steps), sent.hidden());
  std::fflush(stdout);
}

Tensor labels(std::int64_t samples) {
  return K::random_uniform({samples}, {.minval = 0, .maxval = 10, .dtype = "int32"});
}

}  // namespace

int main(int argc, char** argv) {
  distributed::init();
  if (argc > 1) seconds_of_run = std::atof(argv[1]);
  for (int i = 2; i < argc; ++i) wanted.insert(argv[i]);
  const nn::Loss classes = nn::SparseCategoricalCrossentropy({.from_logits = true});
  const nn::Sequential mlp({nn::Input({784}), nn::Dense(512, {.activation = "relu"}),
                            nn::Dense(512, {.activation = "relu"}), nn::Dense(10)});
  report("mlp", mlp, K::random_normal({128, 784}), labels(128), classes);

  const nn::Sequential cnn({nn::Input({28, 28, 1}), nn::Conv2D(32, 3, {.activation = "relu"}),
                            nn::Conv2D(64, 3, {.activation = "relu"}), nn::MaxPooling2D(2), nn::Flatten(),
                            nn::Dense(128, {.activation = "relu"}), nn::Dense(10)});
  report("cnn", cnn, K::random_normal({64, 28, 28, 1}), labels(64), classes);

  const Tensor in = nn::Input({128, 128});
  const nn::Model transformer(in, encoded(encoded(in)));
  const Tensor x = K::random_normal({16, 128, 128});
  report("transformer", transformer, x, x, "mse");
}
