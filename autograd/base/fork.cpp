#include <omp.h>
#include <pthread.h>

namespace {

/// Limits the child of a fork to one OpenMP thread. A fork copies only the forking thread, and a parallel
/// region in the child would wait for the missing threads for ever. Threads that the child starts keep their
/// number of OpenMP threads.
extern "C" void ktape_after_fork_in_child() { omp_set_num_threads(1); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, ktape_after_fork_in_child);

}  // namespace
