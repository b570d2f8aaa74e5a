#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/network/program.hpp>

#include <algorithm>

#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/packed_weights.hpp>
#include <ktape/ops/kernels/parallel/one_thread.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_map>
#endif

namespace ktape::kernels {

namespace {

std::int64_t size_of(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

/// Returns the time of a node in multiplications, without the time for element-wise functions.
std::int64_t products_of(const Network& network, const NetworkNode& node) {
  constexpr std::int64_t products_per_weight = 8;  // multiplications in the time of a read
  if (node.own) return node.own->products();
  if (!node.multiplies()) return 0;
  std::int64_t weights = node.window[0] * node.window[1] * node.shape.back();
  if (!node.depthwise) weights *= network.nodes[static_cast<std::size_t>(node.inputs[0])].shape.back();
  return weights *
         std::max(products_per_weight, size_of(node.shape) / std::max<std::int64_t>(1, node.shape.back()));
}

}  // namespace

std::int64_t largest_products(const Network& network) {
  std::int64_t largest = 0;
  for (const NetworkNode& node : network.nodes) largest = std::max(largest, products_of(network, node));
  return largest;
}

bool suits_one_thread(std::int64_t products) {
  constexpr std::int64_t product_grain = std::int64_t{1} << 19;
  return team_size(products, product_grain) == 1;
}

#ifdef KTAPE_WITH_ONEDNN
class Program::Weights {
 public:
  std::vector<PackedArray> packed;
};

namespace {

using dnnl::memory;
using Place = ArgumentPlace;

/// The arguments of one run at a time.
struct Workplace {
  std::shared_ptr<const Program::Weights> weights;
  std::vector<std::unordered_map<int, memory>> arguments;  ///< of each step
  std::vector<NodeKernel::Arrays> own;                     ///< of each step
  std::vector<std::vector<memory>> inputs, outputs;        ///< the arguments that each run sets
  std::vector<std::pair<std::size_t, memory>> in_arena;    ///< the arguments in the arena, with their offsets
  dnnl::stream stream{processor()};
  char* arena = nullptr;  ///< the arena of the last run
};

/// The arrays of one run.
struct RunArrays {
  std::span<void*const> inputs, outputs;
};

/// The arena is taken from the tensors' allocator for each run, so that programs share the memory; the
/// allocator mostly returns the arena of the last run.
class OnednnProgram final : public Program {
 public:
  explicit OnednnProgram(NetworkSteps made) : made_(std::move(made)) {}

  std::shared_ptr<const Weights> pack(const std::vector<const float*>& weights,
                                      const std::shared_ptr<const void>& owner) const override {
    {
      const std::lock_guard lock(mutex_);
      idle_.clear();  // the arguments hold the weights of before
    }
    auto packed = std::make_shared<Weights>();
    packed->packed = pack_weights(made_, weights, owner);
    return packed;
  }
  void run(const std::shared_ptr<const Weights>& weights, std::span<void* const> inputs,
           std::span<void* const> outputs) const override {
    std::unique_ptr<Workplace> at = take(weights);
    Workspace<float> arena(arena_floats());
    bind(*at, arena, {inputs, outputs});
    for (std::size_t i = 0; i < made_.steps.size(); ++i) run_step(i, *at, {inputs, outputs});
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(at));
  }

  std::vector<ProgramStep> steps(const std::shared_ptr<const Weights>& weights) const override;
  std::size_t arena_bytes() const override { return made_.arena_bytes; }

 private:
  static constexpr std::size_t most_idle = 4;

  std::int64_t arena_floats() const {
    return static_cast<std::int64_t>(made_.arena_bytes / sizeof(float)) + 16;
  }
  static void bind(Workplace& at, Workspace<float>& arena, const RunArrays& arrays);
  void run_step(std::size_t i, Workplace& at, const RunArrays& arrays) const;
  void* location(const Place& place, const Workplace& at, const RunArrays& arrays) const;
  std::unique_ptr<Workplace> take(const std::shared_ptr<const Weights>& weights) const;
  std::unique_ptr<Workplace> workplace(const std::shared_ptr<const Weights>& weights) const;
  ProgramStep described(const NetworkStep& step) const;

  const NetworkSteps made_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workplace>> idle_;
};

/// Sets the memory of the arguments for a run.
void OnednnProgram::bind(Workplace& at, Workspace<float>& arena, const RunArrays& arrays) {
  char* const start = reinterpret_cast<char*>(arena.take(0));
  if (start != at.arena) {
    for (auto& [offset, argument] : at.in_arena) argument.set_data_handle(start + offset, at.stream);
    at.arena = start;
  }
  for (std::size_t i = 0; i < arrays.inputs.size(); ++i)
    for (memory& m : at.inputs[i]) m.set_data_handle(arrays.inputs[i], at.stream);
  for (std::size_t i = 0; i < arrays.outputs.size(); ++i)
    for (memory& m : at.outputs[i]) m.set_data_handle(arrays.outputs[i], at.stream);
}

void* OnednnProgram::location(const Place& place, const Workplace& at, const RunArrays& arrays) const {
  switch (place.in) {
    case Place::In::Nowhere:
      return nullptr;
    case Place::In::Arena:
      return at.arena + made_.blocks[place.index].offset;
    case Place::In::Input:
      return arrays.inputs[place.index];
    case Place::In::Output:
      return arrays.outputs[place.index];
    case Place::In::Weights:
      return const_cast<float*>(at.weights->packed[place.index].get());
  }
  return nullptr;
}

void OnednnProgram::run_step(std::size_t i, Workplace& at, const RunArrays& arrays) const {
  const NetworkStep& step = made_.steps[i];
  if (step.own) {
    const auto floats = [&](const Place& place) { return static_cast<float*>(location(place, at, arrays)); };
    NodeKernel::Arrays& of_kernel = at.own[i];
    for (std::size_t k = 0; k < step.own_arguments.inputs.size(); ++k)
      of_kernel.inputs[k] = floats(step.own_arguments.inputs[k]);
    of_kernel.packed = floats(step.own_arguments.packed);
    of_kernel.scratch = location(step.own_arguments.scratch, at, arrays);
    of_kernel.output = floats(step.own_arguments.output);
    return step.own->run(of_kernel);
  }
  if (step.clear_bytes > 0)
    std::memset(at.arguments[i].at(DNNL_ARG_TO).get_data_handle(), 0, step.clear_bytes);
  const OneThread alone(step.one_thread);
  step.primitive.execute(at.stream, at.arguments[i]);
}

std::unique_ptr<Workplace> OnednnProgram::take(const std::shared_ptr<const Weights>& weights) const {
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

std::unique_ptr<Workplace> OnednnProgram::workplace(const std::shared_ptr<const Weights>& weights) const {
  auto out = std::make_unique<Workplace>();
  out->weights = weights;
  out->inputs.resize(made_.inputs), out->outputs.resize(made_.network.outputs.size());
  for (const NetworkStep& step : made_.steps) {
    std::unordered_map<int, memory>& arguments = out->arguments.emplace_back();
    out->own.emplace_back().inputs.resize(step.own_arguments.inputs.size());
    for (const auto& [name, place] : step.arguments) {
      const bool packed = place.in == Place::In::Weights;
      const memory argument(place.layout, processor(),
                            packed ? const_cast<float*>(weights->packed[place.index].get()) : nullptr);
      arguments.emplace(name, argument);
      if (place.in == Place::In::Input) out->inputs[place.index].push_back(argument);
      if (place.in == Place::In::Output) out->outputs[place.index].push_back(argument);
      if (place.in == Place::In::Arena)
        out->in_arena.emplace_back(made_.blocks[place.index].offset, argument);
    }
  }
  return out;
}

// --- Measurements ------------------------------------------------------------------------------------------

ProgramStep OnednnProgram::described(const NetworkStep& step) const {
  ProgramStep out{step.what, step.implementation};
  const auto count = [&](const Place& place) {
    if (place.in != Place::In::Nowhere) out.bytes += static_cast<std::int64_t>(place.layout.get_size());
  };
  bool multiplies = step.own != nullptr;
  for (const auto& [name, place] : step.arguments) {
    if (name != DNNL_ARG_SCRATCHPAD) count(place);
    multiplies = multiplies || name == DNNL_ARG_WEIGHTS;
  }
  for (const Place& place : step.own_arguments.inputs) count(place);
  count(step.own_arguments.packed), count(step.own_arguments.output);
  if (multiplies) out.products = products_of(made_.network, made_.network.nodes[step.node]);
  return out;
}

std::vector<ProgramStep> OnednnProgram::steps(const std::shared_ptr<const Weights>& weights) const {
  std::vector<ProgramStep> out;
  for (const NetworkStep& step : made_.steps) out.push_back(described(step));
  if (!weights) return out;
  const std::unique_ptr<Workplace> at = workplace(weights);
  std::vector<WorkVector<float>> arrays;
  std::vector<void*> inputs, outputs;
  const auto add_array = [&](std::int64_t size) {
    return arrays.emplace_back(static_cast<std::size_t>(size), 0.F).data();
  };
  for (const NetworkNode& node : made_.network.nodes)
    if (node.kind == NetworkNode::Kind::Input) inputs.push_back(add_array(size_of(node.shape)));
  for (const int output : made_.network.outputs)
    outputs.push_back(add_array(size_of(made_.network.nodes[static_cast<std::size_t>(output)].shape)));
  Workspace<float> arena(arena_floats());
  bind(*at, arena, {inputs, outputs});
  using Clock = std::chrono::steady_clock;
  for (int turn = 0; turn < 5; ++turn)
    for (std::size_t i = 0; i < made_.steps.size(); ++i) {
      const auto begin = Clock::now();
      run_step(i, *at, {inputs, outputs});
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
