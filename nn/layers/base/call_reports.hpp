#pragma once
#include <ktape/autograd/tensor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Reports of layers: the losses and metrics that calls add. A thread keeps the reports of the calls that it
/// makes, so that threads that call one layer do not mix their reports. Internal: sources only.
namespace ktape::nn {

class LayerImpl;

/// The reports of a layer's last call on this thread.
struct CallReports {
  std::vector<Tensor> losses;
  std::vector<std::pair<std::string, Tensor>> metrics;

  /// Returns whether this thread keeps the reports of any layer.
  static bool any();
  /// The reports of the layer; empty ones where there are none.
  static const CallReports& of(const LayerImpl& layer);
  /// Returns the reports of the layer, to be added to. `call` numbers the calls of this thread that no other
  /// layer makes; reports of an earlier call are dropped.
  static CallReports& begin(const std::shared_ptr<const LayerImpl>& layer, std::uint64_t call);
  static void forget(const LayerImpl& layer);
};

}  // namespace ktape::nn
