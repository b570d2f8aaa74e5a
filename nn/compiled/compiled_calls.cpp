#include <ktape/autograd/base/log.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/compiled/compiled_calls.hpp>
#include <ktape/nn/layers/base/masks.hpp>

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <utility>

namespace ktape::nn {
namespace K = backend;

namespace {

thread_local bool compiling = false;
/// The number of signatures for which a model keeps plans.
constexpr std::size_t most_entries = 4;

std::string_view setting() {
  const char* const value = std::getenv("KTAPE_COMPILE");
  return value ? value : "";
}

/// Returns the number of multiplications from which a network is compiled. A smaller network gains little, and
/// the layers give the same bits in each prediction, which tests of small models compare.
std::int64_t smallest_network() { return setting() == "1" ? 0 : std::int64_t{1} << 25; }

}  // namespace

CompilingScope::CompilingScope() : before_(std::exchange(compiling, setting() != "0")) {}
CompilingScope::~CompilingScope() { compiling = before_; }

struct CompiledCalls::Entry {
  std::vector<std::pair<Shape, DType>> signature;
  std::mutex mutex;
  std::vector<ObservedSlot> slots;   ///< empty before the first run
  std::shared_ptr<const Plan> plan;  ///< null before the second run
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

std::shared_ptr<CompiledCalls::Entry> CompiledCalls::entry_of(const std::vector<Tensor>& inputs) {
  const auto fits = [&](const std::shared_ptr<Entry>& entry) {
    return std::equal(inputs.begin(), inputs.end(), entry->signature.begin(), entry->signature.end(),
                      [](const Tensor& x, const auto& known) {
                        return x.shape() == known.first && x.dtype() == known.second;
                      });
  };
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), fits);
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
  std::vector<Tensor> slots = slots_of(inputs);
  std::shared_ptr<const Plan> plan;
  {
    const std::lock_guard lock(entry->mutex);
    if (!entry->slots.empty() && !entry->plan) {
      entry->plan = std::make_shared<const Plan>(
          make_plan(calls_, entry->slots, inputs_, outputs_, smallest_network()));
      if (!entry->plan->has_networks && log::enabled(log::Level::Debug))
        log::write(log::Level::Debug, "[compile] no layer of the model is compiled: all layers are called");
    }
    plan = entry->plan;
  }
  if (plan) {
    run_plan(*plan, calls_, slots);
    return outputs_of(slots);
  }
  for (const PlannedCall& call : calls_) call.run(slots);
  std::vector<ObservedSlot> seen;
  for (const Tensor& x : slots) seen.push_back(observe(x));
  const std::lock_guard lock(entry->mutex);
  if (entry->slots.empty()) entry->slots = std::move(seen);
  return outputs_of(slots);
}

std::string CompiledCalls::explanation() {
  std::shared_ptr<const Plan> plan;
  std::ostringstream out;
  {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<Entry>& entry : entries_) {
      const std::lock_guard of_entry(entry->mutex);
      if (!entry->plan) continue;
      plan = entry->plan;
      for (std::size_t i = 0; i < entry->signature.size(); ++i)
        out << (i == 0 ? "Plan for inputs of shape " : ", ") << entry->signature[i].first;
      break;
    }
  }
  if (!plan) return "There is no plan yet: the second prediction with inputs of one shape makes a plan.\n";
  out << '\n' << std::fixed << std::setprecision(3);
  const auto row = [&](const std::string& what, const std::string& implementation) -> std::ostream& {
    return out << std::left << std::setw(48) << what << ' ' << std::setw(28) << implementation;
  };
  row("step", "kernel") << "       ms\n";
  double sum = 0;
  std::size_t bytes = 0;
  for (const PlanItem& item : plan->items) {
    if (!item.network) {
      const Layer& layer = calls_[item.calls[0]].layer;
      row(layer.defined() ? layer.name() + " (" + layer.class_name() + ")" : "op", "called") << '\n';
      continue;
    }
    bytes = std::max(bytes, item.network->arena_bytes());
    for (const auto& step : item.network->steps()) {
      row(step.what, step.implementation) << std::right << std::setw(9) << step.milliseconds << '\n';
      sum += step.milliseconds;
    }
  }
  row("all measured steps", "") << std::right << std::setw(9) << sum << '\n';
  out << "arena: " << bytes << " bytes\n";
  return out.str();
}

}  // namespace ktape::nn
