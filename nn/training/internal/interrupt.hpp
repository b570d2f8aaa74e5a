#pragma once

namespace ktape::nn {

/// A scope in which the first Ctrl-C only makes `requested` true. A second Ctrl-C has the effect that Ctrl-C
/// has outside of the scopes: in most programs, the end of the program. Scopes may overlap, on one thread and
/// on several threads: a Ctrl-C counts for all living scopes, and the end of the last scope restores the
/// earlier handler. A scope inside another scope of its thread, such as a training that a callback runs, also
/// counts a Ctrl-C from before the inner scope.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  bool requested() const;
  /// Returns whether the scope is inside of no other scope of its thread.
  bool outermost() const { return outermost_; }

 private:
  bool outermost_;
  int before_;  ///< the number of interrupts that the scope does not count
};

}  // namespace ktape::nn
