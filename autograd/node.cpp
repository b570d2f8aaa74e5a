#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/tape.hpp>

#include <algorithm>

namespace ktape {

Node::Node(const char* op, bool listed) : op_(op), tape_(listed ? thread_state().tape : nullptr) {
  if (tape_) tape_->append(this);
  else take_sequence(0);
}

Node::~Node() {
  for (const Edge& edge : inputs())
    if (edge.node) edge.node->release();
  if (edges_ != inline_edges_) deallocate(edges_, input_count_ * sizeof(Edge));
}

void Node::set_edges(std::span<const Tensor* const> inputs) {
  if (inputs.size() > inline_inputs) edges_ = static_cast<Edge*>(allocate(inputs.size() * sizeof(Edge)));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorImpl& input = inputs[i]->impl();
    edges_[i] = {input.node.get(), input.output};
    if (edges_[i].node) edges_[i].node->retain();
  }
  input_count_.store(static_cast<std::uint32_t>(inputs.size()), std::memory_order_release);
}

void Node::set_inputs(std::span<const Tensor* const> inputs) {
  set_edges(inputs);
  // The sequence number must be greater than the numbers of all inputs, also of inputs that another thread
  // recorded.
  std::uint64_t latest = 0;
  for (const Edge& edge : this->inputs())
    if (edge.node) latest = std::max(latest, edge.node->sequence_);
  take_sequence(latest);
}

void Node::take_sequence(std::uint64_t latest) {
  std::uint64_t& newest = thread_state().sequence;
  sequence_ = newest = std::max(newest, latest) + 1;
}

void Node::add_output(const OutputInfo& output) {
  OutputInfo& info = described_ ? more_outputs_.emplace_back() : info_;
  described_ = true;
  info = output;
}

std::size_t Node::bytes() const {
  std::size_t total =
      sizeof(ClosureNode<Tensor (*)(Tensor)>) + (edges_ == inline_edges_ ? 0 : input_count_ * sizeof(Edge));
  for (int i = 0; i < outputs(); ++i)
    total += static_cast<std::size_t>(output_info(i).shape.count()) * output_info(i).dtype.size();
  return total;
}

void Node::release() {
  // A single owner needs no atomic decrement.
  if (refs_.load(std::memory_order_acquire) != 1 && refs_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (tape_) tape_->remove(this);
  // The destruction of a node may release other nodes: these nodes are queued here instead of recursing.
  ThreadState& state = thread_state();
  next_ = state.dying;
  state.dying = this;
  if (state.draining) return;
  state.draining = true;
  while (Node* node = state.dying) {
    state.dying = node->next_;
    delete node;
  }
  state.draining = false;
}

void* Node::operator new(std::size_t bytes) { return allocate(bytes); }
void Node::operator delete(void* block, std::size_t bytes) { deallocate(block, bytes); }

bool recording() { return thread_state().recording; }

bool recording(std::span<const Tensor> tensors) {
  return recording() &&
         std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.node() != nullptr; });
}

void link(Ref<Node> node, std::span<const Tensor* const> inputs, std::span<const Tensor> outputs) {
  node->set_inputs(inputs);
  std::uint32_t index = 0;
  for (const Tensor& out : outputs) {
    node->add_output(out);
    out.get()->node = node;
    out.get()->output = index++;
  }
}

}  // namespace ktape
