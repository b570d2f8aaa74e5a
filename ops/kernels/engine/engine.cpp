#include <ktape/autograd/base/error.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>
#include <ktape/ops/kernels/parallel/one_thread.hpp>

#include <algorithm>

namespace ktape::kernels {
namespace {

void check_is_built_in(const std::string& backend) {
  const std::vector<std::string> names = built_in_engines();
  if (std::find(names.begin(), names.end(), backend) != names.end()) return;
  std::string list;
  for (const std::string& name : names) list += "'" + name + "', ";
  fail("[backend] the engine must be ", list, "or a shared library (a path, or a name with .so): received '",
       backend, "'");
}

}  // namespace

std::vector<std::string> built_in_engines() {
#ifdef KTAPE_WITH_ONEDNN
  return {"onednn", "native", "xtensor"};
#else
  return {"native", "xtensor"};
#endif
}

Engine::Engine(const std::string& backend) : name_(backend) {
  if (backend == "xtensor") layers_ = {&xtensor_kernels()};
  else if (backend == "native") layers_ = {&native_kernels()};
  else if (is_library(backend)) {
    EngineLibrary library = load_engine_library(backend);
    name_ = std::move(library.name);
    library_ = library.kernels;
    layers_ = {&library_, &onednn_kernels(), &native_kernels()};
  } else {
    check_is_built_in(backend);
    layers_ = {&onednn_kernels(), &native_kernels()};
  }
}

/// Returns whether a layer takes bfloat16: onednn, and native's kernels of batch normalization unless a library has its own.
bool Engine::takes_bfloat16(const Kernels& layer, Kernel kernel) const {
  const bool normalizes =
      kernel == Kernel::BatchMoments || kernel == Kernel::BatchSlopes || kernel == Kernel::BatchAffine;
  return &layer == &onednn_kernels() ||
         (&layer == &native_kernels() && normalizes && layers_[0] != &library_);
}

bool Engine::run(Kernel kernel, const void* arguments, Threads threads) const {
  const OneThread alone(threads == Threads::One);
  const bool bfloat16 =
      *static_cast<const std::int32_t*>(arguments) == KTAPE_BFLOAT16;  // all begin with a dtype
  for (const Kernels* layer : layers_) {
    if (!layer || (bfloat16 && !takes_bfloat16(*layer, kernel))) continue;
    if (const ktape_kernel function = (*layer)[static_cast<std::size_t>(kernel)];
        function && function(arguments))
      return true;
  }
  return false;
}

}  // namespace ktape::kernels
