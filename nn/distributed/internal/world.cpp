#include <ktape/nn/distributed/internal/world.hpp>
#include <ktape/ops/random/random_scope.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

namespace ktape::nn::distributed {
namespace {

using namespace std::chrono_literals;

World* world = nullptr;  // never destroyed, because handlers at the end of the program use the world

enum Tag { asks = 1, waits, left };

/// Returns whether a launcher of MPI started this process. Without a launcher, MPI is not initialized.
bool launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD", "HYDI_CONTROL_FD"})
    if (std::getenv(name)) return true;
  return false;
}

std::string cause_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
  return "std::terminate was called";
}

}  // namespace

World* World::instance() { return world; }

void World::join(double timeout) {
  if (!(timeout > 0)) fail("[init] timeout must be above 0: received timeout=", timeout);
  if (world) return world->set_timeout(timeout);
  if (!launched()) return;
  int there = 0;
  MPI_Initialized(&there);
  if (!there) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return void(std::atexit([] { MPI_Finalize(); }));
  world = new World(timeout);
  std::atexit([] { world->leave(); });
  std::set_terminate([] { world->end(cause_of(std::current_exception())); });
  backend::RandomState random = backend::random_state();
  world->check(MPI_Bcast(&random, sizeof random, MPI_BYTE, 0, world->tensors_));
  backend::set_random_state(random);
}

World::World(double timeout) : timeout_(timeout) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  all_samples = size_;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (MPI_Comm* own : {&tensors_, &gradients_, &control_}) check(MPI_Comm_dup(MPI_COMM_WORLD, own));
  std::vector<char> names(static_cast<std::size_t>(size_) * MPI_MAX_PROCESSOR_NAME);
  char* const mine = names.data() + rank_ * MPI_MAX_PROCESSOR_NAME;
  int length = 0;
  check(MPI_Get_processor_name(mine, &length));
  check(MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, names.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, control_));
  for (int rank = 0; rank < size_; ++rank) hosts_.emplace_back(names.data() + rank * MPI_MAX_PROCESSOR_NAME);
  MPI_Comm machine = MPI_COMM_NULL;
  int neighbours = 0;
  check(MPI_Comm_split_type(control_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  check(MPI_Comm_size(machine, &neighbours));
  check(MPI_Comm_free(&machine));
  on_one_machine_ = neighbours == size_;
}

std::string World::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " on " + hosts_[static_cast<std::size_t>(rank)];
}

// --- Waiting ----------------------------------------------------------------------------------------------

void World::wait(MPI_Request request) {
  wait_until([&] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  });
}

void World::wait_until(const std::function<bool()>& done) {
  const Clock::time_point began = Clock::now();
  ++waits_;
  for (int round = 0;; ++round) {
    if (done()) return;
    if (round < 50) continue;
    std::this_thread::yield();
    const std::chrono::duration<double> waited = Clock::now() - began;
    if (waited > 20ms) std::this_thread::sleep_for(200us);
    if (waited < 500ms) continue;
    answer();
    expect_all_present();
    if (waited.count() > timeout_) end_for_timeout(waited.count());
  }
}

/// Tells the ranks that ask that this process is waiting, too.
void World::answer() {
  for (;;) {
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, asks, control_, &there, &status));
    if (!there) return;
    check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, asks, control_, MPI_STATUS_IGNORE));
    check(MPI_Send(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, waits, control_));
  }
}

/// Ends all processes if another process has left before an exchange that this process waits for.
void World::expect_all_present() {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, left, control_, &there, &status));
  if (there && receive_departures(status.MPI_SOURCE) < waits_)
    report(name_of(status.MPI_SOURCE) + " left while others wait for it");
}

/// Receives the message of a process that leaves. Returns the number of exchanges in which the process took
/// part.
std::int64_t World::receive_departures(int from) {
  std::int64_t waits = 0;
  check(MPI_Recv(&waits, 1, MPI_INT64_T, from, left, control_, MPI_STATUS_IGNORE));
  ++heard_;
  return waits;
}

/// Ends all processes with a message that names the ranks which do not answer that they wait: the others wait
/// for these ranks.
void World::end_for_timeout(double waited) {
  std::set<int> missing;
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_) missing.insert(rank), check(MPI_Send(nullptr, 0, MPI_BYTE, rank, asks, control_));
  for (const Clock::time_point asked = Clock::now(); !missing.empty() && Clock::now() - asked < 1500ms;) {
    answer();
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, waits, control_, &there, &status));
    if (!there) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, waits, control_, MPI_STATUS_IGNORE));
    missing.erase(status.MPI_SOURCE);
  }
  if (missing.empty())
    report(name_of(rank_) +
           " and all others wait, but for different calls: every process must make the same calls");
  std::string who;
  for (const int rank : missing) who += (who.empty() ? "" : ", ") + name_of(rank);
  std::ostringstream text;
  text << who << " does not respond: " << name_of(rank_) << " has waited " << waited
       << " seconds (timeout=" << timeout_ << ')';
  report(text.str());
}

void World::depart(std::int64_t bytes) {
  traffic.bytes += bytes;
  if (under_way_++ == 0) departed_ = Clock::now();
}

void World::arrive() {
  if (--under_way_ == 0) traffic.seconds += std::chrono::duration<double>(Clock::now() - departed_).count();
}

// --- The end ----------------------------------------------------------------------------------------------

void World::check(int code) const {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  end(text);
}

void World::end(const std::string& cause) const { report(name_of(rank_) + " failed: " + cause); }

/// Writes the message and ends all processes. Higher ranks wait a little, so that the first rank reports an
/// error that all ranks meet.
void World::report(const std::string& message) const {
  std::this_thread::sleep_for(std::min(250ms * rank_, 2000ms));
  const std::string line = "[distributed] " + message + '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

/// Tells rank 0, or as rank 0 all ranks, that this process ends, so that ranks that wait for it stop; then
/// waits for the end of the others. All messages go through rank 0.
void World::leave() {
  int over = 0;
  MPI_Finalized(&over);
  if (over) return;
  std::vector<MPI_Request> sent;
  const auto tell = [&](int rank) {
    check(MPI_Isend(&waits_, 1, MPI_INT64_T, rank, left, control_, &sent.emplace_back()));
  };
  if (rank_ != 0) tell(0);
  else
    for (int rank = 1; rank < size_; ++rank) tell(rank);
  MPI_Request all;
  check(MPI_Ibarrier(control_, &all));
  for (int done = 0; !done; std::this_thread::sleep_for(200us)) {
    check(MPI_Test(&all, &done, MPI_STATUS_IGNORE));
    answer();
  }
  while (heard_ < (rank_ == 0 ? size_ - 1 : 1)) receive_departures(MPI_ANY_SOURCE);
  check(MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE));
  MPI_Finalize();
}

// --- Comparing --------------------------------------------------------------------------------------------

void World::broadcast(void* bytes, std::int64_t n, int from) {
  constexpr std::int64_t most = 1 << 30;  // bytes in one message
  for (std::int64_t at = 0; at < n; at += most) {
    MPI_Request request;
    check(MPI_Ibcast(static_cast<char*>(bytes) + at, wire_count(std::min(most, n - at)), MPI_BYTE, from,
                     tensors_, &request));
    wait(request);
  }
}

std::string World::text_of(int from, std::string text) {
  auto size = static_cast<std::int64_t>(text.size());
  broadcast(&size, sizeof size, from);
  text.resize(static_cast<std::size_t>(size));
  broadcast(text.data(), size, from);
  return text;
}

bool World::all(bool mine) {
  int least = mine;
  MPI_Request request;
  check(MPI_Iallreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, tensors_, &request));
  wait(request);
  return least != 0;
}

void World::expect_same(const char* op, const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  const std::uint64_t hash = std::hash<std::string>()(all);
  std::uint64_t most[2] = {hash, ~hash};  // the largest hash, and the complement of the smallest
  MPI_Request request;
  check(MPI_Iallreduce(MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX, tensors_, &request));
  wait(request);
  if (most[0] == ~most[1]) return;

  const std::string first = text_of(0, all);
  int other = all == first ? size_ : rank_;
  check(MPI_Iallreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MIN, tensors_, &request));
  wait(request);
  const auto next_line = [](std::istringstream& text) {
    std::string line;
    return std::getline(text, line) ? line : std::string("nothing");
  };
  std::istringstream expected(first), received(text_of(other, all));
  std::string a, b;
  do a = next_line(expected), b = next_line(received);
  while (a == b);
  fail("[", op, "] all processes must agree: received ", b, " in ", name_of(other), ", ", a, " in ",
       name_of(0));
}

// --- The interface ----------------------------------------------------------------------------------------

void init(const InitOptions& options) { World::join(options.timeout); }
int rank() { return world ? world->rank() : 0; }
int size() { return world ? world->size() : 1; }
Traffic traffic() { return world ? world->traffic : Traffic(); }

}  // namespace ktape::nn::distributed
