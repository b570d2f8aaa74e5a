#pragma once

namespace ktape {

// initial-exec: one load instead of a call into the loader; see thread_state.hpp.
extern constinit thread_local const char* called_op [[gnu::tls_model("initial-exec")]];

/// The name of the op that the user called, while the op runs: errors of the ops that it calls have this name. The outermost
/// object of a thread counts. Not for ops that call a function of the user. Internal: sources only.
class CalledOp {
 public:
  explicit CalledOp(const char* op) : outer_(called_op) {
    if (!outer_) called_op = op;
  }
  ~CalledOp() { called_op = outer_; }
  CalledOp(const CalledOp&) = delete;
  CalledOp& operator=(const CalledOp&) = delete;

 private:
  const char* const outer_;
};

}  // namespace ktape
