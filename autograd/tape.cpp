#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/tape.hpp>

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

namespace ktape {

void Tape::append(Node* node) {
  std::lock_guard lock(lock_);
  node->previous_ = last_;
  node->next_ = nullptr;
  (last_ ? last_->next_ : first_) = node;
  last_ = node;
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Tape::remove(Node* node) {
  bool done = false;
  {
    std::lock_guard lock(lock_);
    (node->previous_ ? node->previous_->next_ : first_) = node->next_;
    (node->next_ ? node->next_->previous_ : last_) = node->previous_;
    size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    done = closed_ && !first_;
  }
  if (done) delete this;
}

void Tape::close() {
  bool done = false;
  {
    std::lock_guard lock(lock_);
    closed_ = true;
    done = !first_;
  }
  if (done) delete this;
}

std::size_t Tape::bytes() const {
  std::lock_guard lock(lock_);
  std::size_t total = 0;
  for (const Node* node = first_; node; node = node->next_) total += node->bytes();
  return total;
}

std::string Tape::summary() const {
  struct Usage {
    std::size_t count = 0, bytes = 0;
  };
  std::map<std::string, Usage> by_op;
  Usage total;
  {
    std::lock_guard lock(lock_);
    for (const Node* node = first_; node; node = node->next_)
      for (Usage* usage : {&by_op[node->op()], &total}) ++usage->count, usage->bytes += node->bytes();
  }
  std::vector<std::pair<std::string, Usage>> rows(by_op.begin(), by_op.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  rows.emplace_back("total", total);
  std::ostringstream out;
  const auto line = [&](const std::string& op, const auto& count, const auto& bytes) {
    out << std::left << std::setw(24) << op << std::right << std::setw(10) << count << std::setw(16) << bytes
        << '\n';
  };
  line("op", "count", "bytes");
  for (const auto& [op, usage] : rows) line(op, usage.count, usage.bytes);
  return out.str();
}

std::vector<Tape::Entry> Tape::entries() const {
  std::lock_guard lock(lock_);
  std::vector<Entry> entries;
  for (const Node* node = first_; node; node = node->next_) {
    Entry& entry = entries.emplace_back(Entry{node->op(), node->sequence(), {}, {}});
    for (const Edge& edge : node->inputs())
      if (edge.node) entry.inputs.push_back(edge.node->leaf() ? 0 : edge.node->sequence());
    for (int i = 0; i < node->outputs(); ++i) entry.outputs.push_back(node->output_info(i).shape);
  }
  return entries;
}

std::string Tape::graphviz() const {
  std::ostringstream out;
  out << "digraph tape {\n  node [shape=box];\n";
  for (const Entry& entry : entries()) {
    out << "  n" << entry.sequence << " [label=\"" << entry.op;
    for (const Shape& shape : entry.outputs) out << "\\n" << shape;
    out << "\"];\n";
    for (std::uint64_t input : entry.inputs)
      if (input > 0) out << "  n" << input << " -> n" << entry.sequence << ";\n";
  }
  out << "}\n";
  return out.str();
}

ThreadState::ThreadState() : tape(new Tape) {}
ThreadState::~ThreadState() { tape->close(); }

Tape& tape() { return *thread_state().tape; }

RecordingScope::RecordingScope(bool on) : before_(std::exchange(thread_state().recording, on)) {}
RecordingScope::~RecordingScope() { thread_state().recording = before_; }

}  // namespace ktape
