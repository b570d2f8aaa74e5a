#include <doctest/doctest.h>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("blocks are aligned and reused") {
  for (std::size_t bytes : {0, 1, 64, 65, 1000, 33000, 5000000}) {
    CAPTURE(bytes);
    empty_cache();
    void* block = allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    std::memset(block, 1, bytes);
    deallocate(block, bytes);
    const MemoryStats before = memory_stats();
    void* again = allocate(bytes);
    CHECK(memory_stats().allocations == before.allocations + 1);
    CHECK(memory_stats().reused == before.reused + 1);
    deallocate(again, bytes);
  }
}

TEST_CASE("live and cached bytes follow allocation and release") {
  const MemoryStats before = memory_stats();
  {
    const Tensor t = Tensor::empty({1 << 20}, "float32");
    CHECK(memory_stats().live_bytes - before.live_bytes >= 4 << 20);
    CHECK(memory_stats().peak_bytes >= memory_stats().live_bytes);
  }
  CHECK(memory_stats().live_bytes == before.live_bytes);
  CHECK(memory_stats().cached_bytes > 0);
  empty_cache();
  CHECK(memory_stats().cached_bytes == 0);
}

TEST_CASE("without memory in the system, tensors, kernels and their threads throw") {
  constexpr std::size_t none = std::size_t{1} << 45;
  const std::int64_t before = memory_stats().live_bytes;
  CHECK_THROWS_WITH_AS(
      allocate(none),
      "[memory] a block of memory must fit in what the system has: received bytes=35184372088832",
      ValueError);
  CHECK_THROWS_AS(WorkVector<float>(none / 4), ValueError);
  CHECK_THROWS_AS(parallel_for(1 << 20, 1, [](std::int64_t, std::int64_t) { allocate(none); }), ValueError);
  CHECK_THROWS_WITH_AS(K::zeros({1 << 20, 1 << 20, 32}, {.dtype = "uint8"}),
                       "[zeros] the tensor must fit in memory: received shape=(1048576, 1048576, 32)",
                       ValueError);
  const Tensor x = K::zeros({1 << 23, 1}, {.dtype = "uint8"}), y = K::zeros({1 << 22}, {.dtype = "uint8"});
  CHECK_THROWS_WITH_AS(x + y, "[add] the tensor must fit in memory: received shape=(8388608, 4194304)",
                       ValueError);
  CHECK(memory_stats().live_bytes - before < 1 << 24);
}

TEST_CASE("memory released on another thread is counted and reused there") {
  const std::int64_t before = memory_stats().live_bytes;
  Tensor t = Tensor::empty({100}, "float32"), large = Tensor::empty({1 << 20}, "float32");
  std::thread([t = std::move(t), large = std::move(large)]() mutable {
    t = Tensor();
    large = Tensor();
  }).join();
  CHECK(memory_stats().live_bytes == before);
}

TEST_CASE("a repeated step takes no more memory from the system") {
  const auto step = [] {
    for (int blocks : {5, 1}) {  // five blocks of one size, then one of another
      std::vector<void*> live;
      const std::size_t bytes = blocks == 5 ? std::size_t{4} << 20 : std::size_t{5} << 20;
      for (int i = 0; i < blocks; ++i) live.push_back(allocate(bytes));
      for (void* block : live) deallocate(block, bytes);
    }
  };
  empty_cache();
  const auto from_system = [] { return memory_stats().allocations - memory_stats().reused; };
  step();
  const std::int64_t first = from_system();
  for (int i = 0; i < 10; ++i) step();
  CHECK(from_system() == first);
}

TEST_CASE("blocks of sizes that are no longer in use make room, not those of the step") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const auto use = [](std::initializer_list<std::size_t> sizes) {
    std::vector<std::pair<void*, std::size_t>> live;
    for (const std::size_t bytes : sizes) live.emplace_back(allocate(bytes), bytes);
    for (const auto& [block, bytes] : live) deallocate(block, bytes);
  };
  const auto from_system = [] { return memory_stats().allocations - memory_stats().reused; };
  empty_cache();
  for (int i = 0; i < 3; ++i) use({3 * mebibyte, 3 * mebibyte, 3 * mebibyte, 3 * mebibyte});
  use({8 * mebibyte, 4 * mebibyte});
  const std::int64_t before = from_system();
  for (int i = 0; i < 10; ++i) use({8 * mebibyte, 4 * mebibyte});
  CHECK(from_system() == before);
}

TEST_CASE("small blocks serve again, whichever thread frees them") {
  constexpr std::size_t bytes = 8000, count = 100;
  std::vector<void*> blocks(count);
  std::atomic<int> turn{0};  // even: the blocks are to be freed
  std::atomic<bool> ended{false};
  std::thread other([&] {
    for (int round = 0; !ended; ++round) {
      while (turn != 2 * round + 1 && !ended) std::this_thread::yield();
      if (ended) return;
      for (void* block : blocks) deallocate(block, bytes);
      turn = 2 * round + 2;
    }
  });
  std::int64_t early = 0;
  const auto memory = [] { return memory_stats().live_bytes + memory_stats().cached_bytes; };
  for (int round = 0; round < 1000; ++round) {
    for (void*& block : blocks) block = allocate(bytes);
    turn = 2 * round + 1;
    while (turn != 2 * round + 2) std::this_thread::yield();
    if (round == 10) early = memory();
  }
  CHECK(memory() == early);
  ended = true;
  other.join();
}

TEST_CASE("ten thousand training steps take no more memory than a hundred") {
  Variable w(ArrayLike({{0.5, -0.25, 1}, {2, 0.125, -1}}).tensor("float32", "float32"));
  const Tensor x = ArrayLike({{1, 2, 3}, {-1, 0, 1}}).tensor("float32", "float32");
  auto step = [&] {
    const Tensor loss = K::square(K::tanh(w * x) - 0.5);
    w.assign(w - 0.01 * gradients(loss, {w})[0]);
  };
  for (int i = 0; i < 100; ++i) step();
  const MemoryStats early = memory_stats();
  for (int i = 100; i < 10000; ++i) step();
  const MemoryStats late = memory_stats();
  CHECK(late.live_bytes == early.live_bytes);
  CHECK(late.cached_bytes == early.cached_bytes);
  CHECK(late.peak_bytes == early.peak_bytes);
  CHECK(tape().size() == 0);
}
