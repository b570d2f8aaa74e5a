#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/thread_state.hpp>

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <utility>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace ktape {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::int64_t thread_cache_bytes = std::int64_t{1} << 18;  // per thread and small size class
constexpr std::int64_t small_cache_bytes = std::int64_t{8} << 20;   // of all threads, per small size class
constexpr int blocks_at_once = 32;  // that a thread gives to the others, or takes, under one lock

struct SizeClass {
  int index;
  std::size_t bytes;
};

// The size classes are multiples of 64 up to 512, then four classes per doubling: at most a quarter is lost.
SizeClass size_class(std::size_t bytes) {
  if (bytes <= 512) {
    const int units = bytes <= 64 ? 1 : static_cast<int>((bytes + 63) / 64);
    return {units - 1, std::size_t(units) * 64};
  }
  const int lg = std::bit_width(bytes - 1) - 1;
  const std::size_t base = std::size_t{1} << lg, step = base / 4, quarters = (bytes - base + step - 1) / step;
  return {8 + (lg - 9) * 4 + static_cast<int>(quarters) - 1, base + quarters * step};
}
constexpr int class_count = 8 + 4 * 48;

struct SharedCache {
  std::mutex mutex;
  FreeBlock* blocks[class_count] = {};
  std::int64_t last_use[class_count] = {};  // the number of the allocation that a size class served last
  std::int64_t uses = 0, live = 0, peak_live = 0, cached = 0;
  // The small blocks that threads freed in excess: some threads only allocate what others free.
  std::atomic<std::int32_t> small_counts[ThreadState::small_classes] = {};

  std::int64_t small_bytes(SizeClass c) const {
    return small_counts[c.index].load(std::memory_order_relaxed) * static_cast<std::int64_t>(c.bytes);
  }
};

SharedCache& shared_cache() {
  static SharedCache* cache = new SharedCache;  // outlives every static tensor
  return *cache;
}

std::atomic<std::int64_t> system_bytes{0}, peak_system_bytes{0}, system_allocations{0};
std::atomic<std::int64_t> allocations_of_ended_threads{0};

// Each counter is written by one thread only, so a plain load and store suffice.
template <class T>
void bump(std::atomic<T>& counter, T by) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/// Returns the number in a file; the largest number without such a file, and for a word such as "max".
std::int64_t limit_in(const char* file) {
  std::int64_t limit = 0;
  return std::ifstream(file) >> limit && limit > 0 ? limit : std::numeric_limits<std::int64_t>::max();
}

void* from_system(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : 64;
  void* block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!block) {
    empty_cache();
    block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!block) fail("[memory] a block of memory must fit in what the system has: received bytes=", bytes);
  }
  if (alignment == huge_page) madvise(block, bytes, MADV_HUGEPAGE);
  system_allocations.fetch_add(1);
  const std::int64_t total =
      system_bytes.fetch_add(static_cast<std::int64_t>(bytes)) + static_cast<std::int64_t>(bytes);
  std::int64_t peak = peak_system_bytes.load();
  while (total > peak && !peak_system_bytes.compare_exchange_weak(peak, total)) {
  }
  return block;
}

void to_system(void* block, std::size_t bytes) {
  system_bytes.fetch_sub(static_cast<std::int64_t>(bytes));
  std::free(block);
}

void poison([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(block) + sizeof(FreeBlock), bytes - sizeof(FreeBlock));
#endif
}

void unpoison([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
#endif
}

void* allocate_large(SizeClass c) {
  SharedCache& cache = shared_cache();
  {
    std::lock_guard lock(cache.mutex);
    cache.live += static_cast<std::int64_t>(c.bytes);
    cache.peak_live = std::max(cache.peak_live, cache.live);
    cache.last_use[c.index] = ++cache.uses;
    if (FreeBlock* block = cache.blocks[c.index]) {
      unpoison(block, c.bytes);
      cache.blocks[c.index] = block->next;
      cache.cached -= static_cast<std::int64_t>(c.bytes);
      return block;
    }
  }
  try {
    return from_system(c.bytes);
  } catch (...) {
    std::lock_guard lock(cache.mutex);
    cache.live -= static_cast<std::int64_t>(c.bytes);
    throw;
  }
}

void release_list(FreeBlock*& head, std::size_t bytes) {
  while (FreeBlock* block = head) {
    unpoison(block, bytes);
    head = block->next;
    to_system(block, bytes);
  }
}

/// Moves blocks, at most `blocks_at_once`, from one list to another. Returns their number.
std::int32_t move_blocks(FreeBlock*& from, FreeBlock*& to) {
  FreeBlock* last = from;
  if (!last) return 0;
  std::int32_t count = 1;
  for (; count < blocks_at_once && last->next; ++count) last = last->next;
  FreeBlock* const first = std::exchange(from, last->next);
  last->next = std::exchange(to, first);
  return count;
}

/// Moves some free blocks of a thread to the shared cache, or to the system if there are many.
void give_small(ThreadState& state, SizeClass c) {
  SharedCache& cache = shared_cache();
  FreeBlock* surplus = nullptr;
  std::int32_t count = move_blocks(state.free_blocks[std::size_t(c.index)], surplus);
  bump(state.free_counts[std::size_t(c.index)], -count);
  if (cache.small_bytes(c) >= small_cache_bytes) return release_list(surplus, c.bytes);
  const std::lock_guard lock(cache.mutex);
  bump(cache.small_counts[c.index], move_blocks(surplus, cache.blocks[c.index]));
}

/// Moves some blocks of the shared cache to a thread. Returns false if there are none.
bool take_small(ThreadState& state, SizeClass c) {
  SharedCache& cache = shared_cache();
  if (cache.small_bytes(c) == 0) return false;
  const std::lock_guard lock(cache.mutex);
  const std::int32_t count = move_blocks(cache.blocks[c.index], state.free_blocks[std::size_t(c.index)]);
  bump(cache.small_counts[c.index], -count);
  bump(state.free_counts[std::size_t(c.index)], count);
  return count > 0;
}

std::size_t class_bytes(int index) {
  if (index < 8) return std::size_t(index + 1) * 64;
  const std::size_t base = std::size_t{1} << (9 + (index - 8) / 4);
  return base + base / 4 * std::size_t((index - 8) % 4 + 1);
}

/// Returns the size class with cached blocks that served an allocation least recently, or -1.
int stalest_class(const SharedCache& cache) {
  int stalest = -1;
  for (int i = ThreadState::small_classes; i < class_count; ++i)
    if (cache.blocks[i] && (stalest < 0 || cache.last_use[i] < cache.last_use[stalest])) stalest = i;
  return stalest;
}

/// Makes room for a block: blocks of sizes that are no longer in use go first. The cache may hold a quarter more than the
/// peak of live memory, because the blocks of a repeated step seldom add up to the peak exactly.
void make_room(SharedCache& cache, std::int64_t bytes) {
  while (cache.cached + bytes > cache.peak_live + cache.peak_live / 4) {
    const int i = stalest_class(cache);
    if (i < 0) return;
    FreeBlock* block = cache.blocks[i];
    unpoison(block, class_bytes(i));
    cache.blocks[i] = block->next;
    cache.cached -= static_cast<std::int64_t>(class_bytes(i));
    to_system(block, class_bytes(i));
  }
}

void deallocate_large(void* block, SizeClass c) {
  SharedCache& cache = shared_cache();
  const auto bytes = static_cast<std::int64_t>(c.bytes);
  std::lock_guard lock(cache.mutex);
  cache.live -= bytes;
  make_room(cache, bytes);
  cache.blocks[c.index] = new (block) FreeBlock{cache.blocks[c.index]};
  cache.cached += bytes;
  poison(block, c.bytes);
}

}  // namespace

void empty_thread_cache(ThreadState& state) {
  for (int i = 0; i < ThreadState::small_classes; ++i) {
    release_list(state.free_blocks[std::size_t(i)], class_bytes(i));
    state.free_counts[std::size_t(i)].store(0, std::memory_order_relaxed);
  }
}

void retire_allocations(const ThreadState& state) {
  allocations_of_ended_threads.fetch_add(state.allocations.load(std::memory_order_relaxed));
}

void* allocate(std::size_t bytes) {
  ThreadState& state = thread_state();
  const SizeClass c = size_class(bytes);
  bump<std::int64_t>(state.allocations, 1);
  if (c.index >= ThreadState::small_classes) return allocate_large(c);
  FreeBlock*& head = state.free_blocks[std::size_t(c.index)];
  if (!head && !take_small(state, c)) return from_system(c.bytes);
  FreeBlock* block = head;
  unpoison(block, c.bytes);
  head = block->next;
  bump(state.free_counts[std::size_t(c.index)], -1);
  return block;
}

void deallocate(void* block, std::size_t bytes) noexcept {
  ThreadState& state = thread_state();
  const SizeClass c = size_class(bytes);
  if (c.index >= ThreadState::small_classes) return deallocate_large(block, c);
  std::atomic<std::int32_t>& count = state.free_counts[std::size_t(c.index)];
  if (count.load(std::memory_order_relaxed) * static_cast<std::int64_t>(c.bytes) >= thread_cache_bytes)
    give_small(state, c);
  FreeBlock*& head = state.free_blocks[std::size_t(c.index)];
  head = new (block) FreeBlock{head};
  bump(count, 1);
  poison(block, c.bytes);
}

std::int64_t memory_of_machine() {
  static const std::int64_t bytes = [] {
    struct sysinfo all = {};
    const bool known = sysinfo(&all) == 0;
    const std::int64_t present = known ? static_cast<std::int64_t>(all.totalram + all.totalswap) *
                                             static_cast<std::int64_t>(all.mem_unit)
                                       : std::numeric_limits<std::int64_t>::max();
    return std::min({present, limit_in("/sys/fs/cgroup/memory.max"),
                     limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
  }();
  return bytes;
}

MemoryStats memory_stats() {
  MemoryStats stats;
  for_each_thread([&](const ThreadState& state) {
    stats.allocations += state.allocations.load(std::memory_order_relaxed);
    for (int i = 0; i < ThreadState::small_classes; ++i)
      stats.cached_bytes += state.free_counts[std::size_t(i)].load(std::memory_order_relaxed) *
                            static_cast<std::int64_t>(class_bytes(i));
  });
  stats.allocations += allocations_of_ended_threads.load();
  SharedCache& cache = shared_cache();
  std::lock_guard lock(cache.mutex);
  stats.cached_bytes += cache.cached;
  for (int i = 0; i < ThreadState::small_classes; ++i)
    stats.cached_bytes += cache.small_bytes({i, class_bytes(i)});
  stats.live_bytes = system_bytes.load() - stats.cached_bytes;
  stats.peak_bytes = peak_system_bytes.load();
  stats.reused = stats.allocations - system_allocations.load();
  return stats;
}

void empty_cache() {
  empty_thread_cache(thread_state());
  SharedCache& cache = shared_cache();
  std::lock_guard lock(cache.mutex);
  for (int i = 0; i < class_count; ++i) release_list(cache.blocks[i], class_bytes(i));
  for (std::atomic<std::int32_t>& count : cache.small_counts) count.store(0, std::memory_order_relaxed);
  cache.cached = 0;
  cache.peak_live = cache.live;
}

}  // namespace ktape
