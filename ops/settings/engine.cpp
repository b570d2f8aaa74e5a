#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>

#include <atomic>
#include <mutex>

namespace ktape::op_helpers {
namespace {

std::atomic<const kernels::Engine*> current{nullptr};

const kernels::Engine& load() {
  static std::mutex& loading = *new std::mutex;
  const std::lock_guard lock(loading);
  if (!current.load(std::memory_order_relaxed))
    current.store(new kernels::Engine(backend::configured_backend()), std::memory_order_release);
  return *current.load(std::memory_order_relaxed);
}

}  // namespace

const kernels::Engine& engine() {
  const kernels::Engine* engine = current.load(std::memory_order_acquire);
  return engine ? *engine : load();
}

kernels::Threads threads_for_sums() {
  return backend::deterministic() ? kernels::Threads::One : kernels::Threads::All;
}

EngineScope::EngineScope(const std::string& backend) : engine_(backend), before_(&engine()) {
  current = &engine_;
}
EngineScope::~EngineScope() { current = before_; }

}  // namespace ktape::op_helpers
