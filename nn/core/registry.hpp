#pragma once
#include <ktape/nn/core/object.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

/// The registry of classes that strings, configs and files name. The registry holds the classes of Keras;
/// users add theirs:
///
///     nn::register_object("Scale", [](const nn::Config& config) {
///       return Scale(config.at("by").number());
///     });
///
/// Case and underscores in a name do not matter: "glorot_uniform" is GlorotUniform.
namespace ktape::nn {

/// A callable that makes an object from a config. The handle type that the callable returns gives the kind of
/// object.
class Factory {
 public:
  template <class F>
  requires AnyHandle<std::invoke_result_t<F&, const Config&>> Factory(F make)
      : kind_(std::invoke_result_t<F&, const Config&>::Impl::kind),
        make_([make = std::move(make)](const Config& config) -> std::shared_ptr<Object> {
          return make(config).shared();
        }) {}

  const std::string& kind() const { return kind_; }
  std::shared_ptr<Object> operator()(const Config& config) const { return make_(config); }

 private:
  std::string kind_;
  std::function<std::shared_ptr<Object>(const Config&)> make_;
};

/// A list of class names with the factory of each class.
using CustomObjects = std::vector<std::pair<std::string, Factory>>;

/// Registers a class for the rest of the program; a class of that kind and name is replaced. Mirrors
/// `keras.saving.register_keras_serializable`.
///
///     std::cout << nn::is_registered("layer", "Dense") << " "
///               << (nn::registered_names("layer").size() > 80);
void register_object(const std::string& name, Factory factory);

/// A scope with classes that are registered on this thread while the scope lives, and that come before all
/// other classes. Mirrors `keras.saving.custom_object_scope`.
///
///     std::cout << nn::is_registered("layer", "Mine");
class custom_object_scope {
 public:
  explicit custom_object_scope(CustomObjects objects);
  ~custom_object_scope();
  custom_object_scope(const custom_object_scope&) = delete;
  custom_object_scope& operator=(const custom_object_scope&) = delete;

 private:
  std::size_t before_;
};

/// Returns whether the name stands for a class of the kind.
bool is_registered(const std::string& kind, const std::string& name);
/// Returns the class names of a kind ("initializer", "layer", ...), in the order of their registration.
std::vector<std::string> registered_names(const std::string& kind);

}  // namespace ktape::nn
