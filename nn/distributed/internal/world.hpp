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

/// The processes that mpirun started. Whatever goes wrong between them, here they are ended.
class World {
 public:
  using Clock = std::chrono::steady_clock;

  /// The only one; null where this process is alone.
  static World* instance();
  static void join(double timeout);

  int rank() const { return rank_; }
  int size() const { return size_; }
  void set_timeout(double seconds) { timeout_ = seconds; }
  bool on_one_machine() const { return on_one_machine_; }

  // Each kind of traffic has a communicator: only within a kind must all processes keep to one order.
  MPI_Comm tensors() const { return tensors_; }
  MPI_Comm gradients() const { return gradients_; }

  /// Waits until `done` returns true, and ends all processes when the wait takes too long.
  void wait_until(const std::function<bool()>& done);
  void wait(MPI_Request request);
  /// Ends all processes unless the call of MPI succeeded.
  void check(int code) const;

  /// Ends all processes with a message that names this one and says why.
  [[noreturn]] void end(const std::string& cause) const;

  /// Throws ValueError, in all processes, if the lines of a process differ from those of rank 0.
  void expect_same(const char* op, const std::vector<std::string>& lines);
  /// Copies the bytes of the process `from` to all processes.
  void broadcast(void* bytes, std::int64_t n, int from);
  std::string text_of(int from, std::string text);
  /// Returns whether `mine` is true in all processes.
  bool all(bool mine);

  // How much the gradients of this process weigh, see ProcessGroup::weigh.
  double samples = 1, all_samples = 1;
  /// Counts `bytes` of gradients as sent, and the begin of their transfer.
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
  int under_way_ = 0;               ///< gradients that were sent together
  Clock::time_point departed_;      ///< when the first of them was
  std::int64_t waits_ = 0;          ///< how often this process waited for others
  int heard_ = 0;                   ///< the number of processes that have said that they leave
};

/// The type and the sum in which elements of a dtype travel.
struct Wire {
  MPI_Datatype type;
  MPI_Op sum;
};
Wire wire_of(DType dtype);
/// Returns the number of elements as MPI's int. Throws ValueError for more elements than MPI can send at
/// once.
int wire_count(std::int64_t elements);

/// allreduce with op "sum" whose gradient is that of the weighted mean of all losses.
Tensor weighted_total(const Tensor& x);

}  // namespace ktape::nn::distributed
