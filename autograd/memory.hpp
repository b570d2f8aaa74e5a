#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ktape {

/// The memory that the caching allocator holds, in bytes, over all threads. Figures of other threads may be a
/// moment old.
struct MemoryStats {
  std::int64_t live_bytes = 0;    ///< memory of tensors and tape nodes, rounded up to size classes
  std::int64_t cached_bytes = 0;  ///< free, kept for reuse
  std::int64_t peak_bytes = 0;    ///< the most that live and cached memory came to together
  std::int64_t allocations = 0;   ///< blocks handed out so far
  std::int64_t reused = 0;        ///< blocks handed out that came from the cache
};

/// Returns the allocator's figures.
MemoryStats memory_stats();

/// Gives the cached memory that is shared by all threads, and the calling thread's own, back to the system.
void empty_cache();

/// Returns a block of at least `bytes` bytes, 64-byte aligned, its size a multiple of 64; freed blocks of the
/// same size class are reused. Small blocks come from per-thread lists, large ones from a shared one; both
/// caches are bounded: the shared one never holds more than the largest amount of memory that was in use at
/// once. Throws ValueError when there is none.
void* allocate(std::size_t bytes);

/// Returns a block of `allocate(bytes)`, from any thread.
void deallocate(void* block, std::size_t bytes) noexcept;

/// An allocator for the working memory of kernels: vectors take memory from the allocator of the tensors, and
/// throw its ValueError when there is no memory.
template <class T>
struct CachedMemory {
  using value_type = T;
  CachedMemory() = default;
  template <class U>
  CachedMemory(const CachedMemory<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(ktape::allocate(n * sizeof(T))); }
  void deallocate(T* block, std::size_t n) noexcept { ktape::deallocate(block, n * sizeof(T)); }
  friend bool operator==(CachedMemory, CachedMemory) { return true; }
};
template <class T>
using WorkVector = std::vector<T, CachedMemory<T>>;

}  // namespace ktape
