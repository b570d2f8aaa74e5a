#pragma once
#include <ktape/nn/layers/base/layer.hpp>

#include <map>

/// Layers that several models of one config share. Each place in the config holds the number of the shared
/// layer, Keras's `shared_object_id`; reading makes one layer for each number. Internal: sources only.
namespace ktape::nn {

/// The shared layers of a config that is being written or read. The newest object of a thread is in use; its
/// destructor restores the object before.
class SharedLayers {
 public:
  SharedLayers();
  /// Numbers the layers that are inside more than one layer below `root`, for writing.
  explicit SharedLayers(const Layer& root);
  ~SharedLayers();
  SharedLayers(const SharedLayers&) = delete;
  SharedLayers& operator=(const SharedLayers&) = delete;

  /// Returns the number of a layer for writing, or null for a layer that is not shared.
  static Value number_of(const LayerImpl& layer);
  /// Returns the layer that was made for the number in a {class_name, config}. The result is undefined if the
  /// number is missing or new.
  static Layer find(const Value& value);
  /// Stores a layer under the number in the {class_name, config} from which the layer was made. Does nothing
  /// if the number is missing.
  static void remember(const Value& value, const Layer& layer);

 private:
  SharedLayers* before_;
  std::map<const LayerImpl*, std::int64_t> numbers_;
  std::map<std::int64_t, Layer> read_;
};

}  // namespace ktape::nn
