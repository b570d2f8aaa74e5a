#pragma once
#include <ktape/ops/kernels/engine/engine.hpp>

/// The engine whose kernels the ops run. Internal: sources only.
namespace ktape::op_helpers {

/// Returns the engine of the configured backend, loaded at the first call. A call whose loading fails throws
/// the errors of the loader; the next call tries again.
const kernels::Engine& engine();

/// Returns the threads for a kernel whose sums are divided among threads: one thread while results must be
/// deterministic. A caller that divides the work into fixed parts may still run the parts on several threads.
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
