#pragma once
#include <ktape/autograd/base/memory.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

namespace ktape::kernels {

/// Scratch memory of a kernel from the tensors' allocator, which is fast: arrays of `size` elements in all,
/// each aligned to vectors, with room for a vector after the last array. Nothing is initialized. For zeros,
/// or memory that grows, use WorkVector.
template <class A>
class Workspace {
 public:
  explicit Workspace(std::int64_t size)
      : bytes_(static_cast<std::size_t>(size + lanes<A>) * sizeof(A)),
        start_(static_cast<A*>(allocate(bytes_))) {}
  ~Workspace() { deallocate(start_, bytes_); }
  Workspace(const Workspace&) = delete;

  /// Returns the next array of `size` elements, rounded up to whole vectors.
  A* take(std::int64_t size) {
    A* const taken = start_ + used_;
    used_ += padded<A>(size);
    return taken;
  }

 private:
  std::size_t bytes_;
  A* start_;
  std::int64_t used_ = 0;
};

}  // namespace ktape::kernels
