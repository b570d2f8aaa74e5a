#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ktape {

/// The memory that the caching allocator holds, in bytes, over all threads. The numbers of other threads may
/// be slightly out of date.
struct MemoryStats {
  std::int64_t live_bytes = 0;    ///< memory of tensors and tape nodes, rounded up to size classes
  std::int64_t cached_bytes = 0;  ///< free memory that is kept for reuse
  std::int64_t peak_bytes = 0;    ///< the largest sum of live and cached memory so far
  std::int64_t allocations = 0;   ///< the number of blocks allocated so far
  std::int64_t reused = 0;        ///< the number of allocated blocks that came from the cache
};

/// Returns the current numbers of the allocator.
///
///     Tensor x = K::zeros({1000, 1000});
///     std::cout << (ktape::memory_stats().live_bytes > 0);
///     ktape::empty_cache();
MemoryStats memory_stats();

/// Returns the memory that programs on this machine, or in this container, can have together, in bytes.
///
///     std::cout << (ktape::memory_of_machine() > 0);
std::int64_t memory_of_machine();

/// Returns the cached memory that all threads share, and the cached memory of the calling thread, to the
/// system.
void empty_cache();

/// Returns a block of at least `bytes` bytes, 64-byte aligned, with a size that is a multiple of 64. Freed
/// blocks of the size class are reused. Small blocks come from per-thread lists, large blocks from a shared
/// list. Both caches are bounded: the shared cache never holds more than the largest amount of memory that
/// was in use at once. Throws ValueError when the system has no memory.
///
///     void* block = ktape::allocate(1000);
///     std::cout << reinterpret_cast<std::uintptr_t>(block) % 64;
///     ktape::deallocate(block, 1000);
void* allocate(std::size_t bytes);

/// Frees a block of `allocate(bytes)`, from any thread.
void deallocate(void* block, std::size_t bytes) noexcept;

/// An allocator for the working memory of kernels: vectors take memory from the allocator of the tensors, and
/// throw ValueError when there is no memory.
///
///     ktape::WorkVector<float> sums(4);
///     sums[2] = 1.5f;
///     std::cout << sums.size() << " " << sums[2];
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
