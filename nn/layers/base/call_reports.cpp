#include <ktape/nn/layers/base/call_reports.hpp>

#include <unordered_map>

namespace ktape::nn {
namespace {

struct Entry {
  std::weak_ptr<const LayerImpl> layer;
  std::uint64_t call = 0;
  CallReports reports = {};
};

/// The number of layers with reports on this thread. With the initial-exec model a read of the number needs
/// no call into the loader.
thread_local std::size_t count [[gnu::tls_model("initial-exec")]] = 0;

/// The reports of one thread, by layer.
struct Entries {
  using Map = std::unordered_map<const LayerImpl*, Entry>;
  Map map = {};
  ~Entries() { count = 0; }  // layers in static storage end later

  /// Returns the entry of a layer, or null. An expired entry belongs to an earlier layer at this address.
  Entry* find(const LayerImpl& layer) {
    const auto found = map.find(&layer);
    return found != map.end() && !found->second.layer.expired() ? &found->second : nullptr;
  }
  Entry& add(const std::shared_ptr<const LayerImpl>& layer) {
    forget([](const auto& entry) { return entry.second.layer.expired(); });
    Entry& entry = map[layer.get()];
    entry.layer = layer;
    count = map.size();
    return entry;
  }
  /// Removes the entries that meet a condition. The tensors are destroyed after the map is complete again,
  /// because the last tensor of a graph may hold the last handle of another layer.
  template <class Condition>
  void forget(Condition condition) {
    std::vector<Map::node_type> forgotten;
    for (auto at = map.begin(); at != map.end();) {
      const auto next = std::next(at);
      if (condition(*at)) forgotten.push_back(map.extract(at));
      at = next;
    }
    count = map.size();
  }
};
thread_local Entries entries;

}  // namespace

bool CallReports::any() { return count > 0; }

const CallReports& CallReports::of(const LayerImpl& layer) {
  static const CallReports none;
  const Entry* entry = count > 0 ? entries.find(layer) : nullptr;
  return entry ? entry->reports : none;
}

CallReports& CallReports::begin(const std::shared_ptr<const LayerImpl>& layer, std::uint64_t call) {
  Entry* known = count > 0 ? entries.find(*layer) : nullptr;
  Entry& entry = known ? *known : entries.add(layer);
  if (std::exchange(entry.call, call) != call) entry.reports = {};
  return entry.reports;
}

void CallReports::forget(const LayerImpl& layer) {
  if (count > 0) entries.forget([&](const auto& entry) { return entry.first == &layer; });
}

}  // namespace ktape::nn
