#pragma once
#include <ktape/nn/distributed/internal/world.hpp>

#include <memory>

/// Ways in which processes sum lists of elements, with something else to do meanwhile. Internal: sources
/// only.
namespace ktape::nn::distributed {

/// The sums of elements over all processes, again and again: write one's own, send, poll until all are there,
/// take what is wanted, release. All processes do the same, in the same order.
class Sums {
 public:
  virtual ~Sums() = default;
  /// Where this process writes its elements; waits until nobody reads the last ones.
  virtual void* own() = 0;
  virtual void send() = 0;
  /// Whether all processes have sent.
  virtual bool poll() = 0;
  /// The sums from `begin` on, as elements of a floating dtype.
  virtual void take(std::int64_t begin, std::int64_t n, DType dtype, void* to) = 0;
  /// This process takes no more of the last sums.
  virtual void release() {}
};

/// Sums that MPI makes, between any machines.
std::unique_ptr<Sums> message_sums(World& world, DType dtype, std::int64_t n);

/// Sums through memory that the processes of one machine have in common: each writes once, reads what the
/// others wrote, and nothing has to be kept going meanwhile. They are the same in all processes, to the bit.
/// Null, in all of them, where the processes are many or on several machines, or get no such memory.
std::unique_ptr<Sums> shared_sums(World& world, DType dtype, std::int64_t n);

}  // namespace ktape::nn::distributed
