#pragma once
#include <csignal>

namespace ktape::nn {

/// While one lives, the first Ctrl-C is kept for `requested`; the next one does what it did before, which
/// ends most programs.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  bool requested() const;

 private:
  struct sigaction before_;
};

}  // namespace ktape::nn
