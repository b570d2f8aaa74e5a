#pragma once
#include <ktape/ops/kernels/engine/engine.hpp>

/// The engine whose kernels the ops run. Internal.
namespace ktape::op_helpers {

/// The engine in use: of the configured backend, loaded at the first call. Throws as loading does, at every
/// call until one succeeds.
const kernels::Engine& engine();

/// The threads of a kernel that divides sums among them, or that a library may run so: while results are to
/// be deterministic only one. Parts into which its callers divide the work may run on several.
kernels::Threads threads_for_sums();

/// A scope in which all threads use another engine; for tests and measurements.
class EngineScope {
 public:
  explicit EngineScope(const std::string& backend);
  ~EngineScope();
  EngineScope(const EngineScope&) = delete;

 private:
  kernels::Engine engine_;
  const kernels::Engine* before_;
};

}  // namespace ktape::op_helpers
