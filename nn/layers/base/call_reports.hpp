#pragma once
#include <ktape/autograd/tensor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// What layers report in their calls: added losses and metrics. Each thread keeps the reports of its own
/// calls, so that threads that call one layer do not mix theirs. Internal.
namespace ktape::nn {

class LayerImpl;

/// The reports of a layer's last call on this thread.
struct CallReports {
  std::vector<Tensor> losses;
  std::vector<std::pair<std::string, Tensor>> metrics;

  /// Whether this thread keeps the reports of any layer.
  static bool any();
  /// The reports of the layer; empty ones where there are none.
  static const CallReports& of(const LayerImpl& layer);
  /// The reports of the layer, to be added to. `call` numbers the calls of this thread that no other layer
  /// makes; reports of an earlier call are dropped.
  static CallReports& begin(const std::shared_ptr<const LayerImpl>& layer, std::uint64_t call);
  static void forget(const LayerImpl& layer);
};

}  // namespace ktape::nn
