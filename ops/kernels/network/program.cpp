#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/network/program.hpp>

#include <algorithm>

#ifdef KTAPE_WITH_ONEDNN
#include <ktape/autograd/base/memory.hpp>
#include <ktape/ops/kernels/network/folding.hpp>
#include <ktape/ops/kernels/network/network_steps.hpp>

#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_map>
#endif

namespace ktape::kernels {

namespace {
std::int64_t products_of(const Network& network, const NetworkNode& node) {
  if (!node.multiplies()) return 0;
  std::int64_t products = node.window[0] * node.window[1];
  for (const std::int64_t extent : node.shape) products *= extent;
  if (!node.depthwise) products *= network.nodes[static_cast<std::size_t>(node.inputs[0])].shape.back();
  return products;
}
}  // namespace

std::int64_t largest_products(const Network& network) {
  std::int64_t largest = 0;
  for (const NetworkNode& node : network.nodes) largest = std::max(largest, products_of(network, node));
  return largest;
}
std::int64_t total_products(const Network& network) {
  std::int64_t total = 0;
  for (const NetworkNode& node : network.nodes) total += products_of(network, node);
  return total;
}

bool suits_one_thread(std::int64_t products) {
  constexpr std::int64_t product_grain = std::int64_t{1} << 19;
  return team_size(products, product_grain) == 1;
}

#ifdef KTAPE_WITH_ONEDNN
class Program::Weights {
 public:
  std::vector<WorkVector<float>> packed;
};

namespace {

using dnnl::memory;
using Place = ArgumentPlace;

/// The memory and the arguments of one run at a time.
struct Workplace {
  WorkVector<char> arena;
  std::vector<std::unordered_map<int, memory>> arguments;  ///< of each step
  std::vector<std::vector<memory>> inputs, outputs;        ///< the arguments that each run sets
  std::shared_ptr<const Program::Weights> weights;
  dnnl::stream stream{processor()};
};

class OnednnProgram final : public Program {
 public:
  explicit OnednnProgram(NetworkSteps made) : made_(std::move(made)) {}

  std::shared_ptr<const Weights> pack(const std::vector<const float*>& weights) const override;
  void run(const std::shared_ptr<const Weights>& weights, const std::vector<const float*>& inputs,
           const std::vector<float*>& outputs) const override {
    std::unique_ptr<Workplace> at = take(weights);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (memory& m : at->inputs[i]) m.set_data_handle(const_cast<float*>(inputs[i]), at->stream);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      for (memory& m : at->outputs[i]) m.set_data_handle(outputs[i], at->stream);
    for (std::size_t i = 0; i < made_.steps.size(); ++i) run_step(i, *at);
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(at));
  }

  std::vector<ProgramStep> steps(const std::shared_ptr<const Weights>& weights) const override;
  std::size_t arena_bytes() const override { return made_.arena_bytes; }

 private:
  static constexpr std::size_t most_idle = 4;

  void run_step(std::size_t i, Workplace& at) const {
    const NetworkStep& step = made_.steps[i];
    if (step.clear_bytes > 0)
      std::memset(at.arguments[i].at(DNNL_ARG_TO).get_data_handle(), 0, step.clear_bytes);
    step.primitive.execute(at.stream, at.arguments[i]);
  }

  std::unique_ptr<Workplace> take(const std::shared_ptr<const Weights>& weights) const {
    {
      const std::lock_guard lock(mutex_);
      while (!idle_.empty()) {
        std::unique_ptr<Workplace> at = std::move(idle_.back());
        idle_.pop_back();
        if (at->weights == weights) return at;
      }
    }
    return workplace(weights);
  }
  std::unique_ptr<Workplace> workplace(const std::shared_ptr<const Weights>& weights) const;

  const NetworkSteps made_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workplace>> idle_;
};

std::shared_ptr<const Program::Weights> OnednnProgram::pack(const std::vector<const float*>& given) const {
  const auto out = std::make_shared<Weights>();
  dnnl::stream stream(processor());
  for (const PackedWeight& weight : made_.weights) {
    const NetworkNode& node = made_.network.nodes[weight.node];
    const ChannelFactors channels = channel_factors(node, given);
    WorkVector<float> plain(weight.plain.get_size() / sizeof(float));
    if (weight.part == PackedWeight::Part::Kernel) {
      const float* const kernel = given[static_cast<std::size_t>(node.kernel)];
      const std::size_t filters = channels.factors.size();
      for (std::size_t i = 0; i < plain.size(); i += filters)
        for (std::size_t f = 0; f < filters; ++f) plain[i + f] = kernel[i + f] * channels.factors[f];
    } else {
      const auto& part = weight.part == PackedWeight::Part::Factors ? channels.factors : channels.offsets;
      std::copy(part.begin(), part.end(), plain.begin());
    }
    if (weight.plain != weight.packed) {
      WorkVector<float> packed(weight.packed.get_size() / sizeof(float));
      memory from(weight.plain, processor(), plain.data()), to(weight.packed, processor(), packed.data());
      dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
      plain.swap(packed);
    }
    out->packed.push_back(std::move(plain));
  }
  return out;
}

std::unique_ptr<Workplace> OnednnProgram::workplace(const std::shared_ptr<const Weights>& weights) const {
  auto out = std::make_unique<Workplace>();
  out->arena = WorkVector<char>(made_.arena_bytes);
  out->weights = weights;
  out->inputs.resize(made_.inputs), out->outputs.resize(made_.network.outputs.size());
  for (const NetworkStep& step : made_.steps) {
    std::unordered_map<int, memory>& arguments = out->arguments.emplace_back();
    for (const auto& [name, place] : step.arguments) {
      void* data = nullptr;
      if (place.in == Place::In::Arena) data = out->arena.data() + made_.blocks[place.index].offset;
      if (place.in == Place::In::Weights) data = const_cast<float*>(weights->packed[place.index].data());
      const memory argument(place.layout, processor(), data);
      arguments.emplace(name, argument);
      if (place.in == Place::In::Input) out->inputs[place.index].push_back(argument);
      if (place.in == Place::In::Output) out->outputs[place.index].push_back(argument);
    }
  }
  return out;
}

std::vector<ProgramStep> OnednnProgram::steps(const std::shared_ptr<const Weights>& weights) const {
  std::vector<ProgramStep> out;
  for (const NetworkStep& step : made_.steps) out.push_back({step.what, step.implementation});
  if (!weights) return out;
  const std::unique_ptr<Workplace> at = workplace(weights);
  std::vector<WorkVector<float>> arrays;
  const auto fill = [&](std::vector<std::vector<memory>>& all) {
    for (std::vector<memory>& list : all) {
      std::size_t bytes = 0;
      for (const memory& m : list) bytes = std::max(bytes, m.get_desc().get_size());
      arrays.emplace_back(bytes / sizeof(float) + 16, 0.F);
      for (memory& m : list) m.set_data_handle(arrays.back().data(), at->stream);
    }
  };
  fill(at->inputs), fill(at->outputs);
  using Clock = std::chrono::steady_clock;
  for (int turn = 0; turn < 5; ++turn)
    for (std::size_t i = 0; i < made_.steps.size(); ++i) {
      const auto begin = Clock::now();
      run_step(i, *at);
      const double time = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
      out[i].milliseconds = turn == 0 ? time : std::min(out[i].milliseconds, time);
    }
  return out;
}

}  // namespace

std::shared_ptr<const Program> Program::make(const Network& network) {
  std::optional<NetworkSteps> made = make_steps(network);
  return made ? std::make_shared<OnednnProgram>(std::move(*made)) : nullptr;
}
#else
class Program::Weights {};
std::shared_ptr<const Program> Program::make(const Network&) { return nullptr; }
#endif

}  // namespace ktape::kernels
