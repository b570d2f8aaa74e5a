#include <ktape/autograd/base/handler_stack.hpp>
#include <ktape/nn/training/internal/interrupt.hpp>

#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>

namespace ktape::nn {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);

std::mutex mutex;  ///< guards the variables below
int scopes = 0;
struct sigaction outside;  ///< changes only while `keep_interrupt` is not installed

/// The number of scopes of this thread, and the number of interrupts before the first of these scopes.
thread_local int scopes_here = 0, before_scopes_here = 0;

extern "C" void keep_interrupt(int) {
  interrupts.fetch_add(1, std::memory_order_relaxed);
  sigaction(SIGINT, &outside, nullptr);
}

/// Allocates a stack for the signal handlers of this thread, which lives until the thread ends. Does nothing
/// if the thread has such a stack.
void need_handler_stack() {
  thread_local std::optional<HandlerStack> stack;
  if (!stack && !HandlerStack::present()) stack.emplace();
}

bool is_installed() {
  struct sigaction action;
  sigaction(SIGINT, nullptr, &action);
  return action.sa_handler == keep_interrupt;
}

void install() {
  need_handler_stack();
  if (is_installed()) return;
  sigaction(SIGINT, nullptr, &outside);
  struct sigaction action {};
  action.sa_handler = keep_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

InterruptScope::InterruptScope() : outermost_(scopes_here == 0) {
  if (scopes_here++ == 0) before_scopes_here = interrupts;
  before_ = before_scopes_here;
  const std::lock_guard lock(mutex);
  ++scopes;
  if (!requested()) install();
}

InterruptScope::~InterruptScope() {
  --scopes_here;
  const std::lock_guard lock(mutex);
  if (--scopes == 0 && is_installed()) sigaction(SIGINT, &outside, nullptr);
}

bool InterruptScope::requested() const { return interrupts.load(std::memory_order_relaxed) != before_; }

}  // namespace ktape::nn
