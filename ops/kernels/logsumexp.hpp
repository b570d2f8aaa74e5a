#pragma once
#include <ktape/ops/kernels/groups.hpp>
#include <ktape/ops/kernels/softmax.hpp>

namespace ktape::kernels {

/// log(sum(exp)) as a kernel for `reduced`, for floating tensors. Over more than one axis it is taken of its
/// own results: the logarithm of a sum of exponentials of such logarithms is that of all elements.
struct LogSumExpOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, auto... n) {
    if constexpr (!std::is_integral_v<T>) logsumexp(in, out, n...);
  }
};

}  // namespace ktape::kernels
