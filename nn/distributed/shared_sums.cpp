#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/nn/distributed/internal/sums.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <random>
#include <sstream>

namespace ktape::nn::distributed {
namespace {

/// Each process reads the elements of all processes: with more processes, rings of messages move fewer bytes.
constexpr int most_processes = 8;

/// The progress of a process in a round, which the other processes read.
struct Progress {
  alignas(64) std::atomic<std::int64_t> sent{0};   ///< rounds whose elements the process has written
  alignas(64) std::atomic<std::int64_t> taken{0};  ///< the number of rounds whose sums the process has taken
  std::uint64_t token = 0;                         ///< rank 0's token identifies the memory
};

/// Memory that several processes share: a file without a name, which ends with the last process.
class SharedMemory {
 public:
  SharedMemory(World& world, std::int64_t bytes_each)
      : stride_((bytes_each + 4095) / 4096 * 4096), bytes_(static_cast<std::size_t>(stride_ * world.size())) {
    const std::uint64_t token = std::random_device()() + (std::uint64_t{std::random_device()()} << 32);
    std::ostringstream place;
    if (world.rank() == 0) {
      file_ = memfd_create("ktape_gradients", MFD_CLOEXEC);
      if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes_)) != 0) close_file();
      if (file_ >= 0) map();
      if (memory_) place << "/proc/" << getpid() << "/fd/" << file_ << ' ' << token;
    }
    if (memory_) start_part(0)->token = token;
    std::istringstream of_first(world.text_of(0, place.str()));
    std::string path;
    std::uint64_t expected = 0;
    if (world.rank() != 0 && of_first >> path >> expected) {
      file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (file_ >= 0 && lseek(file_, 0, SEEK_END) == static_cast<off_t>(bytes_)) map();
      if (memory_ && progress(0)->token == expected) start_part(world.rank());
      else unmap();
    }
    // Allocates the memory now: otherwise a system without memory would kill the process at a later write.
    const bool mine = memory_ && posix_fallocate(file_, static_cast<off_t>(stride_ * world.rank()),
                                                 static_cast<off_t>(stride_)) == 0;
    if (!world.all(mine)) unmap();
    close_file();
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { unmap(); }

  bool mapped() const { return memory_ != nullptr; }
  char* part(int rank) const { return memory_ + stride_ * rank; }
  Progress* progress(int rank) const { return std::launder(reinterpret_cast<Progress*>(part(rank))); }

 private:
  void map() {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
  }
  void unmap() {
    if (memory_) munmap(memory_, bytes_);
    memory_ = nullptr;
  }
  void close_file() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }
  Progress* start_part(int rank) { return new (part(rank)) Progress; }

  std::int64_t stride_;
  std::size_t bytes_;
  int file_ = -1;
  char* memory_ = nullptr;
};

template <class From, class To>
void sum_parts(const std::vector<const From*>& parts, std::int64_t n, To* to) {
  using Real = std::conditional_t<std::is_same_v<From, double> || std::is_same_v<To, double>, double, float>;
  parallel_for(n, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    std::array<Real, 1024> sums;
    for (std::int64_t at = begin; at < end; at += std::ssize(sums)) {
      const std::int64_t count = std::min(end - at, std::ssize(sums));
      Real* const sum = sums.data();
      const From *a = parts[0] + at, *b = parts[1] + at;
      for (std::int64_t i = 0; i < count; ++i) sum[i] = static_cast<Real>(a[i]) + static_cast<Real>(b[i]);
      for (std::size_t p = 2; p < parts.size(); ++p)
        for (std::int64_t i = 0; i < count; ++i) sum[i] += static_cast<Real>(parts[p][at + i]);
      for (std::int64_t i = 0; i < count; ++i) to[at + i] = static_cast<To>(sum[i]);
    }
  });
}

class SharedSums final : public Sums {
 public:
  SharedSums(World& world, DType dtype, std::int64_t n)
      : world_(world),
        dtype_(dtype),
        memory_(world, first_element + n * static_cast<std::int64_t>(dtype.size())) {}

  bool mapped() const { return memory_.mapped(); }

  void* own() override {
    release();
    world_.wait_until([&] { return all_done(&Progress::taken); });
    return elements(world_.rank());
  }
  void send() override { mine().sent.store(++round_, std::memory_order_release); }
  bool poll() override { return all_done(&Progress::sent); }
  void take(std::int64_t begin, std::int64_t n, DType dtype, void* to) override {
    dispatch_floating(dtype_, [&]<class From>() {
      std::vector<const From*> parts;
      for (int rank = 0; rank < world_.size(); ++rank)
        parts.push_back(reinterpret_cast<const From*>(elements(rank)) + begin);
      dispatch_floating(dtype, [&]<class To>() { sum_parts(parts, n, static_cast<To*>(to)); });
    });
  }
  void release() override { mine().taken.store(round_, std::memory_order_release); }

 private:
  static constexpr std::int64_t first_element = sizeof(Progress);

  char* elements(int rank) const { return memory_.part(rank) + first_element; }
  Progress& mine() const { return *memory_.progress(world_.rank()); }
  bool all_done(std::atomic<std::int64_t> Progress::*done) const {
    for (int rank = 0; rank < world_.size(); ++rank)
      if ((memory_.progress(rank)->*done).load(std::memory_order_acquire) < round_) return false;
    return true;
  }

  World& world_;
  DType dtype_;
  SharedMemory memory_;
  std::int64_t round_ = 0;  ///< the number of rounds in which this process has sent
};

}  // namespace

std::unique_ptr<Sums> shared_sums(World& world, DType dtype, std::int64_t n) {
  if (!world.on_one_machine() || world.size() > most_processes) return nullptr;
  auto sums = std::make_unique<SharedSums>(world, dtype, n);
  if (!sums->mapped()) return nullptr;
  return sums;
}

}  // namespace ktape::nn::distributed
