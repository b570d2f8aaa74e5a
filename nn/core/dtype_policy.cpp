#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/core/pattern.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <mutex>
#include <ostream>

namespace ktape::nn {
namespace K = backend;

struct DTypePolicy::Map {
  DTypePolicy defaults;
  std::vector<DTypePolicyMap::Entry> entries;
};

namespace {

const std::vector<std::string>& known_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"mixed_float16", "mixed_bfloat16"};
    for (int kind = DType::Bool; kind <= DType::BFloat16; ++kind)
      all.emplace_back(DType(static_cast<DType::Kind>(kind)).name());
    return all;
  }();
  return names;
}

bool is_mixed(std::string_view name) { return name == "mixed_float16" || name == "mixed_bfloat16"; }

/// Returns the compute dtype of the policy of a name.
DType computed(std::string_view name) {
  if (is_mixed(name)) return DType(name.substr(std::string_view("mixed_").size()));
  const std::vector<std::string>& known = known_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    fail("[DTypePolicy] name must be ", in_quotes(known, " or "), ": received name='", name, '\'');
  return DType(name);
}

/// The policy of the process; none while layers follow floatx().
struct ProcessPolicy {
  std::mutex mutex;
  std::optional<DTypePolicy> policy;
};

ProcessPolicy& process_policy() {
  static ProcessPolicy& state = *new ProcessPolicy;  // never destroyed: layers in static storage end late
  return state;
}

/// Returns the regular expression of a key, which may come from a file.
Pattern pattern_of(const std::string& key) {
  if (key.size() <= Pattern::longest_text) try {
      return Pattern(key, Pattern::Time::Polynomial);
    } catch (const std::runtime_error& error) {
      fail("[DTypePolicyMap] a key must be a regular expression (", error.what(), "): received key='", key,
           '\'');
    }
  fail("[DTypePolicyMap] a key must have at most ", Pattern::longest_text, " characters: received ",
       key.size());
}

}  // namespace

// --- DTypePolicy -------------------------------------------------------------------------------------------

DTypePolicy::DTypePolicy() : DTypePolicy(nn::dtype_policy()) {}

DTypePolicy::DTypePolicy(std::string_view name)
    : name_(name), compute_(computed(name)), variable_(is_mixed(name) ? DType(DType::Float32) : compute_) {}

DTypePolicy::DTypePolicy(DType dtype) : name_(dtype.name()), compute_(dtype), variable_(dtype) {}

DTypePolicy::DTypePolicy(const DTypePolicy& defaults, std::shared_ptr<const Map> map)
    : map_(std::move(map)),
      name_("map_" + defaults.name_),
      compute_(defaults.compute_),
      variable_(defaults.variable_) {}

DTypePolicy::DTypePolicy(const Value& value) : DTypePolicy(DType::Float32) {
  if (value.is_string()) {
    *this = DTypePolicy(value.string());
    return;
  }
  const Config& described = value.config("[DTypePolicy] a policy");
  const Config& config = described.at("config").config("[DTypePolicy] config");
  const std::string class_name =
      described.get("class_name", "DTypePolicy").string("[DTypePolicy] class_name");
  if (class_name == "DTypePolicyMap") {
    std::vector<DTypePolicyMap::Entry> entries;
    for (const auto& [key, policy] : config.at("policy_map").config("[DTypePolicyMap] policy_map"))
      entries.emplace_back(key, DTypePolicy(policy));
    const Value defaults = config.get("default_policy");
    *this = DTypePolicyMap(defaults.is_null() ? DTypePolicy() : DTypePolicy(defaults), entries);
  } else if (class_name == "QuantizedDTypePolicy" || class_name == "QuantizedFloat8DTypePolicy") {
    fail(
        "[DTypePolicy] weights are not quantized; the model must be saved before it is quantized: received "
        "class_name=",
        class_name);
  } else {
    const Value name = config.get("name");
    *this = name.is_null() ? DTypePolicy() : DTypePolicy(name.string("[DTypePolicy] name"));
  }
}

DTypePolicy DTypePolicy::for_path(const std::string& path) const {
  if (!map_) return *this;
  std::vector<std::string> keys;
  const DTypePolicy* found = &map_->defaults;
  for (const auto& [key, policy] : map_->entries)
    if (key == path) return policy;
  if (path.size() <= Pattern::longest_text)
    for (const auto& [key, policy] : map_->entries)
      if (pattern_of(key).matches(path)) keys.push_back(key), found = &policy;
  if (keys.size() > 1)
    fail("[DTypePolicyMap] a path must match at most one key: received path='", path, "', which matches ",
         in_quotes(keys));
  return *found;
}

namespace {

Value keras_object(const char* module, const char* class_name, const Config& config) {
  return Config{
      {"module", module}, {"class_name", class_name}, {"config", config}, {"registered_name", Value()}};
}

}  // namespace

Value DTypePolicy::to_value() const {
  const auto described = [](const DTypePolicy& policy) {
    return keras_object("keras", "DTypePolicy", {{"name", policy.name()}});
  };
  if (!map_) return is_mixed(name_) ? described(*this) : Value(name_);
  Config entries;
  for (const auto& [key, policy] : map_->entries) entries.set(key, described(policy));
  return keras_object("keras.dtype_policies", "DTypePolicyMap",
                      {{"default_policy", map_->defaults.name()}, {"policy_map", entries}});
}

bool operator==(const DTypePolicy& a, const DTypePolicy& b) {
  if (a.name_ != b.name_ || a.is_map() != b.is_map()) return false;
  return !a.map_ || a.map_ == b.map_ || a.map_->entries == b.map_->entries;
}

std::ostream& operator<<(std::ostream& out, const DTypePolicy& policy) { return out << policy.name(); }

// --- DTypePolicyMap ----------------------------------------------------------------------------------------

DTypePolicyMap::DTypePolicyMap(const DTypePolicy& default_policy, const std::vector<Entry>& policy_map)
    : DTypePolicy(default_policy, std::make_shared<const Map>(Map{default_policy, {}})) {
  if (default_policy.is_map())
    fail("[DTypePolicyMap] default_policy must not be a map: received default_policy=", default_policy);
  for (const auto& [key, policy] : policy_map) set(key, policy);
}

DTypePolicy DTypePolicyMap::default_policy() const { return map_->defaults; }

void DTypePolicyMap::set(const std::string& key, const DTypePolicy& policy) {
  if (contains(key)) fail("[DTypePolicyMap] a key must occur once: received key='", key, "' again");
  if (policy.is_map())
    fail("[DTypePolicyMap] the policy of a key must not be a map: received key='", key, '\'');
  pattern_of(key);
  Map map = *map_;
  map.entries.emplace_back(key, policy);
  map_ = std::make_shared<const Map>(std::move(map));
}

void DTypePolicyMap::erase(const std::string& key) {
  if (!contains(key)) {
    std::vector<std::string> keys;
    for (const Entry& entry : map_->entries) keys.push_back(entry.first);
    fail("[DTypePolicyMap] the map must have the key: received key='", key, '\'', suggestion(key, keys));
  }
  Map map = *map_;
  std::erase_if(map.entries, [&](const Entry& entry) { return entry.first == key; });
  map_ = std::make_shared<const Map>(std::move(map));
}

bool DTypePolicyMap::contains(const std::string& key) const {
  return std::any_of(map_->entries.begin(), map_->entries.end(),
                     [&](const Entry& entry) { return entry.first == key; });
}

std::size_t DTypePolicyMap::size() const { return map_->entries.size(); }
std::vector<DTypePolicyMap::Entry> DTypePolicyMap::entries() const { return map_->entries; }

// --- The policy of the process -----------------------------------------------------------------------------

void set_dtype_policy(const DTypePolicy& policy) {
  ProcessPolicy& state = process_policy();
  const std::lock_guard lock(state.mutex);
  state.policy = policy;
}

void set_dtype_policy(NoneType) {
  ProcessPolicy& state = process_policy();
  const std::lock_guard lock(state.mutex);
  state.policy.reset();
}

DTypePolicy dtype_policy() {
  ProcessPolicy& state = process_policy();
  const std::lock_guard lock(state.mutex);
  return state.policy ? *state.policy : DTypePolicy(K::floatx());
}

}  // namespace ktape::nn
