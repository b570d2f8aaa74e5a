#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/parallel.hpp>
#include <ktape/autograd/walk.hpp>

#include <algorithm>

namespace ktape {
namespace {

// Read and written under the lock that `gradients` holds.
std::uint32_t last_walk = 0;

void add_elements(Tensor& sum, const Tensor& a, const Tensor& b) {
  dispatch_floating(sum.dtype(), [&]<class T>() {
    T* out = sum.pointer<T>();
    const T *x = a.pointer<T>(), *y = b.pointer<T>();
    parallel_for(sum.size(), 1 << 15, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(x[i] + y[i]);
    });
  });
}

Tensor sum_of(Tensor a, const Tensor& b) {
  if (!recording() && a.exclusive()) {
    add_elements(a, a, b);
    return a;
  }
  Tensor sum = Tensor::empty(a.shape(), a.dtype());
  add_elements(sum, a, b);
  if (recording(a, b))
    record("add", sum, {a, b}, [](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return g; });
      grads.to(1, [&] { return g; });
    });
  return sum;
}

}  // namespace

Tensor& BackwardWalk::Visit::of(std::uint32_t output) {
  if (output == 0) return gradient;
  if (more.empty()) more.resize(static_cast<std::size_t>(node->outputs()) - 1);
  return more[output - 1];
}

BackwardWalk::BackwardWalk(const std::vector<Tensor>& losses) : walk_(++last_walk) {
  for (const Tensor& loss : losses)
    if (loss.node()) discover(loss.node());
  collect();
}

BackwardWalk::~BackwardWalk() {
  for (auto visit = visits_.rbegin(); visit != visits_.rend(); ++visit) {
    visit->node->walk_ = visit->outer_walk;
    visit->node->slot_ = visit->outer_slot;
  }
}

std::uint32_t BackwardWalk::discover(Node* node) {
  if (node->walk_ == walk_) return node->slot_;
  const auto slot = static_cast<std::uint32_t>(visits_.size());
  visits_.push_back({node, node->walk_, node->slot_, false, false, {}, {}});
  node->walk_ = walk_;
  node->slot_ = slot;
  if (!node->leaf()) {
    frontier_.emplace_back(node->sequence(), slot);
    std::push_heap(frontier_.begin(), frontier_.end());
  }
  return slot;
}

void BackwardWalk::collect() {
  while (!frontier_.empty()) {
    std::pop_heap(frontier_.begin(), frontier_.end());
    const std::uint32_t slot = frontier_.back().second;
    frontier_.pop_back();
    order_.push_back(slot);
    Node* node = visits_[slot].node;
    node->prepare();
    for (const Edge& edge : node->inputs())
      if (edge.node) discover(edge.node);
  }
}

BackwardWalk::Visit* BackwardWalk::visit_of(const Tensor& tensor) {
  Node* node = tensor.node();
  return node && node->walk_ == walk_ ? &visits_[node->slot_] : nullptr;
}

void BackwardWalk::mark_needed(const std::vector<Tensor>& targets) {
  for (const Tensor& target : targets)
    if (Visit* visit = visit_of(target)) visit->needed = visit->target = true;
  for (auto slot = order_.rbegin(); slot != order_.rend(); ++slot) {
    Visit& visit = visits_[*slot];
    for (const Edge& edge : visit.node->inputs())
      visit.needed = visit.needed || (edge.node && visits_[edge.node->slot_].needed);
  }
}

std::vector<Tensor> BackwardWalk::run(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                                      const std::vector<Tensor>& targets) {
  mark_needed(targets);
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (Visit* visit = visit_of(losses[i])) accumulate(*visit, losses[i].get()->output, seeds[i], "seed");

  std::vector<Tensor> results(targets.size());
  auto harvest = [&](const Visit& visit) {
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (visit_of(targets[i]) == &visit) results[i] = current_->of(targets[i].get()->output);
  };
  for (std::uint32_t slot : order_) {
    current_ = &visits_[slot];
    if (!current_->needed || !current_->arrived()) continue;
    if (current_->target)
      harvest(*current_);  // now: backward may reuse the memory of a gradient that nobody else holds
    current_->node->backward(*this);
    current_->gradient = Tensor();
    current_->more.clear();
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Visit* visit = visit_of(targets[i]);
    if (visit && visit->node->leaf()) results[i] = visit->gradient;
  }
  return results;
}

bool BackwardWalk::wants(int input) const {
  const Edge& edge = current_->node->inputs()[static_cast<std::size_t>(input)];
  return edge.node && visits_[edge.node->slot_].needed;
}

const Tensor& BackwardWalk::output(int index) const {
  return current_->of(static_cast<std::uint32_t>(index));
}

void BackwardWalk::add(int input, Tensor gradient) {
  const Edge& edge = current_->node->inputs()[static_cast<std::size_t>(input)];
  if (edge.node && gradient.defined())
    accumulate(visits_[edge.node->slot_], edge.output, std::move(gradient), current_->node->op());
}

void BackwardWalk::accumulate(Visit& visit, std::uint32_t output, Tensor gradient, const char* from) {
  const OutputInfo& info = visit.node->output_info(static_cast<int>(output));
  if (gradient.shape() != info.shape)
    fail("[", from, "] a gradient must have its tensor's shape ", info.shape,
         ": received shape=", gradient.shape());
  if (gradient.dtype() != info.dtype)
    fail<TypeError>("[", from, "] a gradient must have its tensor's dtype ", info.dtype,
                    ": received dtype=", gradient.dtype());
  Tensor& sum = visit.of(output);
  sum = sum.defined() ? sum_of(std::move(sum), gradient) : std::move(gradient);
}

}  // namespace ktape
