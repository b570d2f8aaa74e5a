#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ktape.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

/// Threads that keep all processors busy.
class BusyThreads {
 public:
  BusyThreads() {
    for (unsigned i = 0; i < 3 * std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads_.emplace_back([this] {
        while (!ended_.load(std::memory_order_relaxed)) continue;
      });
  }
  ~BusyThreads() {
    ended_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> ended_{false};
  std::vector<std::thread> threads_;
};

/// Returns results of all kinds of kernels that divide their work among threads.
std::vector<Tensor> results() {
  const auto draw = [](const ktape::Shape& shape, int seed) { return normal(shape, seed, "float32"); };
  const Variable x(draw({6, 20, 20, 8}, 1)), filters(draw({3, 3, 8, 16}, 2)), matrix(draw({160, 300}, 3)),
      other(draw({300, 120}, 4)), depthwise(draw({3, 3, 8, 1}, 5)), gray(draw({16, 28, 28, 1}, 6)),
      first(draw({3, 3, 1, 8}, 7));
  std::vector<Tensor> all = {K::conv2d(x, filters),
                             K::dot(matrix, other),
                             K::relu(x),
                             K::softmax(x),
                             K::sum(x, {0, 1, 2}),
                             K::cumsum(x, 1),
                             K::permute_dimensions(x, {3, 1, 2, 0}),
                             K::pool2d(x, {2, 2})};
  const auto add_gradients = [&](const Tensor& y, const ktape::TensorList& inputs) {
    for (const Tensor& g : K::gradients(K::sum(K::square(y)), inputs)) all.push_back(g);
  };
  add_gradients(K::conv2d(x, filters), {x, filters});
  add_gradients(K::conv2d(gray, first), {gray, first});
  add_gradients(K::depthwise_conv2d(x, depthwise), {x, depthwise});
  add_gradients(K::dot(matrix, other), {matrix, other});
  return all;
}

}  // namespace

TEST_CASE("parallel_for: ranges cover every index once, and errors reach the caller") {
  for (const std::int64_t n : {0, 1, 63, 64, 1000, 100000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
    ktape::parallel_for(n, 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& count) { return count == 1; }));
  }
  CHECK_THROWS_AS(ktape::parallel_for(100000, 10, [](auto, auto) { throw ktape::ValueError("no"); }),
                  ktape::ValueError);
}

TEST_CASE("while the processors are contended, small work stays on one thread and gives equal bits") {
  const std::vector<Tensor> expected = results();
  {
    const BusyThreads busy;
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!ktape::processors_contended() && std::chrono::steady_clock::now() < late) continue;
    if (!ktape::processors_contended()) {
      MESSAGE("the system reports no waiting times: nothing is tested");
      return;
    }
    CHECK(ktape::team_size(1000, 100) == 1);
    CHECK(ktape::team_size(1000, 100, ktape::Team::Fixed) == std::min(omp_get_max_threads(), 10));
    CHECK(ktape::team_size(100 * ktape::team_patience + 100, 100) == omp_get_max_threads());
    const std::vector<Tensor> found = results();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(std::memcmp(found[i].raw(), expected[i].raw(), static_cast<std::size_t>(found[i].size()) * 4) ==
            0);
    }
  }
}
