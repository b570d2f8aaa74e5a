#include <doctest/doctest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ktape/ktape.hpp>
#include <optional>
#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

namespace {

/// Returns what f returned in a forked child; none for a child that had to be killed or crashed.
template <class F>
std::optional<bool> in_child(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  REQUIRE(child > 0);
  int status = 0;
  for (int i = 0; i < 3000; ++i) {
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? std::optional(WEXITSTATUS(status) == 0) : std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return std::nullopt;
}

struct TwoThreads {
  int before = omp_get_max_threads();
  TwoThreads() { omp_set_num_threads(2); }
  ~TwoThreads() { omp_set_num_threads(before); }
};

/// Returns the sum of the results of parallel loops, products, convolutions and their gradients.
double work() {
  const ktape::Variable w = K::variable(K::ones({300, 300}) * 0.01);
  const Tensor product = K::dot(K::dot(w, w), w);
  const Tensor image = K::conv2d(K::ones({8, 32, 32, 8}), K::ones({3, 3, 8, 8}));
  const Tensor sum = K::sum(K::exp(product)) + K::sum(K::sin(K::ones({1 << 20})));
  return sum.item<double>() + K::sum(K::gradients(sum, w)[0]).item<double>() + K::sum(image).item<double>();
}

}  // namespace

TEST_CASE("a forked child computes on, and so do its threads") {
  const TwoThreads two;
  const double before = work();
  const auto same = [before] { return std::abs(work() - before) < 1e-3 * std::abs(before); };
  CHECK(in_child(same) == true);
  CHECK(in_child([&] {
          bool found = false;
          std::thread([&] { found = same(); }).join();
          return found;
        }) == true);
  CHECK(in_child([&] { return in_child(same) == true; }) == true);
  CHECK(same());
}

TEST_CASE("a forked child trains a model that its parent has trained") {
  const TwoThreads two;
  nn::Sequential model({nn::Input({64}), nn::Dense(256, {.activation = "relu"}), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = K::ones({512, 64}), y = K::zeros({512, 1});
  model.fit(x, y, {.batch_size = 128, .verbose = 0});
  CHECK(in_child([&] {
          model.fit(x, y, {.batch_size = 128, .verbose = 0});
          return model.predict(x, {.verbose = 0}).shape() == ktape::Shape{512, 1};
        }) == true);
}
