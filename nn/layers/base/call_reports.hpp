#pragma once
#include <ktape/autograd/tensor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Losses and metrics that layers add in their calls. Each thread keeps the reports of the calls on that
/// thread, so that threads that call one layer do not mix their reports. Internal: sources only.
namespace ktape::nn {

class LayerImpl;

/// The reports of a layer's last call on this thread.
struct CallReports {
  std::vector<Tensor> losses;
  std::vector<std::pair<std::string, Tensor>> metrics;

  /// Returns whether this thread keeps the reports of any layer.
  static bool any();
  /// Returns the reports of a layer; empty reports when there are none.
  static const CallReports& of(const LayerImpl& layer);
  /// Returns the reports of a layer, to which the caller adds a report. `call` is the number of the outermost
  /// layer call on this thread; reports of an earlier call are dropped.
  static CallReports& begin(const std::shared_ptr<const LayerImpl>& layer, std::uint64_t call);
  static void forget(const LayerImpl& layer);
};

}  // namespace ktape::nn
