#pragma once
#include <ktape/nn/layers/base/layer.hpp>

#include <map>

/// Layers that are in several models of one config: each is written under a number, Keras's
/// `shared_object_id`, wherever it stands, and is made once. Internal: sources only.
namespace ktape::nn {

/// The shared layers of what is being written or read. The newest of the thread counts.
class SharedLayers {
 public:
  SharedLayers();
  /// For writing: those of the layer.
  explicit SharedLayers(const Layer& root);
  ~SharedLayers();
  SharedLayers(const SharedLayers&) = delete;
  SharedLayers& operator=(const SharedLayers&) = delete;

  /// The number of a layer that is written; null when it is in one place.
  static Value number_of(const LayerImpl& layer);
  /// The layer that was read under the number of a {class_name, config}; undefined when there is none.
  static Layer find(const Value& value);
  /// Remembers the layer that was made of the value, where that has a number.
  static void remember(const Value& value, const Layer& layer);

 private:
  SharedLayers* before_;
  std::map<const LayerImpl*, std::int64_t> numbers_;
  std::map<std::int64_t, Layer> read_;
};

}  // namespace ktape::nn
