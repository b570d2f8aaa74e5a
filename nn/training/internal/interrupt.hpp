#pragma once

namespace ktape::nn {

/// A scope in which the first Ctrl-C only sets `requested`; the second has its former effect, which ends most
/// programs. Scopes may overlap, on one thread and on several: a Ctrl-C counts for all scopes that live, and
/// the end of the last scope restores the former effect. A scope within another scope of its thread, as of a
/// training in a callback, also counts a Ctrl-C from before its begin.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  bool requested() const;

 private:
  int before_;  ///< the number of interrupts that the scope does not count
};

}  // namespace ktape::nn
