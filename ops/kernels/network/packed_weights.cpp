#ifdef KTAPE_WITH_ONEDNN
#include <ktape/ops/kernels/network/folding.hpp>
#include <ktape/ops/kernels/network/packed_weights.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace ktape::kernels {

namespace {

using dnnl::memory;
using Part = PackedWeight::Part;

/// A packed array, and the elements of which the array was made.
struct Packed {
  Packed(std::size_t bytes, std::shared_ptr<const void> owner)
      : memory(static_cast<std::int64_t>((bytes + sizeof(float) - 1) / sizeof(float))),
        elements(memory.take(0)),
        owner(std::move(owner)) {}
  Workspace<float> memory;
  float* elements;
  std::shared_ptr<const void> owner;
};

/// All packed arrays that are in use, by the elements and the way of packing.
class PackedArrays {
 public:
  std::shared_ptr<const Packed> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = arrays_.find(key);
    return found == arrays_.end() ? nullptr : found->second.lock();
  }
  void add(const std::string& key, const std::shared_ptr<const Packed>& packed) {
    const std::lock_guard lock(mutex_);
    std::erase_if(arrays_, [](const auto& entry) { return entry.second.expired(); });
    arrays_[key] = packed;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Packed>> arrays_;
};

PackedArrays& packed_arrays() {
  static PackedArrays& arrays = *new PackedArrays();
  return arrays;
}

/// Packs the weights of one network.
class Packer {
 public:
  Packer(const NetworkSteps& steps, const std::vector<const float*>& weights,
         const std::shared_ptr<const void>& owner)
      : steps_(steps), weights_(weights), owner_(owner) {}

  PackedArray pack(const PackedWeight& weight) {
    if (weight.part == Part::InPlace) return {owner_, elements(node_of(weight).kernel)};
    const std::string key = key_of(weight);
    std::shared_ptr<const Packed> packed = packed_arrays().find(key);
    if (!packed) {
      packed = std::make_shared<const Packed>(weight.packed.get_size(), owner_);
      fill(weight, packed->elements);
      packed_arrays().add(key, packed);
    }
    return {packed, packed->elements};
  }

 private:
  const NetworkNode& node_of(const PackedWeight& weight) const { return steps_.network.nodes[weight.node]; }
  const float* elements(int weight) const {
    return weight < 0 ? nullptr : weights_[static_cast<std::size_t>(weight)];
  }

  /// Returns a text that differs for arrays with different numbers.
  std::string key_of(const PackedWeight& weight) const {
    const NetworkNode& node = node_of(weight);
    std::string key;
    const auto add = [&](const auto& value) {
      key.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    add(weight.part), add(weight.packed.data), add(elements(node.kernel)), add(elements(node.bias));
    for (const ChannelNormalizer& n : node.normalizers) {
      for (const int part : {n.gamma, n.beta, n.mean, n.variance}) add(elements(part));
      add(n.epsilon);
    }
    if (node.own) {
      key += node.own->name();
      for (const int part : node.weights) add(elements(part));
    }
    if (node.columns)
      for (const int column : *node.columns) add(column);
    return key;
  }

  const ChannelFactors& channels_of(std::size_t node) {
    if (node != node_) channels_ = channel_factors(steps_.network.nodes[node], weights_), node_ = node;
    return channels_;
  }

  void fill(const PackedWeight& weight, float* packed) {
    const NetworkNode& node = node_of(weight);
    if (weight.part == Part::Kernel) {
      pack_kernel(weight, packed);
    } else if (weight.part == Part::Own) {
      std::vector<const float*> given;
      for (const int index : node.weights) given.push_back(elements(index));
      node.own->pack(given, packed);
    } else {
      const ChannelFactors& channels = channels_of(weight.node);
      const auto& part = weight.part == Part::Factors ? channels.factors : channels.offsets;
      std::copy(part.begin(), part.end(), packed);
    }
  }

  void pack_kernel(const PackedWeight& weight, float* packed) {
    const NetworkNode& node = node_of(weight);
    const ChannelFactors& channels = channels_of(weight.node);
    const auto size = static_cast<std::int64_t>(weight.plain.get_size() / sizeof(float));
    const float* from = elements(node.kernel);
    const bool changes = channels.scales || node.columns;
    Workspace<float> scaled(changes ? size : 0);
    if (changes) {
      scale_kernel(node, from, size / node.shape.back(), channels, scaled.take(0));
      from = scaled.take(0);
    }
    memory plain(weight.plain, processor(), const_cast<float*>(from)), to(weight.packed, processor(), packed);
    dnnl::stream stream(processor());
    dnnl::reorder(plain, to).execute(stream, plain, to);
    stream.wait();
  }

  const NetworkSteps& steps_;
  const std::vector<const float*>& weights_;
  const std::shared_ptr<const void>& owner_;
  std::size_t node_ = static_cast<std::size_t>(-1);  ///< the node of `channels_`
  ChannelFactors channels_;
};

}  // namespace

std::vector<PackedArray> pack_weights(const NetworkSteps& steps, const std::vector<const float*>& weights,
                                      const std::shared_ptr<const void>& owner) {
  Packer packer(steps, weights, owner);
  std::vector<PackedArray> packed;
  for (const PackedWeight& weight : steps.weights) packed.push_back(packer.pack(weight));
  return packed;
}

}  // namespace ktape::kernels
#endif
