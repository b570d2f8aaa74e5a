// A training that launch_test.cpp starts, stops and breaks:
//
//     mpirun -n 2 distributed_worker train OUT.npz FOLDER EPOCHS      with a backup in the folder
//     mpirun -n 2 distributed_worker throw | caught | leave | lag | mismatch RANK
//     mpirun -n 2 distributed_worker endless                         prints the numbers of its processes
//
// The batches of all processes together have 32 samples.
#include <ktape/ktape.hpp>
#include <ktape/nn/distributed/distributed.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace distributed = ktape::nn::distributed;

namespace {

/// Calls a function before a batch.
struct BeforeImpl : nn::CallbackImpl {
  std::int64_t batch;
  std::function<void()> f;
  BeforeImpl(std::int64_t batch, std::function<void()> f) : batch(batch), f(std::move(f)) {}
  void on_train_batch_begin(std::int64_t now, const nn::Logs&) override {
    if (now == batch) f();
  }
};
using Before = nn::CallbackOf<BeforeImpl>;

nn::Sequential model_of(int units) {
  const nn::Sequential model(
      {nn::Input({12}), nn::Dense(units, {.activation = "tanh", .name = "hidden"}), nn::Dense(1)});
  model.compile({.optimizer = distributed::Optimizer(nn::Adam(0.01)), .loss = "mse"});
  return model;
}

void fit(const nn::Sequential& model, int epochs, const std::vector<nn::Callback>& callbacks) {
  const std::int64_t samples = 301;  // a last batch of 13
  const ktape::Tensor x = K::random_normal({samples, 12}, {.seed = 1}),
                      y = K::random_normal({samples, 1}, {.seed = 2});
  model.fit(x, y,
            {.batch_size = 32 / distributed::size(), .epochs = epochs, .verbose = 0, .callbacks = callbacks});
}

int train(const std::string& out, const std::string& folder, int epochs) {
  std::vector<nn::Callback> callbacks{
      nn::BackupAndRestore(folder, {.save_freq = 7, .delete_checkpoint = false})};
  const char* dies = std::getenv("DIES_BEFORE");  // a batch of the second epoch
  int epoch = 0;
  if (dies && distributed::first())
    callbacks.push_back(Before(std::atoi(dies), [&epoch] {
      if (++epoch == 2) _exit(3);
    }));
  const nn::Sequential model = model_of(24);
  fit(model, epochs, callbacks);
  if (distributed::first()) model.save_weights(out);
  return 0;
}

/// Lets one process fail before its fourth batch, in the given way.
int fail_in_process(const std::string& how, int who) {
  const bool wrong = distributed::rank() == who;
  const nn::Sequential model = model_of(wrong && how == "mismatch" ? 25 : 24);
  const Before before(3, [&] {
    if (!wrong) return;
    if (how == "throw") throw std::runtime_error("the disk is on fire");
    if (how == "leave") std::exit(0);
    if (how == "lag") std::this_thread::sleep_for(std::chrono::seconds(30));
  });
  fit(model, 5, {before});
  if (how == "uncaught" && wrong) throw std::runtime_error("nobody caught this");
  distributed::barrier();
  return 0;
}

int endless() {
  distributed::init();
  std::printf("process %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  const nn::Sequential model = model_of(24);
  fit(model, 1 << 20, {});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "endless") return endless();
  distributed::init({.timeout = how == "lag" ? 2. : 120.});
  K::set_random_seed(9);
  if (how == "train" && argc > 4) return train(argv[2], argv[3], std::atoi(argv[4]));
  return argc > 2 ? fail_in_process(how, std::atoi(argv[2])) : 2;
}
