#pragma once
#include <ktape/nn/core/object.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

/// The classes that strings, configs and files name. Those of Keras are known; users add theirs:
///
///     nn::register_object("Scale", [](const nn::Config& config) { return Scale(config.at("by").number()); });
///
/// A name is compared without regard to case and underscores: "glorot_uniform" is GlorotUniform.
namespace ktape::nn {

/// A callable that makes an object from a config. Its kind is that of the handle it returns.
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

/// Names of classes, and what makes them.
using CustomObjects = std::vector<std::pair<std::string, Factory>>;

/// Makes a class known for the rest of the program; a name of the same kind that was known is replaced.
/// Mirrors `keras.saving.register_keras_serializable`.
void register_object(const std::string& name, Factory factory);

/// Classes that this thread knows while the scope lives, before all others. Mirrors
/// `keras.saving.custom_object_scope`.
class custom_object_scope {
 public:
  explicit custom_object_scope(CustomObjects objects);
  ~custom_object_scope();
  custom_object_scope(const custom_object_scope&) = delete;
  custom_object_scope& operator=(const custom_object_scope&) = delete;

 private:
  std::size_t before_;
};

/// Whether the name stands for a class of the kind.
bool is_registered(const std::string& kind, const std::string& name);
/// The class names of a kind ("initializer", "layer", ...), in the order of their registration.
std::vector<std::string> registered_names(const std::string& kind);

}  // namespace ktape::nn
