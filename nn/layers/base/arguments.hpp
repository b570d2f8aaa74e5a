#pragma once
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/layers/base/layer.hpp>

#include <atomic>

/// Helpers for the library's layers. Each layer lists its arguments once, in a function `fields`.
namespace ktape::nn {

template <class F>
void fields(LayerOptions&, F&&) {}

/// Returns the options of a layer that every layer has.
template <class Arguments>
LayerOptions layer_options_of(const Arguments& a) {
  return {a.input_shape, a.batch_input_shape, a.trainable, a.dtype, a.name};
}

/// A base class of layers with a struct of arguments. The last members of the struct are the members of
/// LayerOptions.
template <class Arguments>
class LayerWith : public LayerImpl {
 public:
  LayerWith(const char* class_name, Arguments given)
      : LayerImpl(class_name, layer_options_of(given)), args(std::move(given)) {}
  Config get_config() const override { return config_of(args); }

 protected:
  const Arguments args;
};

/// Returns Keras's name for the next object of a class: "dense", then "dense_1", "dense_2", ...
std::string automatic_name(const std::string& class_name);

/// Returns the description of a layer with this config in the form of Keras 3: {module, class_name, config,
/// registered_name}, and the number (`shared_object_id`) of a layer that several models share. Throws
/// ValueError, naming layer and argument, for an argument that is a function without a name.
Value described(const LayerImpl& layer, const Config& config);

/// Returns the description of a layer as a member of a model's config, without `batch_input_shape`: the
/// config of the model has the shapes of its inputs.
Value as_member(const Layer& layer);

/// Returns a config without the options that every layer has and without the entries `build_config` and
/// `autocast`, which Keras adds.
Config own_arguments(const Config& config);

/// Returns the dtype policy in a config, which may have a dtype instead; none if the config has neither.
/// `what` names the layer in messages.
std::optional<DTypePolicy> dtype_in(const Config& config, const std::string& what = {});
/// Returns the options that every layer has (name, trainable, dtype, input shape) from a config of a class.
LayerOptions layer_options(const std::string& class_name, const Config& config);

template <class Arguments>
void set_layer_options(Arguments& arguments, const LayerOptions& options) {
  arguments.input_shape = options.input_shape, arguments.batch_input_shape = options.batch_input_shape;
  arguments.name = options.name, arguments.trainable = options.trainable, arguments.dtype = options.dtype;
}

/// Returns the arguments of a layer from a config, including the options that every layer has.
template <class Arguments>
Arguments layer_arguments(const std::string& class_name, const Config& config) {
  auto arguments = options_from<Arguments>(class_name, own_arguments(config));
  set_layer_options(arguments, layer_options(class_name, config));
  return arguments;
}

// Each function adds the layers of one family to the registry.
void add_activation_layers(ClassRegistry& registry);
void add_attention_layers(ClassRegistry& registry);
void add_augmentation_layers(ClassRegistry& registry);
void add_convolution_layers(ClassRegistry& registry);
void add_convolutional_recurrent_layers(ClassRegistry& registry);
void add_core_layers(ClassRegistry& registry);
void add_einsum_dense(ClassRegistry& registry);
void add_encoding_layers(ClassRegistry& registry);
void add_image_layers(ClassRegistry& registry);
void add_input_layer(ClassRegistry& registry);
void add_locally_connected_layers(ClassRegistry& registry);
void add_lookup_layers(ClassRegistry& registry);
void add_merging_layers(ClassRegistry& registry);
void add_multi_head_attention_layers(ClassRegistry& registry);
void add_normalization_layers(ClassRegistry& registry);
void add_numeric_layers(ClassRegistry& registry);
void add_padding_layers(ClassRegistry& registry);
void add_pooling_layers(ClassRegistry& registry);
void add_recurrent_cells(ClassRegistry& registry);
void add_recurrent_layers(ClassRegistry& registry);
void add_regularization_layers(ClassRegistry& registry);
void add_reshaping_layers(ClassRegistry& registry);
void add_text_layers(ClassRegistry& registry);
void add_wrappers(ClassRegistry& registry);

/// Adds a layer class to the registry under a name and aliases. The factory makes a layer from the arguments
/// in a config.
template <class Impl, class Arguments>
void add_layer(ClassRegistry& registry, const std::string& name,
               const std::vector<std::string>& aliases = {}) {
  const auto make = [name](const Config& config) {
    return Layer(std::make_shared<Impl>(layer_arguments<Arguments>(name, config)));
  };
  registry.add(name, Factory(make), aliases);
}

/// The seeds of a layer that draws random numbers. If the layer has a seed, each call gets the next number of
/// the sequence that the seed determines. Otherwise `next` returns no seed, and each call draws from the
/// global generator.
class SeedGenerator {
 public:
  explicit SeedGenerator(std::optional<std::int64_t> seed) : seed_(seed) {}
  std::optional<std::int64_t> next() {
    if (!seed_) return {};
    const std::uint64_t draw = draws_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(*seed_) + 0x9e3779b97f4a7c15u * draw);
  }
  void state(Archive& state) {
    if (!seed_) return;
    std::uint64_t draws = draws_;
    state("draws", draws);
    draws_ = draws;
  }

 private:
  std::optional<std::int64_t> seed_;
  std::atomic<std::uint64_t> draws_{0};
};

/// Throws ValueError, naming layer and argument, unless the value is at least `least`.
template <class T>
void expect_at_least(const char* layer, const char* argument, T value, T least) {
  if (!(value >= least))
    fail("[", layer, "] ", argument, " must be at least ", least, ": received ", argument, '=', value);
}

/// Throws ValueError, naming layer and argument, unless the count is at least `least` and below 2^31, so that
/// the product of two counts does not overflow.
inline void expect_count(const char* layer, const char* argument, std::int64_t count,
                         std::int64_t least = 1) {
  expect_at_least(layer, argument, count, least);
  if (count >> 31 != 0)
    fail("[", layer, "] ", argument, " must be below 2 ** 31: received ", argument, '=', count);
}

/// Throws ValueError, naming layer and argument, unless the rate is a valid dropout rate, in [0, 1).
inline void expect_rate(const char* layer, const char* argument, double rate) {
  if (!(rate >= 0 && rate < 1))
    fail("[", layer, "] ", argument, " must be in [0, 1): received ", argument, '=', rate);
}

}  // namespace ktape::nn
