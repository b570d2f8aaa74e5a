#pragma once
#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/core/registry.hpp>

#include <algorithm>
#include <map>

/// Tools for the library's own classes: the conversion between a struct of options and a config, and the list
/// of all classes.
///
/// A class names its options in a function `fields`, which serves both directions:
///
///     template <class F>
///     void fields(MaxNormOptions& options, F&& field) {
///       field("max_value", options.max_value);
///       field("axis", options.axis);
///     }
namespace ktape::nn {

/// A mark for a field that some releases of Keras do not know: a config contains the field only if its value
/// differs from the default T().
///
///     field("use_gate", options.use_gate, recent);
struct RecentField {};
inline constexpr RecentField recent;

/// Returns a config with the value of each option under the option's name.
template <class Options>
Config config_of(const Options& options) {
  Config config;
  fields(const_cast<Options&>(options), [&]<class T>(const char* name, const T& field, auto... mark) {
    if constexpr (sizeof...(mark) > 0)
      if (field == T()) return;
    config.set(name, Value(field));
  });
  return config;
}

/// A type of options for which null (None in Keras) is a valid value.
template <class T>
concept Nullable = std::same_as<T, Value> || std::same_as<T, Axes> || Configurable<T> ||
    requires(const T& t) {
  t.has_value();
};

/// Returns a struct of options with the values from a config. An option keeps its default if the config lacks
/// its name, or has null for an option that cannot be null. Throws TypeError for a value of a wrong type and
/// ValueError for an unknown name with a value; the message names the class. The name `dtype`, which Keras
/// writes for every object, is ignored.
template <class Options>
Options options_from(const std::string& class_name, const Config& config) {
  Options options;
  std::vector<std::string> known;
  fields(options, [&]<class T>(const char* name, T& field, auto...) {
    known.push_back(name);
    if (config.contains(name) && (Nullable<T> || !config.at(name).is_null()))
      field = config.at(name).template as<T>("[" + class_name + "] " + name);
  });
  for (const auto& [name, value] : config)
    if (name != "dtype" && !value.is_null() && std::find(known.begin(), known.end(), name) == known.end())
      fail("[", class_name, "] ",
           known.empty() ? "there must be no arguments" : "an argument must be " + in_quotes(known, " or "),
           ": received ", name, '=', value, near_names(name, known));
  return options;
}

/// The options of a class without options.
struct NoOptions {};
template <class F>
void fields(NoOptions&, F&&) {}

/// Returns an object of the kind Base whose `call` computes f(arguments..., options).
template <class Base, class Options, class F>
std::shared_ptr<Base> function_object(const char* class_name, const Options& options, F f) {
  return std::make_shared<typename Base::template From<Base>>(
      class_name, config_of(options),
      [options, f](const auto&... arguments) { return f(arguments..., options); });
}

/// The classes of the library, filled when the first name is looked up.
class ClassRegistry {
 public:
  struct Entry {
    std::string name;  ///< the name of the class
    Factory factory;
    std::vector<std::string> aliases = {};
    bool of_user = false;  ///< true for a class that a program registered
  };

  /// Adds a class, which can also be looked up by the aliases.
  void add(const std::string& name, Factory factory, const std::vector<std::string>& aliases = {});
  /// Adds a class whose handle is made from a struct of options.
  template <class H, class Options>
  void add(const std::string& name, const std::vector<std::string>& aliases = {}) {
    add(
        name, [name](const Config& config) { return H(options_from<Options>(name, config)); }, aliases);
  }

  /// Adds a class of the user; a known class of that name is replaced.
  void add_of_user(const std::string& name, Factory factory);

  const Entry* find(const std::string& kind, const std::string& name) const;
  std::vector<std::string> names(const std::string& kind) const;
  /// Returns the names of all classes of a kind, then their aliases.
  std::vector<std::string> all_names(const std::string& kind) const;

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> at_;  ///< the index of an entry, by "kind/spelling"
};

/// Adds to a {class_name, config} the names by which Keras 3 finds the class: `module` for a class of the
/// library, `registered_name` for a class of a user; the other name is null. Returns any other value
/// unchanged.
Value with_module(const std::string& kind, const Value& value);

// Each of these functions adds the classes of a family. The family's source defines the function.
void add_activations(ClassRegistry& registry);
void add_initializers(ClassRegistry& registry);
void add_regularizers(ClassRegistry& registry);
void add_constraints(ClassRegistry& registry);
void add_layers(ClassRegistry& registry);
void add_models(ClassRegistry& registry);
void add_regression_losses(ClassRegistry& registry);
void add_probabilistic_losses(ClassRegistry& registry);
void add_hinge_losses(ClassRegistry& registry);
void add_structured_losses(ClassRegistry& registry);
void add_mean_metrics(ClassRegistry& registry);
void add_accuracy_metrics(ClassRegistry& registry);
void add_regression_metrics(ClassRegistry& registry);
void add_confusion_metrics(ClassRegistry& registry);
void add_auc_metric(ClassRegistry& registry);
void add_overlap_metrics(ClassRegistry& registry);
void add_schedules(ClassRegistry& registry);
void add_sgd_optimizers(ClassRegistry& registry);
void add_adaptive_optimizers(ClassRegistry& registry);
void add_adam_optimizers(ClassRegistry& registry);
void add_loss_scale_optimizer(ClassRegistry& registry);

}  // namespace ktape::nn
