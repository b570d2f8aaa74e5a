#pragma once
#include <atomic>
#include <cstdint>

namespace ktape {

class Tensor;

/// The origin of elements that do not lie in the block of their storage: work that computes them later, or memory
/// that the origin owns, such as a mapped file. Reference-counted, because the storages outlive the scope that made
/// them. Internal: sources only.
class ElementSource {
 public:
  /// Computes the elements of all storages that wait for this object. Any thread may call.
  virtual void finish() = 0;

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  virtual ~ElementSource() = default;

 private:
  std::atomic<std::int32_t> refs_{1};
};

/// Work that has been put off: the elements of some storages are computed when a reader asks for them, or
/// earlier. A thread has at most one such object (ThreadState::pending), to which its element-wise ops are
/// added. Internal: sources only.
class PendingWork : public ElementSource {
 public:
  /// Adds sum = a + b for floating tensors of one shape and dtype, and returns the sum; an undefined tensor
  /// where the work is too small to be put off.
  virtual Tensor add(const Tensor& a, const Tensor& b) = 0;
};

}  // namespace ktape
