#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/nn/distributed/distributed.hpp>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

/// The processes of an MPI program. Internal: sources only.
namespace ktape::nn::distributed {

/// The processes that mpirun started. An error between the processes ends all of them.
class World {
 public:
  using Clock = std::chrono::steady_clock;

  /// Returns the only World; null if there is only one process.
  static World* instance();
  static void join(double timeout);

  int rank() const { return rank_; }
  int size() const { return size_; }
  void set_timeout(double seconds) { timeout_ = seconds; }
  bool on_one_machine() const { return on_one_machine_; }

  // Each kind of message has a communicator, so that all processes need a common order only within a kind.
  MPI_Comm tensors() const { return tensors_; }
  MPI_Comm gradients() const { return gradients_; }

  /// Waits until `done` returns true, and ends all processes when the wait takes too long.
  void wait_until(const std::function<bool()>& done);
  void wait(MPI_Request request);
  /// Ends all processes unless the call of MPI succeeded.
  void check(int code) const;

  /// Ends all processes with a message that names this process and the cause.
  [[noreturn]] void end(const std::string& cause) const;

  /// Throws ValueError, in all processes, if the lines of a process differ from the lines of rank 0.
  void expect_same(const char* op, const std::vector<std::string>& lines);
  /// Copies the bytes of the process `from` to all processes.
  void broadcast(void* bytes, std::int64_t n, int from);
  std::string text_of(int from, std::string text);
  /// Returns whether `mine` is true in all processes.
  bool all(bool mine);

  // The weight of this process's gradients: samples / all_samples, see ProcessGroup::weigh.
  double samples = 1, all_samples = 1;
  /// Records the begin of a transfer of `bytes` bytes of gradients; `arrive` records the end.
  void depart(std::int64_t bytes);
  void arrive();
  Traffic traffic;

 private:
  explicit World(double timeout);
  [[noreturn]] void report(const std::string& message) const;
  [[noreturn]] void end_for_timeout(double waited);
  void answer();
  void expect_all_present();
  std::int64_t receive_departures(int from);
  void leave();
  std::string name_of(int rank) const;

  int rank_ = 0, size_ = 1;
  bool on_one_machine_ = false;
  double timeout_;
  MPI_Comm tensors_ = MPI_COMM_NULL, gradients_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  std::vector<std::string> hosts_;  ///< the host of each rank
  int under_way_ = 0;               ///< the number of transfers that have not arrived
  Clock::time_point departed_;      ///< when the first of these transfers began
  std::int64_t waits_ = 0;          ///< the number of exchanges in which this process waited for others
  int heard_ = 0;                   ///< the number of processes that have announced that they leave
};

/// The MPI type and the sum for elements of a dtype.
struct Wire {
  MPI_Datatype type;
  MPI_Op sum;
};
Wire wire_of(DType dtype);
/// Returns the number of elements as MPI's int. Throws ValueError for more elements than MPI can send at
/// once.
int wire_count(std::int64_t elements);

/// Computes allreduce with op "sum". The gradient is the gradient of the weighted mean of the losses of all
/// processes.
Tensor weighted_total(const Tensor& x);

}  // namespace ktape::nn::distributed
