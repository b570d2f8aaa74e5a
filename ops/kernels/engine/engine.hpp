#pragma once
#include <ktape/ops/kernels/kernel_calls.h>
#include <ktape/autograd/base/dtype.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The engine: the table of heavy kernels that kernel_calls.h describes. Internal.
namespace ktape::kernels {

enum class Kernel {
  Matmul,
  Convolution,
  ConvolutionBackwardData,
  ConvolutionBackwardKernel,
  Pooling,
  PoolingBackward,
  Softmax,
  SoftmaxBackward,
  BatchMoments,
  BatchSlopes,
  BatchAffine
};

/// The name of a kernel in engine libraries and the version of its arguments; `table` has the order of
/// Kernel.
struct EntryInfo {
  const char* name;
  std::int32_t version;
};
inline constexpr std::array<EntryInfo, 11> table{{
    {"matmul", KTAPE_MATMUL_VERSION},
    {"convolution", KTAPE_CONVOLUTION_VERSION},
    {"convolution_backward_data", KTAPE_CONVOLUTION_VERSION},
    {"convolution_backward_kernel", KTAPE_CONVOLUTION_VERSION},
    {"pooling", KTAPE_POOLING_VERSION},
    {"pooling_backward", KTAPE_POOLING_VERSION},
    {"softmax", KTAPE_SOFTMAX_VERSION},
    {"softmax_backward", KTAPE_SOFTMAX_VERSION},
    {"batch_moments", KTAPE_BATCH_NORMALIZATION_VERSION},
    {"batch_slopes", KTAPE_BATCH_NORMALIZATION_VERSION},
    {"batch_affine", KTAPE_BATCH_NORMALIZATION_VERSION},
}};

/// A kernel for each entry; null where there is none.
using Kernels = std::array<ktape_kernel, table.size()>;

/// Return the kernels of an engine: the kernels in which oneDNN is faster than ktape's own (empty in builds
/// without oneDNN), ktape's own kernels, and formulas in xtensor. The last two are complete.
const Kernels& onednn_kernels();
const Kernels& native_kernels();
const Kernels& xtensor_kernels();

/// Returns the names of the built-in engines, the default engine first.
std::vector<std::string> built_in_engines();

/// Returns whether a backend is named as a shared library: by a path, or by a name with ".so", which the
/// loader searches for.
bool is_library(std::string_view backend);

/// A loaded engine library; K::backend() returns its name. Throws IOError for a library that cannot be
/// loaded, and ValueError, listing all faults, for a library that does not fit the table.
struct EngineLibrary {
  std::string name;
  Kernels kernels;
};
EngineLibrary load_engine_library(const std::string& library);

/// The threads that a kernel may use: all threads of OpenMP, or the calling thread only.
enum class Threads { All, One };

/// Returns whether onednn multiplies bfloat16: the processor has the instructions, which ONEDNN_MAX_CPU_ISA may
/// hide, and the environment does not contain KTAPE_BFLOAT16=0.
bool multiplies_bfloat16();

/// Layers of kernels: a layer may pass a call on to the layer below; the lowest layer takes every call. Below
/// a library is the default engine, below onednn is native. Throws ValueError for an unknown name.
class Engine {
 public:
  explicit Engine(const std::string& backend);
  Engine(const Engine&) = delete;
  const std::string& name() const { return name_; }
  /// Runs a kernel. Returns false, without a result, if the arguments are bfloat16 and no layer multiplies them.
  bool run(Kernel kernel, const void* arguments, Threads threads = Threads::All) const;

 private:
  bool takes_bfloat16(const Kernels& layer, Kernel kernel) const;

  std::string name_;
  std::array<const Kernels*, 3> layers_{};
  Kernels library_{};
};

/// Converts a dtype of kernels, float32, float64 or bfloat16, to the number that stands for the dtype in the
/// arguments.
inline std::int32_t engine_dtype(DType dtype) {
  return dtype == DType::Float64 ? KTAPE_FLOAT64 : dtype == DType::BFloat16 ? KTAPE_BFLOAT16 : KTAPE_FLOAT32;
}

}  // namespace ktape::kernels
