#pragma once
#include <omp.h>

namespace ktape::kernels {

/// A scope in which parallel regions of this thread have a single thread, if `wanted`.
class OneThread {
 public:
  explicit OneThread(bool wanted) : before_(wanted ? omp_get_max_threads() : 0) {
    if (wanted) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 0) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

}  // namespace ktape::kernels
