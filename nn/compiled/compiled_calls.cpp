#include <ktape/autograd/base/log.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/layers/base/masks.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

namespace ktape::nn {
namespace K = backend;

namespace {

thread_local bool compiling = false;
/// The number of signatures for which a model keeps plans.
constexpr std::size_t most_entries = 4;

bool switched_off() {
  const char* const value = std::getenv("KTAPE_COMPILE");
  return value && std::string_view(value) == "0";
}

}  // namespace

CompilingScope::CompilingScope() : before_(std::exchange(compiling, !switched_off())) {}
CompilingScope::~CompilingScope() { compiling = before_; }

struct CompiledCalls::Entry {
  std::vector<std::pair<Shape, DType>> signature;
  std::shared_ptr<const Plan> plan;  ///< null before the end of the first run
  /// The network that computes the outputs from the inputs; null if the plan has more items.
  std::shared_ptr<backend::CompiledNetwork> network;
};

CompiledCalls::CompiledCalls(std::vector<PlannedCall> calls, std::size_t inputs, std::size_t slots,
                             std::vector<int> outputs)
    : calls_(std::move(calls)), inputs_(inputs), slots_(slots), outputs_(std::move(outputs)) {}
CompiledCalls::~CompiledCalls() = default;

bool CompiledCalls::usable(const std::vector<Tensor>& inputs) {
  const auto fits = [](const Tensor& x) { return !is_symbolic(x) && !mask_of(x).defined(); };
  return compiling && !recording() && std::all_of(inputs.begin(), inputs.end(), fits) &&
         K::compiles_networks();
}

CompiledCalls::Entries::iterator CompiledCalls::find(const std::vector<Tensor>& inputs) {
  const auto same = [](const Tensor& x, const auto& known) {
    return x.shape() == known.first && x.dtype() == known.second;
  };
  return std::find_if(entries_.begin(), entries_.end(), [&](const std::shared_ptr<Entry>& entry) {
    return std::equal(inputs.begin(), inputs.end(), entry->signature.begin(), entry->signature.end(), same);
  });
}

std::shared_ptr<CompiledCalls::Entry> CompiledCalls::entry_of(const std::vector<Tensor>& inputs) {
  const std::lock_guard lock(mutex_);
  const auto found = find(inputs);
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front();
  }
  auto entry = std::make_shared<Entry>();
  for (const Tensor& x : inputs) entry->signature.emplace_back(x.shape(), x.dtype());
  entries_.push_front(entry);
  if (entries_.size() > most_entries) entries_.pop_back();
  return entry;
}

void CompiledCalls::keep(Entry& entry, const std::shared_ptr<const Plan>& made) {
  std::vector<int> slots(inputs_);
  std::iota(slots.begin(), slots.end(), 0);
  const std::lock_guard lock(mutex_);
  if (entry.plan) return;
  entry.plan = made;
  if (made->items.size() != 1) return;
  const PlanItem& only = made->items[0];
  if (only.inputs == slots && only.outputs == outputs_ && only.copies.empty()) entry.network = only.network;
}

std::vector<Tensor> CompiledCalls::slots_of(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> slots = inputs;
  slots.resize(slots_);
  return slots;
}

std::vector<Tensor> CompiledCalls::outputs_of(const std::vector<Tensor>& slots) const {
  std::vector<Tensor> outputs;
  for (const int slot : outputs_) outputs.push_back(slots[static_cast<std::size_t>(slot)]);
  return outputs;
}

std::vector<Tensor> CompiledCalls::run(const std::vector<Tensor>& inputs) {
  const std::shared_ptr<Entry> entry = entry_of(inputs);
  const auto known = [&] {
    const std::lock_guard lock(mutex_);
    return entry->plan;
  };
  std::vector<Tensor> slots = slots_of(inputs);
  if (const std::shared_ptr<const Plan> plan = known()) {
    run_plan(*plan, calls_, slots);
    return outputs_of(slots);
  }
  // Threads that come together make a plan each: a layer's call may wait for another thread's prediction.
  const auto plan = std::make_shared<const Plan>(make_plan(calls_, slots, inputs_, outputs_));
  keep(*entry, plan);
  if (log::enabled(log::Level::Debug) && !said_.exchange(true)) say_what_is_called(*plan);
  return outputs_of(slots);
}

std::optional<std::vector<Tensor>> CompiledCalls::run_again(const std::vector<Tensor>& inputs) {
  if (!usable(inputs)) return {};
  std::shared_ptr<backend::CompiledNetwork> network;
  {
    const std::lock_guard lock(mutex_);
    const auto found = find(inputs);
    if (found == entries_.end()) return {};
    entries_.splice(entries_.begin(), entries_, found);
    network = (*found)->network;
  }
  return network ? network->run(inputs) : std::nullopt;
}

void CompiledCalls::say_what_is_called(const Plan& plan) const {
  std::ostringstream text;
  for (const PlanItem& item : plan.items) {
    if (item.network) continue;
    const Layer& layer = calls_[item.calls[0]].layer;
    text << (text.tellp() > 0 ? ", " : "") << (layer.defined() ? layer.name() : std::string("an op"));
  }
  const std::string called = text.str();
  if (!called.empty())
    log::write(log::Level::Debug, plan.has_networks
                                      ? "[compile] the plan calls what no network computes: " + called
                                      : "[compile] no layer of the model is compiled: all layers are called");
}

std::optional<ExplainedPlan> CompiledCalls::explanation() {
  std::shared_ptr<const Plan> plan;
  std::ostringstream shapes;
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<Entry>& entry : entries_) {
      plan = entry->plan;
      if (!plan) continue;
      for (std::size_t i = 0; i < entry->signature.size(); ++i)
        shapes << (i == 0 ? "" : ", ") << entry->signature[i].first;
      break;
    }
  }
  if (!plan) return {};
  return explained(*plan, calls_, shapes.str());
}

}  // namespace ktape::nn
