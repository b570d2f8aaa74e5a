#pragma once
#include <ktape/autograd/base/ref.hpp>
#include <ktape/autograd/pending_work.hpp>

namespace ktape {

/// A scope in which the element-wise ops of this thread on large tensors wait for each other. A chain of such
/// ops then runs in one pass over memory, a block of elements at a time, and results that nobody reads are
/// not written. The ops run as soon as something else reads one of the results, and at the latest at the end
/// of the scope, so that values, gradients, the tape and exceptions are those of ops that run at once, bit
/// for bit. Internal: sources only.
class FusionScope {
 public:
  /// Makes a scope that does nothing if `on` is false.
  explicit FusionScope(bool on = true);
  ~FusionScope();
  /// Runs the ops that wait, unless the scope lies in another scope. Throws ValueError if memory is missing.
  void finish();
  FusionScope(const FusionScope&) = delete;
  FusionScope& operator=(const FusionScope&) = delete;

 private:
  bool on_;
  PendingWork* outer_ = nullptr;
};

/// Returns whether graphs and training steps may be compiled: false if the environment variable KTAPE_COMPILE
/// is 0.
bool compiles_graphs();

}  // namespace ktape
