#include <ktape/nn/data/internal/read_ahead.hpp>

#include <omp.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace ktape::data {
namespace {

class AheadStream final : public Stream {
 public:
  AheadStream(std::unique_ptr<Stream> input, int threads, std::int64_t ahead,
              std::shared_ptr<const Dataset::Function> function, std::uint64_t key)
      : input_(std::move(input)),
        wanted_(threads),
        ahead_(ahead),
        function_(std::move(function)),
        key_(key) {}

  ~AheadStream() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool next(Element& out) override {
    while (std::ssize(threads_) < wanted_) threads_.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return !slots_.empty() ? slots_.front()->done : ended_; });
    if (slots_.empty()) return false;
    const std::shared_ptr<Slot> slot = std::move(slots_.front());
    slots_.pop_front();
    lock.unlock();
    room_.notify_one();
    if (slot->error) std::rethrow_exception(std::exchange(slot->error, nullptr));
    out = std::move(slot->element);
    return true;
  }

 private:
  /// The slot of an element in the order of the stream, reserved before the element is read.
  struct Slot {
    Element element;
    std::exception_ptr error;
    bool done = false;
  };

  void work() {
    omp_set_num_threads(1);  // ops get one thread: the other cores run the other workers and the reader
    std::unique_lock lock(mutex_);
    while (read(lock)) {
    }
  }

  /// Reads one element and calls the function on it; returns false at the end. One thread at a time reads;
  /// any number of threads call the function.
  bool read(std::unique_lock<std::mutex>& lock) {
    room_.wait(lock, [&] { return ended_ || (!reading_ && std::ssize(slots_) < ahead_); });
    if (ended_) return false;
    reading_ = true;
    const auto slot = slots_.emplace_back(std::make_shared<Slot>());
    const std::uint64_t number = count_++;
    lock.unlock();
    bool found = false;
    std::exception_ptr error = caught([&] { found = input_->next(slot->element); });
    lock.lock();
    reading_ = false;
    if (!found) ended_ = true;
    if (!found && !error) slots_.pop_back();
    room_.notify_all();
    if (found && function_) {
      lock.unlock();
      error = caught([&] { slot->element = called(*function_, derived_key(key_, number), slot->element); });
      lock.lock();
    }
    if (error) ended_ = true;
    slot->error = std::move(error);
    slot->done = true;
    ready_.notify_one();
    return !ended_;
  }

  /// Returns the exception that f throws, or null. The caller may pass the exception to another thread,
  /// because nothing on this thread refers to the exception after the return.
  template <class F>
  static std::exception_ptr caught(F f) {
    try {
      f();
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  const std::unique_ptr<Stream> input_;
  const int wanted_;
  const std::int64_t ahead_;
  const std::shared_ptr<const Dataset::Function> function_;
  const std::uint64_t key_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;  ///< guards the members below
  std::condition_variable room_, ready_;
  std::deque<std::shared_ptr<Slot>> slots_;
  std::uint64_t count_ = 0;
  bool reading_ = false, ended_ = false;
};

}  // namespace

std::unique_ptr<Stream> read_ahead(std::unique_ptr<Stream> input, int threads, std::int64_t ahead,
                                   std::shared_ptr<const Dataset::Function> function, std::uint64_t key) {
  return std::make_unique<AheadStream>(std::move(input), threads, ahead, std::move(function), key);
}

}  // namespace ktape::data
