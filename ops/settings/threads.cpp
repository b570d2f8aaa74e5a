#include <ktape/autograd/base/error.hpp>
#include <ktape/ops/settings/threads.hpp>

#include <omp.h>

namespace ktape::backend {

int num_threads() { return omp_get_max_threads(); }

void set_num_threads(int threads) {
  constexpr int most = 1024;
  if (threads < 1 || threads > most)
    fail("[set_num_threads] threads must be from 1 to ", most, ": received threads=", threads);
  omp_set_num_threads(threads);
}

}  // namespace ktape::backend
