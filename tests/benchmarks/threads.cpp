#include <ktape/ktape.hpp>
#include <thread>
#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;

/// A model small enough for its ops to run serially.
struct SmallModel {
  Dense d1{16, 32}, d2{32, 1};
  Adam adam{{d1.kernel, d1.bias, d2.kernel, d2.bias}};
  Tensor x = K::random_normal({8, 16}), y = K::random_normal({8, 1});
  void train(int steps) {
    for (int i = 0; i < steps; ++i) adam.minimize(K::mean(K::square(d2(K::tanh(d1(x))) - y)));
  }
};

/// Trains models at once, each in a thread: two take as long as one.
void train_in_threads(const char* name, std::size_t count) {
  std::vector<SmallModel> models(count);
  bench::report(name, [&] {
    std::vector<std::thread> threads;
    for (SmallModel& model : models) threads.emplace_back([&] { model.train(2000); });
    for (std::thread& thread : threads) thread.join();
  });
}

const bench::Group threads([] {
  train_in_threads("train_in_1_thread", 1);
  train_in_threads("train_in_2_threads", 2);
});

}  // namespace
