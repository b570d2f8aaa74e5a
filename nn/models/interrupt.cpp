#include <ktape/nn/models/interrupt.hpp>

namespace ktape::nn {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void keep_interrupt(int) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = keep_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_);
}

InterruptScope::~InterruptScope() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptScope::requested() const { return interrupted != 0; }

}  // namespace ktape::nn
