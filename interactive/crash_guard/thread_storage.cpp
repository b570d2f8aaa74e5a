#include <dlfcn.h>

#include <mutex>

/// Interpreted code accesses thread_local variables through a function call with a descriptor of the
/// variable (emulated TLS), because no linker resolves them. The standard library has no such descriptors for
/// the two variables that std::call_once uses, and with it std::async, std::promise and std::packaged_task:
/// they are defined here.
extern "C" {
__attribute__((visibility("default"),
               used)) char ktape_once_callable asm("__emutls_v._ZSt15__once_callable") = 0;
__attribute__((visibility("default"), used)) char ktape_once_call asm("__emutls_v._ZSt11__once_call") = 0;

__attribute__((visibility("default"), used)) void* __emutls_get_address(void* descriptor) {
  if (descriptor == &ktape_once_callable) return &std::__once_callable;
  if (descriptor == &ktape_once_call) return &std::__once_call;
  static const auto of_runtime = reinterpret_cast<void* (*)(void*)>(dlsym(RTLD_NEXT, "__emutls_get_address"));
  return of_runtime(descriptor);
}
}
