#include <ktape/ops/config.hpp>
#include <ktape/ops/internal/config_file.hpp>
#include <ktape/ops/internal/engine.hpp>

#include <atomic>
#include <mutex>

namespace ktape::kernels {
namespace {

std::atomic<const Engine*> current{nullptr};

const Engine& load() {
  static std::mutex& loading = *new std::mutex;
  const std::lock_guard lock(loading);
  if (!current.load(std::memory_order_relaxed))
    current.store(new Engine(backend::configured_backend()), std::memory_order_release);
  return *current.load(std::memory_order_relaxed);
}

}  // namespace

const Engine& engine() {
  const Engine* engine = current.load(std::memory_order_acquire);
  return engine ? *engine : load();
}

Threads threads_for_sums() { return backend::deterministic() ? Threads::One : Threads::All; }

EngineScope::EngineScope(const std::string& backend) : engine_(backend), before_(&engine()) {
  current = &engine_;
}
EngineScope::~EngineScope() { current = before_; }

}  // namespace ktape::kernels
