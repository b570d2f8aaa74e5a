#include <ktape/autograd/base/handler_stack.hpp>

#include <dlfcn.h>
#include <pthread.h>

namespace {

struct ThreadStart {
  void* (*function)(void*);
  void* argument;
};

void* run_thread(void* argument) {
  const ThreadStart start = *std::unique_ptr<ThreadStart>(static_cast<ThreadStart*>(argument));
  const ktape::HandlerStack stack;
  return start.function(start.argument);
}

}  // namespace

/// Replaces the C library's pthread_create for all threads of the program and gives each thread a stack for
/// signal handlers: a thread that overflows its stack is then reported, and ends alone.
extern "C" __attribute__((visibility("default"), used)) int pthread_create(pthread_t* thread,
                                                                           const pthread_attr_t* attributes,
                                                                           void* (*function)(void*),
                                                                           void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  auto start = std::make_unique<ThreadStart>(function, argument);
  const int status = create(thread, attributes, run_thread, start.get());
  if (status == 0) static_cast<void>(start.release());
  return status;
}
