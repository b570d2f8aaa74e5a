#pragma once
#include <ktape/nn/distributed/internal/world.hpp>

#include <memory>

/// Sums of lists of elements over processes, which run while the processes compute. Internal: sources only.
namespace ktape::nn::distributed {

/// Repeated sums of elements over all processes. In a round, a process writes its elements, sends, polls
/// until the elements of all processes have arrived, takes sums, and releases them. All processes make these
/// calls in one order.
class Sums {
 public:
  virtual ~Sums() = default;
  /// Returns the memory for this process's elements, after all processes have read the elements of the last
  /// round.
  virtual void* own() = 0;
  virtual void send() = 0;
  /// Returns whether all processes have sent.
  virtual bool poll() = 0;
  /// Writes n sums from `begin` on, as elements of a floating dtype.
  virtual void take(std::int64_t begin, std::int64_t n, DType dtype, void* to) = 0;
  /// Ends this process's use of the last sums.
  virtual void release() {}
};

/// Makes sums by messages of MPI, between any machines.
std::unique_ptr<Sums> message_sums(World& world, DType dtype, std::int64_t n);

/// Makes sums through the shared memory of the processes of one machine: a process writes once and reads the
/// elements of the others; no process has to drive messages. Sums are bitwise equal in all processes. Returns
/// null, in all processes, for many processes, processes on several machines, or without shared memory.
std::unique_ptr<Sums> shared_sums(World& world, DType dtype, std::int64_t n);

}  // namespace ktape::nn::distributed
