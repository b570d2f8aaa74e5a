#pragma once
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/core/registry.hpp>

#include <algorithm>
#include <map>

/// For the library's own classes: how a struct of options becomes a config and back, and the list of all
/// classes.
///
/// A class says once which options it has:
///
///     template <class F>
///     void fields(MaxNormOptions& options, F&& field) {
///       field("max_value", options.max_value);
///       field("axis", options.axis);
///     }
namespace ktape::nn {

/// Marks a field that some releases of Keras do not know: configs have the field only where its value is
/// another than the default T().
///
///     field("use_gate", options.use_gate, recent);
struct RecentField {};
inline constexpr RecentField recent;

/// Returns the options under their names.
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

/// A type of options of which null is a value: None in Keras.
template <class T>
concept Nullable = std::same_as<T, Value> || std::same_as<T, Axes> || Configurable<T> ||
    requires(const T& t) {
  t.has_value();
};

/// Returns the options that a config names; the others keep their defaults, as do those that are null where
/// null is no value of theirs. Throws TypeError for a value of another type and ValueError for an unknown
/// name with a value, naming the class. A `dtype`, which Keras writes for every object, is passed over.
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
      fail("[", class_name, "] an argument must be known: received ", name, '=', value,
           suggestion(name, known));
  return options;
}

/// A class without options.
struct NoOptions {};
template <class F>
void fields(NoOptions&, F&&) {}

/// The function object f(arguments..., options).
template <class Base, class Options, class F>
std::shared_ptr<Base> function_object(const char* class_name, const Options& options, F f) {
  return std::make_shared<typename Base::template From<Base>>(
      class_name, config_of(options),
      [options, f](const auto&... arguments) { return f(arguments..., options); });
}

/// The classes of the library, filled when the first name is looked up.
class Catalogue {
 public:
  struct Entry {
    std::string name;  ///< of the class
    Factory factory;
    std::vector<std::string> aliases = {};
    bool of_user = false;  ///< registered by a program
  };

  /// A class with its other names.
  void add(const std::string& name, Factory factory, const std::vector<std::string>& aliases = {});
  /// A class whose handle is made from a struct of options.
  template <class H, class Options>
  void add(const std::string& name, const std::vector<std::string>& aliases = {}) {
    add(
        name, [name](const Config& config) { return H(options_from<Options>(name, config)); }, aliases);
  }

  /// A class of the user's, in the place of one of the same name.
  void add_of_user(const std::string& name, Factory factory);

  const Entry* find(const std::string& kind, const std::string& name) const;
  std::vector<std::string> names(const std::string& kind) const;
  /// The names, and the other names.
  std::vector<std::string> all_names(const std::string& kind) const;

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> at_;  ///< where an entry is, by "kind/spelling"
};

/// A {class_name, config} with the place where Keras 3 finds the class, as it writes it: `module`, and for a
/// class that is not the library's `registered_name`. Other values are returned as they are.
Value with_module(const std::string& kind, const Value& value);

// Each family adds its own.
void add_activations(Catalogue& catalogue);
void add_initializers(Catalogue& catalogue);
void add_regularizers(Catalogue& catalogue);
void add_constraints(Catalogue& catalogue);
void add_layers(Catalogue& catalogue);
void add_models(Catalogue& catalogue);
void add_regression_losses(Catalogue& catalogue);
void add_probabilistic_losses(Catalogue& catalogue);
void add_hinge_losses(Catalogue& catalogue);
void add_structured_losses(Catalogue& catalogue);
void add_mean_metrics(Catalogue& catalogue);
void add_accuracy_metrics(Catalogue& catalogue);
void add_regression_metrics(Catalogue& catalogue);
void add_confusion_metrics(Catalogue& catalogue);
void add_auc_metric(Catalogue& catalogue);
void add_overlap_metrics(Catalogue& catalogue);
void add_schedules(Catalogue& catalogue);
void add_sgd_optimizers(Catalogue& catalogue);
void add_adaptive_optimizers(Catalogue& catalogue);
void add_adam_optimizers(Catalogue& catalogue);

}  // namespace ktape::nn
