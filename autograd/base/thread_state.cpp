#include <ktape/autograd/base/thread_state.hpp>

#include <pthread.h>

#include <mutex>
#include <system_error>

namespace ktape {
namespace {

std::mutex registry_mutex;
ThreadState* registry = nullptr;

void enter(ThreadState* state) {
  const std::lock_guard lock(registry_mutex);
  state->next = registry;
  if (registry) registry->previous = state;
  registry = state;
}

void leave(ThreadState* state) {
  const std::lock_guard lock(registry_mutex);
  (state->previous ? state->previous->next : registry) = state->next;
  if (state->next) state->next->previous = state->previous;
  retire_allocations(*state);
}

void end_thread(void* ended) {
  auto* state = static_cast<ThreadState*>(ended);
  empty_thread_cache(*state);
  leave(state);
  current_thread_state = nullptr;
  delete state;
}

// The destructors of keys run after the destructors of the thread's own objects, which may include tensors,
// and run again when such a destructor made a new state. The destructors of keys do not run for the main
// thread.
pthread_key_t end_of_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t key;
    if (const int error = pthread_key_create(&key, end_thread))
      throw std::system_error(error, std::generic_category(), "pthread_key_create");
    return key;
  }();
  return key;
}

}  // namespace

constinit thread_local ThreadState* current_thread_state [[gnu::tls_model("initial-exec")]] = nullptr;

ThreadState& new_thread_state() {
  auto* state = new ThreadState;
  pthread_setspecific(end_of_thread(), state);
  enter(state);
  return *(current_thread_state = state);
}

void for_each_thread(const std::function<void(const ThreadState&)>& f) {
  const std::lock_guard lock(registry_mutex);
  for (const ThreadState* state = registry; state; state = state->next) f(*state);
}

}  // namespace ktape
