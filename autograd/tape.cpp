#include <ktape/autograd/tape.hpp>
#include <ktape/autograd/thread_state.hpp>

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
  std::lock_guard lock(lock_);
  (node->previous_ ? node->previous_->next_ : first_) = node->next_;
  (node->next_ ? node->next_->previous_ : last_) = node->previous_;
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

std::size_t Tape::bytes() const {
  std::lock_guard lock(lock_);
  std::size_t total = 0;
  for (const Node* node = first_; node; node = node->next_) total += node->bytes();
  return total;
}

std::vector<Tape::Entry> Tape::entries() const {
  std::lock_guard lock(lock_);
  std::vector<Entry> entries;
  for (const Node* node = first_; node; node = node->next_) {
    Entry& entry = entries.emplace_back(Entry{node->op(), node->sequence(), {}, {}});
    for (const Edge& edge : node->inputs())
      if (edge.node) entry.inputs.push_back(edge.node->sequence());
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

Tape& tape() { return thread_state().tape; }

NoGrad::NoGrad() : before_(thread_state().recording) { thread_state().recording = false; }
NoGrad::~NoGrad() { thread_state().recording = before_; }

}  // namespace ktape
