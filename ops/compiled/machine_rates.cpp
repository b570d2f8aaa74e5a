#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/compiled/machine_rates.hpp>
#include <ktape/ops/kernels/network/program.hpp>

#include <chrono>
#include <cstring>

namespace ktape::backend {

namespace {

using kernels::Network, kernels::NetworkNode, kernels::Program;

/// Returns the shortest time of a few calls of f in milliseconds.
template <class F>
double shortest(const F& f) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int turn = 0; turn < 5; ++turn) {
    const auto begin = Clock::now();
    f();
    const double time = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    best = turn == 0 ? time : std::min(best, time);
  }
  return best;
}

double products_per_ms() {
  constexpr std::int64_t n = 512;
  Network network;
  network.nodes.resize(2);
  network.nodes[0].shape = network.nodes[1].shape = {n, n};
  network.nodes[1].kind = NetworkNode::Kind::Product, network.nodes[1].inputs = {0};
  network.nodes[1].kernel = 0, network.outputs = {1};
  const auto program = Program::make(network);
  if (!program) return 0;
  WorkVector<float> numbers(n * n, 1.F), result(n * n);
  const auto weights = program->pack({numbers.data()}, nullptr);
  void* const arrays[] = {numbers.data(), result.data()};
  const std::span all(arrays);
  return double(n * n * n) / shortest([&] { program->run(weights, all.first(1), all.last(1)); });
}

double bytes_per_ms() {
  constexpr std::int64_t bytes = std::int64_t{1} << 25;
  WorkVector<char> from(bytes), to(bytes);
  const double time = shortest([&] {
    parallel_for(bytes, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
  });
  return 2 * double(bytes) / time;
}

}  // namespace

MachineRates machine_rates() { return {products_per_ms(), bytes_per_ms()}; }

}  // namespace ktape::backend
