#include <ktape/ops/config.hpp>
#include <ktape/ops/config_file.hpp>
#include <ktape/ops/kernels/engine.hpp>

#include <omp.h>

#include <atomic>
#include <mutex>
#include <optional>

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

/// This thread asks for no others while it lives.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;

 private:
  int before_;
};

/// Whether a kernel divides sums among the threads, or a library that it stands on may.
bool divides_sums(Kernel kernel) { return kernel <= Kernel::ConvolutionBackwardKernel; }

}  // namespace

Engine::Engine(const std::string& backend) : name_(backend) {
  auto layer = layers_.begin();
  if (backend::is_library(backend)) {
    EngineLibrary library = load_engine_library(backend);
    name_ = std::move(library.name);
    library_ = library.kernels;
    *layer++ = &library_;
  }
  if (backend != "xtensor") *layer++ = &onednn_kernels();
  *layer = &xtensor_kernels();
}

void Engine::run(Kernel kernel, const void* arguments) const {
  std::optional<OneThread> alone;
  if (backend::deterministic() && divides_sums(kernel)) alone.emplace();
  for (const Kernels* layer : layers_)
    if (const ktape_kernel function = (*layer)[static_cast<std::size_t>(kernel)];
        function && function(arguments))
      return;
}

const Engine& engine() {
  const Engine* engine = current.load(std::memory_order_acquire);
  return engine ? *engine : load();
}

EngineScope::EngineScope(const std::string& backend) : engine_(backend), before_(&engine()) {
  current = &engine_;
}
EngineScope::~EngineScope() { current = before_; }

}  // namespace ktape::kernels
