// Learns handwritten digits with as many processes as mpirun starts. Only init(), the optimizer, the batch
// size per process and the output of the first process differ from a program for one process.
// Usage: mpirun -n 2 digits_distributed [digits.csv.gz] [epochs]
#include <ktape/ktape.hpp>
#include <ktape/nn/distributed/distributed.hpp>

#include <cstdio>
#include <cstdlib>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

int main(int argc, char** argv) try {
  nn::distributed::init();
  K::set_random_seed(1);
  // A row is 64 pixels of 0..16, then the class.
  const Tensor table = ktape::data::load_csv(argc > 1 ? argv[1] : "examples/data/digits.csv.gz");
  const Tensor x = K::reshape(K::slice(table, {0, 0}, {-1, 64}) / 16.f, {-1, 8, 8, 1});
  const Tensor y = K::cast(K::flatten(K::slice(table, {0, 64}, {-1, 1})), "int32");

  const nn::Sequential model({
      nn::Input({8, 8, 1}),
      nn::Conv2D(32, 3, {.activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dense(64, {.activation = "relu"}),
      nn::Dense(10, {.activation = "softmax"}),
  });
  model.compile({.optimizer = nn::distributed::Optimizer(nn::Adam(0.002)),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const nn::History history = model.fit(x, y,
                                        {.batch_size = 32 / nn::distributed::size(),
                                         .epochs = argc > 2 ? std::atoi(argv[2]) : 15,
                                         .verbose = 2,
                                         .validation_split = 0.2});
  if (nn::distributed::first())
    std::printf("accuracy on unseen digits, with %d processes: %.4f\n", nn::distributed::size(),
                history["val_accuracy"].back());
  return 0;
} catch (const ktape::Error& error) {
  std::fprintf(stderr, "digits_distributed: %s\n", error.what());
  return 1;
}
