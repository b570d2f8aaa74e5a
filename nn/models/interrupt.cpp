#include <ktape/nn/models/interrupt.hpp>

namespace ktape::nn {
namespace {

volatile std::sig_atomic_t interrupted = 0;
struct sigaction outside;

extern "C" void keep_interrupt(int) {
  interrupted = 1;
  sigaction(SIGINT, &outside, nullptr);
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = keep_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, nullptr, &before_);
  outside = before_;
  sigaction(SIGINT, &action, nullptr);
}

InterruptScope::~InterruptScope() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptScope::requested() const { return interrupted != 0; }

}  // namespace ktape::nn
