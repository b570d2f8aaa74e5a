#include <ktape/nn/layers/base/shared_layers.hpp>

#include <utility>

namespace ktape::nn {
namespace {

thread_local SharedLayers* newest = nullptr;

constexpr const char* key = "shared_object_id";

/// Returns the layers below `root` that are inside more than one layer, in breadth-first order.
std::vector<Layer> shared_in(const Layer& root) {
  std::vector<Layer> met{root}, shared;
  std::map<const LayerImpl*, int> parents;
  for (std::size_t i = 0; i < met.size(); ++i)
    for (const Layer& layer : met[i].impl().sublayers()) {
      const int count = ++parents[layer.shared().get()];
      if (count == 1) met.push_back(layer);
      if (count == 2) shared.push_back(layer);
    }
  return shared;
}

bool has_number(const Value& value) { return value.is_config() && value.config().contains(key) && newest; }

std::int64_t number_in(const Value& value) {
  return value.config().at(key).integer(std::string("[layer] ") + key);
}

}  // namespace

SharedLayers::SharedLayers() : before_(std::exchange(newest, this)) {}
SharedLayers::SharedLayers(const Layer& root) : SharedLayers() {
  for (const Layer& layer : shared_in(root))
    numbers_.emplace(layer.shared().get(), static_cast<std::int64_t>(numbers_.size()) + 1);
}
SharedLayers::~SharedLayers() { newest = before_; }

Value SharedLayers::number_of(const LayerImpl& layer) {
  if (!newest) return {};
  const auto found = newest->numbers_.find(&layer);
  return found == newest->numbers_.end() ? Value() : Value(found->second);
}

Layer SharedLayers::find(const Value& value) {
  if (!has_number(value)) return {};
  const auto found = newest->read_.find(number_in(value));
  return found == newest->read_.end() ? Layer() : found->second;
}

void SharedLayers::remember(const Value& value, const Layer& layer) {
  if (has_number(value)) newest->read_.emplace(number_in(value), layer);
}

}  // namespace ktape::nn
