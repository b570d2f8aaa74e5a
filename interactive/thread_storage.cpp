#include <dlfcn.h>

#include <mutex>

/// What is typed reaches thread_local variables by a call with the variable's descriptor, for only a linker
/// could let it do so as other code does. The standard library, which was linked, has no descriptors of the
/// two that std::call_once uses, and std::async, std::promise and std::packaged_task with it.
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
