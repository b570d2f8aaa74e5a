#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/reading.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

/// While scopes of other threads read variables, new values wait in a table, through which all scopes that begin later
/// read. The values move into the variables as soon as no scope reads these directly.
namespace ktape {
namespace {

struct Waiting {
  Variable variable;
  Tensor value;
};
using Table = std::unordered_map<const Node*, Waiting>;  // by the leaf of the variable

const Table closed, variables_themselves;  // stand for states, by their addresses

/// Null as a rule. Otherwise the table of the values that wait, or `closed` while values move into variables.
std::atomic<const Table*> gate{nullptr};

/// Tells through which table a thread reads variables.
struct Reader {
  int scopes = 0;
  /// Null outside of scopes; otherwise the table through which the scope reads, or `variables_themselves`.
  std::atomic<const Table*> reads{nullptr};
  std::shared_ptr<const Table> table;  ///< what the thread has read through
};

struct State {
  std::mutex mutex;
  std::shared_ptr<const Table> waiting;  ///< null if no values wait
  std::list<Reader> readers;             ///< of all threads
};

State& state() {
  static State& state = *new State;  // never destroyed: threads may outlive static storage
  return state;
}

constinit thread_local Reader* reader [[gnu::tls_model("initial-exec")]] = nullptr;
/// Whether this thread moves values into variables, and has the mutex.
constinit thread_local bool moves_values [[gnu::tls_model("initial-exec")]] = false;

/// Removes the reader of a thread that ends.
struct EndOfThread {
  ~EndOfThread() {
    const std::lock_guard lock(state().mutex);
    state().readers.remove_if([](const Reader& each) { return &each == reader; });
    reader = nullptr;
  }
};

Reader& this_reader() {
  if (!reader) {
    const std::lock_guard lock(state().mutex);
    reader = &state().readers.emplace_back();
    static thread_local const EndOfThread end;
    static_cast<void>(end);
  }
  return *reader;
}

/// A scope in which values move into variables. No other thread begins a scope meanwhile.
class Closed {
 public:
  Closed() { gate.store(&closed), moves_values = true; }
  ~Closed() { moves_values = false, gate.store(state().waiting.get()); }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;
};

/// Returns whether scopes of other threads read in another way than through the table.
bool others_read_without(const Table* table) {
  return std::any_of(state().readers.begin(), state().readers.end(), [&](const Reader& other) {
    const Table* const reads = other.reads.load();
    return &other != reader && reads && reads != table;
  });
}

/// Holds replaced values until the mutex is free: their destructors may take time, and locks of their own.
struct Unread {
  std::shared_ptr<const Table> table;
  std::vector<Tensor> before;
};

/// Moves the values that wait into the variables if no scope reads these. The caller holds the mutex.
Unread settle() {
  const std::shared_ptr<const Table> waiting = state().waiting;
  if (!waiting || others_read_without(waiting.get()) || inferring_shapes()) return {};
  Unread unread{waiting, {}};
  state().waiting = nullptr;
  const Closed moving;
  VariableTransaction* const outer = std::exchange(thread_state().transaction, nullptr);
  for (const auto& [leaf, entry] : *waiting) {
    unread.before.push_back(
        entry.variable.stored());  // not exclusive, so that the variable shares the new memory
    Variable(entry.variable).assign(entry.value);
  }
  thread_state().transaction = outer;
  return unread;
}

void try_to_settle() {
  Unread unread;
  const std::lock_guard lock(state().mutex);
  unread = settle();
}

/// Lets the scope of this thread read the newest values. The caller holds the mutex.
void read_newest(Reader& own) {
  own.table = state().waiting;
  own.reads.store(own.table ? own.table.get() : &variables_themselves);
}

/// Assigns the values if no other thread can notice. Returns false, without a change, where one could.
bool assign_unnoticed(const std::vector<std::pair<Variable, Tensor>>& values) {
  const std::lock_guard lock(state().mutex);
  if (state().waiting) return false;
  const Closed moving;
  if (others_read_without(nullptr)) return false;
  VariableTransaction changes;
  for (const auto& [variable, value] : values) Variable(variable).assign(value);
  changes.commit();
  if (reader && reader->scopes > 0) read_newest(*reader);
  return true;
}

}  // namespace

ReadingScope::ReadingScope() {
  Reader& own = this_reader();
  if (own.scopes++ > 0) return;
  // Either `assign_all` sees that this thread reads, or this thread sees the gate.
  own.reads.store(&variables_themselves);
  if (!gate.load() && !own.table) [[likely]]
    return;
  std::shared_ptr<const Table> before = own.table;  // ends after the lock
  const std::lock_guard lock(state().mutex);
  read_newest(own);
}

ReadingScope::~ReadingScope() {
  Reader& own = *reader;
  if (--own.scopes > 0) return;
  own.reads.store(nullptr, std::memory_order_release);
  if (own.table) own.table.reset();
  if (gate.load()) try_to_settle();
}

const Tensor& value_to_read(const VariableImpl& variable) {
  const Reader* const own = reader;
  if (!gate.load(std::memory_order_acquire) && !(own && own->table)) [[likely]]
    return variable.value;
  if (moves_values) return variable.value;
  if (!own || own->scopes == 0) {
    try_to_settle();
    Reader& outside = this_reader();
    std::shared_ptr<const Table> before = outside.table;  // ends after the lock
    const std::lock_guard lock(state().mutex);
    outside.table = state().waiting;
  }
  const Table* const table = reader->table.get();
  const auto found = table ? table->find(variable.leaf.get()) : Table::const_iterator();
  return table && found != table->end() ? found->second.value : variable.value;
}

void settle_before_change(const VariableImpl& variable) {
  const auto waits = [&] {
    const std::lock_guard lock(state().mutex);
    return state().waiting && state().waiting->contains(variable.leaf.get());
  };
  if (!gate.load(std::memory_order_acquire) || moves_values) return;
  if (reader && reader->scopes > 0) return;
  for (try_to_settle(); waits(); try_to_settle()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

namespace {

/// Returns the values in new memory, as what the variables will hold.
Table table_of(const std::vector<std::pair<Variable, Tensor>>& values) {
  const ReadingScope scope;  // other threads may assign meanwhile
  Table table;
  for (const auto& [variable, value] : values) {
    const Tensor copy = Tensor::empty(value.shape(), value.dtype());
    std::memcpy(copy.raw(), value.raw(), static_cast<std::size_t>(value.size()) * value.dtype().size());
    Node* const leaf = variable.stored().node();
    copy.get()->node = Ref<Node>(leaf);
    table[leaf] = {variable, copy};
  }
  return table;
}

/// Lets the values wait until no scope reads those of before.
void publish(Table added, Reader& own) {
  Unread unread;
  std::shared_ptr<const Table> before = own.table;  // ends after the lock, as `unread` does
  const std::lock_guard lock(state().mutex);
  if (state().waiting) added.insert(state().waiting->begin(), state().waiting->end());
  state().waiting = std::make_shared<const Table>(std::move(added));
  gate.store(state().waiting.get());
  unread = settle();
  if (own.scopes > 0) read_newest(own);
}

}  // namespace

void assign_all(const std::vector<std::pair<Variable, Tensor>>& values) {
  for (const auto& [variable, value] : values) expect_assignable(variable, value);
  if (inferring_shapes()) return;
  std::vector<std::pair<Variable, Tensor>> held;
  {
    const ReadingScope scope;  // other threads may assign meanwhile
    for (const auto& [variable, value] : values)
      if (variable.has_value()) held.emplace_back(variable, value);
      else Variable(variable).assign(value);  // nobody can have read it
  }
  if (!assign_unnoticed(held)) publish(table_of(held), this_reader());
}

}  // namespace ktape
