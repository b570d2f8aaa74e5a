#include <ktape/nn/data/transformations/transformation.hpp>

#include <omp.h>

#include <algorithm>

namespace ktape::data {

int threads_of(const char* op, int num_parallel_calls) {
  if (num_parallel_calls == AUTOTUNE) return std::max(1, omp_get_num_procs());
  expect_at_least(op, "num_parallel_calls", num_parallel_calls, 1);
  return num_parallel_calls;
}

}  // namespace ktape::data
