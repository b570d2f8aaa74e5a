#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/core/class_registry.hpp>

#include <algorithm>
#include <cctype>
#include <mutex>

namespace ktape::nn {
namespace {

/// Returns the key of a name: lower case without underscores, so that all spellings of Keras share a key.
std::string key_of(const std::string& kind, const std::string& name) {
  std::string key = kind + '/';
  for (char c : name)
    if (c != '_') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

ClassRegistry filled() {
  ClassRegistry all;
  add_activations(all);
  add_initializers(all);
  add_regularizers(all);
  add_constraints(all);
  add_layers(all);
  add_models(all);
  add_regression_losses(all);
  add_probabilistic_losses(all);
  add_hinge_losses(all);
  add_structured_losses(all);
  add_mean_metrics(all);
  add_accuracy_metrics(all);
  add_regression_metrics(all);
  add_confusion_metrics(all);
  add_auc_metric(all);
  add_overlap_metrics(all);
  add_schedules(all);
  add_sgd_optimizers(all);
  add_adaptive_optimizers(all);
  add_adam_optimizers(all);
  add_loss_scale_optimizer(all);
  return all;
}

struct Registry {
  std::mutex mutex;
  ClassRegistry classes = filled();
};

Registry& registry() {
  static Registry all;
  return all;
}

CustomObjects& scoped() {
  thread_local CustomObjects objects;
  return objects;
}

/// Returns the class of a kind with a name, if there is such a class.
std::optional<ClassRegistry::Entry> entry_of(const std::string& kind, const std::string& name) {
  const CustomObjects& custom = scoped();
  for (auto object = custom.rbegin(); object != custom.rend(); ++object)
    if (object->second.kind() == kind && key_of("", object->first) == key_of("", name))
      return ClassRegistry::Entry{object->first, object->second, {}, true};
  const std::lock_guard lock(registry().mutex);
  const ClassRegistry::Entry* entry = registry().classes.find(kind, name);
  return entry ? std::optional(*entry) : std::nullopt;
}

}  // namespace

void ClassRegistry::add(const std::string& name, Factory factory, const std::vector<std::string>& aliases) {
  const std::string kind = factory.kind(), key = key_of(kind, name);
  const auto known = at_.find(key);
  if (known != at_.end() && key_of(kind, entries_[known->second].name) == key) {
    entries_[known->second] = {name, std::move(factory)};
    return;
  }
  at_[key] = entries_.size();
  for (const std::string& alias : aliases) at_[key_of(kind, alias)] = entries_.size();
  entries_.push_back({name, std::move(factory), aliases});
}

void ClassRegistry::add_of_user(const std::string& name, Factory factory) {
  const std::string key = key_of(factory.kind(), name);
  add(name, std::move(factory));
  entries_[at_.at(key)].of_user = true;
}

const ClassRegistry::Entry* ClassRegistry::find(const std::string& kind, const std::string& name) const {
  const auto known = at_.find(key_of(kind, name));
  return known == at_.end() ? nullptr : &entries_[known->second];
}

std::vector<std::string> ClassRegistry::names(const std::string& kind) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_)
    if (entry.factory.kind() == kind) names.push_back(entry.name);
  return names;
}

std::vector<std::string> ClassRegistry::all_names(const std::string& kind) const {
  std::vector<std::string> names = this->names(kind);
  for (const Entry& entry : entries_)
    if (entry.factory.kind() == kind) names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  return names;
}

void register_object(const std::string& name, Factory factory) {
  const std::lock_guard lock(registry().mutex);
  registry().classes.add_of_user(name, std::move(factory));
}

custom_object_scope::custom_object_scope(CustomObjects objects) : before_(scoped().size()) {
  scoped().insert(scoped().end(), objects.begin(), objects.end());
}

custom_object_scope::~custom_object_scope() {
  scoped().erase(scoped().begin() + static_cast<std::ptrdiff_t>(before_), scoped().end());
}

bool is_registered(const std::string& kind, const std::string& name) {
  return entry_of(kind, name).has_value();
}

std::vector<std::string> registered_names(const std::string& kind) {
  const std::lock_guard lock(registry().mutex);
  return registry().classes.names(kind);
}

namespace {

/// Returns the end of a message about a config whose class is unknown: how a program makes its class known. Names in small letters
/// are names of functions and metrics.
std::string how_to_register(const std::string& name) {
  if (name.empty() || name[0] < 'A' || name[0] > 'Z') return "";
  return "; register a class of the program before the config is read: nn::register_object(\"" + name +
         "\", [](const nn::Config& config) { return " + name + "(...); })";
}

[[noreturn]] void fail_unknown(const std::string& kind, const std::string& name, bool in_config) {
  std::vector<std::string> known;
  {
    const std::lock_guard lock(registry().mutex);
    known = registry().classes.all_names(kind);
  }
  for (const auto& [custom, factory] : scoped())
    if (factory.kind() == kind) known.push_back(custom);
  fail("[", kind, "] the name must be one of nn::registered_names(\"", kind, "\"): received '", name, "'",
       suggestion(name, known), in_config ? how_to_register(name) : "");
}

}  // namespace

std::shared_ptr<Object> make_object(const char* kind, const Value& value) {
  std::string name;
  Config config;
  if (value.is_config()) {
    name = value.config().at("class_name").string("[" + std::string(kind) + "] class_name");
    const Value given = value.config().get("config");
    if (name == "function") name = given.string("[" + std::string(kind) + "] the name of a function");
    else if (!given.is_null()) config = given.config("[" + std::string(kind) + "] config");
  } else {
    name = value.string("[" + std::string(kind) + "] a name or a {class_name, config}");
  }
  const std::optional<ClassRegistry::Entry> entry = entry_of(kind, name);
  if (!entry) fail_unknown(kind, name, value.is_config());
  return entry->factory(config);
}

namespace {

/// Returns the Python module in which Keras 3 has a class.
std::string module_of(const std::string& kind, const std::string& class_name) {
  if (class_name == "Functional") return "keras.src.models.functional";
  if (class_name == "Sequential") return "keras";
  if (class_name == "LayerScale") return "keras.src.applications.convnext";
  if (kind == "loss") return "keras.losses";
  return kind == "schedule" ? "keras.optimizers.schedules" : "keras." + kind + 's';
}

}  // namespace

Value with_module(const std::string& kind, const Value& value) {
  if (!value.is_config() || value.config().get("class_name") == Value("function")) return value;
  const std::string name = value.config().at("class_name").string();
  const std::optional<ClassRegistry::Entry> entry = entry_of(kind, name);
  const bool known = entry && !entry->of_user;
  Config config{{"module", known ? Value(module_of(kind, name)) : Value()}};
  config.update(value.config());
  config.set("registered_name", known ? Value() : Value(name));
  return config;
}

}  // namespace ktape::nn
