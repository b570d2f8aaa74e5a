#include <ktape/ops/kernels/engine/engine.hpp>

#include <omp.h>

#include <optional>

namespace ktape::kernels {
namespace {

/// Parallel regions that this thread opens have no other threads while it lives.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace

Engine::Engine(const std::string& backend) : name_(backend) {
  auto layer = layers_.begin();
  if (is_library(backend)) {
    EngineLibrary library = load_engine_library(backend);
    name_ = std::move(library.name);
    library_ = library.kernels;
    *layer++ = &library_;
  }
  if (backend != "xtensor") *layer++ = &onednn_kernels();
  *layer = &xtensor_kernels();
}

void Engine::run(Kernel kernel, const void* arguments, Threads threads) const {
  std::optional<OneThread> alone;
  if (threads == Threads::One) alone.emplace();
  for (const Kernels* layer : layers_)
    if (const ktape_kernel function = (*layer)[static_cast<std::size_t>(kernel)];
        function && function(arguments))
      return;
}

}  // namespace ktape::kernels
