#pragma once

namespace ktape::nn {

/// While one lives, the next Ctrl-C is kept for `requested`; the one after that does what Ctrl-C did before,
/// which ends most programs. Scopes may overlap, on one thread and on several: a Ctrl-C is kept for all
/// scopes that live, and what Ctrl-C did before returns with the end of the last. A scope within another of
/// its thread, as of a training in a callback, also knows the Ctrl-C that came before it.
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
