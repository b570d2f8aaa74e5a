#include "peer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace peer {

std::string only;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void report(const std::string& name, const std::function<void()>& run) {
  if (!only.empty() && only != name) return;
  for (int i = 0; i < 3; ++i) run();
  std::vector<double> times;
  const double begin = seconds();
  while (times.size() < 5 || (times.size() < 2000 && seconds() - begin < 3)) {
    const double start = seconds();
    run();
    times.push_back(seconds() - start);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-28s %10.4f\n", name.c_str(), times[times.size() / 2] * 1e3);
  std::fflush(stdout);
}

std::vector<Tensor> parameters(std::initializer_list<std::shared_ptr<nn::Module>> modules) {
  std::vector<Tensor> all;
  for (const auto& m : modules)
    for (const auto& p : m->parameters()) all.push_back(p);
  return all;
}

void channels_last(nn::Module& m) {
  for (auto& p : m.parameters())
    if (p.dim() == 4) p.set_data(p.contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace peer
