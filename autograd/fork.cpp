#include <omp.h>
#include <pthread.h>

namespace {

/// Leaves the child of a fork one OpenMP thread: the others of the thread that forked are not copied, and a
/// parallel region would wait for them for ever. Threads that the child starts have as many as ever.
extern "C" void ktape_after_fork_in_child() { omp_set_num_threads(1); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, ktape_after_fork_in_child);

}  // namespace
