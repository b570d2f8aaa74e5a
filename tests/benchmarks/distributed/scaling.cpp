// Estimates the cost of a step when P processes share the samples; SCALING.md explains the model. Usage:
// ktape_bench_scaling [latency in microseconds] [bandwidth in GB/s] [speedup] The time of a step is the CPU
// time of one thread, divided by the speedup that a process has over it.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

namespace {

struct Network {
  double latency, bandwidth;  ///< seconds, bytes a second
};

/// Returns the seconds of a ring: each process sends 1/P of the bytes to its neighbour, P - 1 times for the
/// sums and P - 1 times for the results.
double ring(double bytes, int processes, const Network& network) {
  const double p = processes;
  return 2 * (p - 1) * (network.latency + bytes / p / network.bandwidth);
}
/// Returns the seconds in which all bytes go up a binary tree, and down again.
double tree(double bytes, int processes, const Network& network) {
  return 2 * std::ceil(std::log2(processes)) * (network.latency + bytes / network.bandwidth);
}

struct Workload {
  const char* name;
  std::int64_t batch;
  double seconds, bytes;
};

/// Returns the seconds of a step. Gradients are sent during the backward pass, two thirds of the step; longer
/// sending adds to the step.
double step_seconds(double compute, double sending) {
  return compute + std::max(0., sending - compute * 2 / 3);
}

void print(const Workload& work, const Network& network) {
  std::printf("\n%s: batches of %lld a process, %.3f s of computation, %.1f MB of gradients\n\n", work.name,
              static_cast<long long>(work.batch), work.seconds, work.bytes / 1e6);
  std::printf(
      "| processes | ring (s) | tree (s) | step (s) | efficiency | samples a second "
      "|\n|---|---|---|---|---|---|\n");
  for (int p = 2; p <= 1024; p *= 2) {
    const double by_ring = ring(work.bytes, p, network), by_tree = tree(work.bytes, p, network);
    const double step = step_seconds(work.seconds, std::min(by_ring, by_tree));
    std::printf("| %d | %.4f | %.4f | %.4f | %.0f %% | %.0f |\n", p, by_ring, by_tree, step,
                100 * work.seconds / step, static_cast<double>(work.batch * p) / step);
  }
}

Tensor normalized(const Tensor& x, int filters, int size, int stride) {
  return nn::BatchNormalization()(
      nn::Conv2D(filters, size, {.strides = stride, .padding = "same", .use_bias = false})(x));
}

Tensor bottleneck(const Tensor& x, int filters, int stride) {
  const Tensor a = nn::ReLU()(normalized(x, filters, 1, stride));
  const Tensor b = nn::ReLU()(normalized(a, filters, 3, 1));
  const bool same = stride == 1 && x.shape()[-1] == 4 * filters;
  const Tensor shortcut = same ? x : normalized(x, 4 * filters, 1, stride);
  return nn::ReLU()(nn::Add()({normalized(b, 4 * filters, 1, 1), shortcut}));
}

nn::Model resnet50() {
  const Tensor in = nn::Input({224, 224, 3});
  Tensor h = nn::MaxPooling2D(3, {.strides = 2, .padding = "same"})(nn::ReLU()(normalized(in, 64, 7, 2)));
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int block = 0; block < blocks[stage]; ++block)
      h = bottleneck(h, 64 << stage, stage > 0 && block == 0 ? 2 : 1);
  return nn::Model(in, nn::Dense(1000)(nn::GlobalAveragePooling2D()(h)));
}

/// Returns a model of 12 layers of width 768 after a table of 20,000 words, and an output layer as large as
/// the table: 100 M parameters in the layers and the output layer.
nn::Model transformer() {
  const Tensor in = nn::Input({128}, {.dtype = "int32"});
  Tensor h = nn::Embedding(20000, 768)(in);
  for (int layer = 0; layer < 12; ++layer) {
    h = nn::LayerNormalization()(nn::Add()({h, nn::MultiHeadAttention(12, 64)({h, h})}));
    h = nn::LayerNormalization()(nn::Add()({h, nn::Dense(768)(nn::Dense(3072, {.activation = "gelu"})(h))}));
  }
  return nn::Model(in, nn::Dense(20000)(h));
}

/// Measures the least CPU time of a step on few samples, for a batch of `batch` samples, and the bytes of the
/// gradients that are not sent as rows.
Workload measured(const char* name, const nn::Model& model, std::int64_t batch, const Tensor& x,
                  const Tensor& y, double speedup) {
  model.compile(
      {.optimizer = nn::SGD(1e-3), .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  double least = INFINITY;
  for (int step = 0; step < 3; ++step) {
    const std::clock_t began = std::clock();
    model.train_on_batch(x, y);
    least = std::min(least, static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC);
  }
  double bytes = 0;
  for (const ktape::Variable& weight : model.trainable_weights())
    if (weight.name().find("embeddings") == std::string::npos)
      bytes += 4. * static_cast<double>(weight.size());
  const double parts = static_cast<double>(batch) / static_cast<double>(x.shape()[0]);
  return {name, batch, least * parts / speedup, bytes};
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
  const Network network{argument(1, 20) * 1e-6, argument(2, 3) * 1e9};
  const double speedup = argument(3, 1);
  std::printf("latency %g us, bandwidth %g GB/s, a process %g times as fast as one thread here\n",
              network.latency * 1e6, network.bandwidth / 1e9, speedup);
  const auto labels = [](const ktape::Shape& shape, int classes) {
    return K::random_uniform(shape, {.minval = 0, .maxval = classes, .dtype = "int32"});
  };
  print(measured("ResNet-50", resnet50(), 32, K::random_normal({4, 224, 224, 3}), labels({4}, 1000), speedup),
        network);
  std::fflush(stdout);
  print(measured("Transformer", transformer(), 8, labels({2, 128}, 20000), labels({2, 128}, 20000), speedup),
        network);
}
