#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/graph/backward_pass.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/tape.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace ktape {
namespace {

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
  PendingWork* const pending = thread_state().pending;
  Tensor sum = pending ? pending->add(a, b) : Tensor();
  if (!sum.defined()) {
    if (!recording() && a.exclusive()) {
      add_elements(a, a, b);
      return a;
    }
    sum = Tensor::empty(a.shape(), a.dtype());
    add_elements(sum, a, b);
  }
  if (recording(a, b))
    record("add", sum, {a, b}, [](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return g; });
      grads.to(1, [&] { return g; });
    });
  return sum;
}

/// The number of a node in its walk.
using Number = std::uint32_t;
constexpr Number none = ~Number{0};

/// A table that numbers the nodes in the order in which a walk meets them: a hash table with open addressing,
/// at most half full.
class Numbering {
 public:
  Numbering() { nodes_.reserve(small); }
  Numbering(const Numbering&) = delete;

  /// Makes room for `nodes` nodes before the first is added.
  void reserve(std::size_t nodes) {
    if (nodes <= small) return;
    nodes_.reserve(nodes);
    resize(std::bit_ceil(2 * nodes));
  }

  Node* operator[](Number number) const { return nodes_[number]; }
  Number size() const { return static_cast<Number>(nodes_.size()); }
  Number find(const Node* node) const { return places_[place_of(node)] - 1; }

  /// Returns the node's number; assigns a new number when the walk has not met the node before.
  Number add(Node* node) {
    Number& place = places_[place_of(node)];
    if (place != empty) return place - 1;
    nodes_.push_back(node);
    place = size();
    if (2 * nodes_.size() > mask_) resize(4 * (mask_ + 1));
    return size() - 1;
  }

 private:
  static constexpr std::size_t small = 64;
  static constexpr Number empty = 0;  // a place holds the number + 1

  std::size_t place_of(const Node* node) const {
    const std::uint64_t hash = (reinterpret_cast<std::uintptr_t>(node) >> 6) * 0x9e3779b97f4a7c15;
    std::size_t place = hash >> 32 & mask_;
    while (places_[place] != empty && nodes_[places_[place] - 1] != node) place = (place + 1) & mask_;
    return place;
  }

  void resize(std::size_t places) {
    mask_ = places - 1;
    many_.assign(places, empty);
    places_ = many_.data();
    for (Number number = 0; number < size(); ++number) places_[place_of(nodes_[number])] = number + 1;
  }

  std::vector<Node*> nodes_;
  std::array<Number, small> few_{};
  std::vector<Number> many_;
  Number* places_ = few_.data();
  std::size_t mask_ = small - 1;
};

thread_local std::size_t nodes_of_last_pass [[gnu::tls_model("initial-exec")]] = 0;

class BackwardPass final : public Grads {
 public:
  BackwardPass(const std::vector<Tensor>& losses, const std::vector<Tensor>& targets,
               std::vector<LookupGradient>* lookups, const GradientReady& ready);
  std::vector<Tensor> run(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds);

  bool wants(int input) const override;
  const Tensor& output(int index) const override;
  void add(int input, Tensor gradient) override;
  bool takes_rows(int input) const override;
  void add_rows(int input, const Tensor& rows, const Tensor& values) override;

 private:
  struct Visit {
    std::uint32_t first_input = 0, inputs = 0;    // range in inputs_
    std::uint32_t first_output = 0, outputs = 0;  // range in gradients_
    bool needed = false, target = false;
  };

  void reserve();
  Number visit_node(Node* node);
  void await(Number number);
  Number take_latest();
  void follow(Number number);
  void sort_by_consumers();
  void mark_needed();
  void visit(Number number);
  void backward_pass_with_hooks();
  std::vector<std::pair<std::size_t, std::size_t>> last_additions() const;
  Number number_of(const Tensor& x) const { return x.node() ? numbers_.find(x.node()) : none; }
  Number input_of_current(int input) const {
    return inputs_[visits_[current_].first_input + static_cast<std::uint32_t>(input)];
  }
  void accumulate(Number number, std::uint32_t output, Tensor gradient, const char* from);

  const bool plain_ = !recording();
  const std::vector<Tensor>& targets_;
  std::vector<LookupGradient>* const lookups_;
  const GradientReady& ready_;
  std::uint64_t oldest_ = std::numeric_limits<std::uint64_t>::max();  // of a target
  Numbering numbers_;
  std::vector<Visit> visits_;                               // indexed by number
  std::vector<Number> inputs_;                              // inputs of all nodes; none: leads to no target
  std::vector<Tensor> gradients_;                           // gradients of the outputs of all nodes
  std::vector<std::pair<std::uint64_t, Number>> frontier_;  // a heap of (sequence, number)
  std::vector<Number> order_;                               // nodes, consumers first; without the leaves
  bool sorted_ = true;  // whether each node found is older than its consumers
  Number current_ = none;
};

BackwardPass::BackwardPass(const std::vector<Tensor>& losses, const std::vector<Tensor>& targets,
                           std::vector<LookupGradient>* lookups, const GradientReady& ready)
    : targets_(targets), lookups_(lookups), ready_(ready) {
  for (const Tensor& target : targets)
    if (target.node()) oldest_ = std::min(oldest_, target.node()->sequence());
  reserve();
  for (const Tensor& loss : losses) visit_node(loss.node());
  while (!frontier_.empty()) {
    order_.push_back(take_latest());
    follow(order_.back());
  }
  nodes_of_last_pass = visits_.size();
  if (!sorted_) sort_by_consumers();
  mark_needed();
}

/// Makes room for as many nodes as the last pass of this thread had: a training repeats its graph, and growing
/// step by step costs a short pass several per cent of its time.
void BackwardPass::reserve() {
  constexpr std::size_t fewest = 32, most = 4096;
  const std::size_t nodes = std::clamp(nodes_of_last_pass, fewest, most);
  numbers_.reserve(nodes), visits_.reserve(nodes), gradients_.reserve(nodes), order_.reserve(nodes);
  inputs_.reserve(2 * nodes), frontier_.reserve(fewest);
}

/// Removes the node with the greatest sequence number from the frontier and returns the node.
Number BackwardPass::take_latest() {
  std::pop_heap(frontier_.begin(), frontier_.end());
  const Number number = frontier_.back().second;
  frontier_.pop_back();
  return number;
}

Number BackwardPass::visit_node(Node* node) {
  if (!node || node->sequence() < oldest_) return none;
  const Number number = numbers_.add(node);
  if (number < visits_.size()) return number;
  Visit& visit = visits_.emplace_back();
  visit.first_output = static_cast<std::uint32_t>(gradients_.size());
  visit.outputs = static_cast<std::uint32_t>(node->outputs());
  gradients_.resize(gradients_.size() + visit.outputs);
  if (!node->leaf()) await(number);
  return number;
}

/// Adds a node to the frontier.
void BackwardPass::await(Number number) {
  frontier_.emplace_back(numbers_[number]->sequence(), number);
  std::push_heap(frontier_.begin(), frontier_.end());
}

void BackwardPass::follow(Number number) {
  Node* node = numbers_[number];
  node->prepare();
  const std::span<const Edge> edges = node->inputs();
  visits_[number].first_input = static_cast<std::uint32_t>(inputs_.size());
  visits_[number].inputs = static_cast<std::uint32_t>(edges.size());
  for (const Edge& edge : edges) {
    inputs_.push_back(visit_node(edge.node));
    sorted_ = sorted_ && (inputs_.back() == none || edge.node->sequence() < node->sequence());
  }
}

/// Sorts the nodes so that each node comes after its consumers; ready nodes are taken latest first.
void BackwardPass::sort_by_consumers() {
  std::vector<std::uint32_t> consumers(visits_.size(), 0);
  for (const Number input : inputs_)
    if (input != none) ++consumers[input];
  for (const Number number : std::exchange(order_, {}))
    if (consumers[number] == 0) await(number);
  while (!frontier_.empty()) {
    order_.push_back(take_latest());
    const Visit& visit = visits_[order_.back()];
    for (std::uint32_t i = 0; i < visit.inputs; ++i)
      if (const Number input = inputs_[visit.first_input + i]; input != none && --consumers[input] == 0)
        if (!numbers_[input]->leaf()) await(input);
  }
}

void BackwardPass::mark_needed() {
  for (const Tensor& target : targets_)
    if (const Number number = number_of(target); number != none)
      visits_[number].needed = visits_[number].target = true;
  for (auto number = order_.rbegin(); number != order_.rend(); ++number) {
    Visit& visit = visits_[*number];
    for (std::uint32_t i = 0; i < visit.inputs && !visit.needed; ++i) {
      const Number input = inputs_[visit.first_input + i];
      visit.needed = input != none && visits_[input].needed;
    }
  }
}

std::vector<Tensor> BackwardPass::run(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds) {
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (const Number number = number_of(losses[i]); number != none)
      accumulate(number, losses[i].get()->output, seeds[i], "seed");
  if (ready_) backward_pass_with_hooks();
  else
    for (const Number number : order_)
      if (visits_[number].needed) visit(number);

  std::vector<Tensor> results(targets_.size());
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (const Number number = number_of(targets_[i]); number != none)
      results[i] = gradients_[visits_[number].first_output + targets_[i].get()->output];
  return results;
}

/// Runs the walk and calls `ready_` with each gradient after the last node that adds to the gradient.
void BackwardPass::backward_pass_with_hooks() {
  const auto looked_up = [&](std::size_t target) {
    return lookups_ && std::any_of(lookups_->begin(), lookups_->end(),
                                   [&](const LookupGradient& lookup) { return lookup.variable == target; });
  };
  const std::vector<std::pair<std::size_t, std::size_t>> last = last_additions();
  auto next = last.begin();
  for (std::size_t place = 0; place < order_.size(); ++place) {
    if (visits_[order_[place]].needed) visit(order_[place]);
    for (; next != last.end() && next->first == place; ++next)
      if (!looked_up(next->second))
        ready_(next->second, gradients_[visits_[number_of(targets_[next->second])].first_output]);
  }
}

/// Returns, for each target at which gradients end, the position in the order of the last node that adds to
/// the gradient of the target, and the index of the target; sorted.
std::vector<std::pair<std::size_t, std::size_t>> BackwardPass::last_additions() const {
  std::vector<std::size_t> places(visits_.size(), order_.size());
  for (std::size_t place = 0; place < order_.size(); ++place) {
    const Visit& visit = visits_[order_[place]];
    for (std::uint32_t i = 0; i < visit.inputs; ++i)
      if (const Number input = inputs_[visit.first_input + i]; input != none) places[input] = place;
  }
  std::vector<std::pair<std::size_t, std::size_t>> last;
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (const Number number = number_of(targets_[i]); number != none && numbers_[number]->leaf())
      last.emplace_back(places[number], i);
  std::sort(last.begin(), last.end());
  return last;
}

void BackwardPass::visit(Number number) {
  current_ = number;
  const Visit& visit = visits_[number];
  const auto begin = gradients_.begin() + visit.first_output, end = begin + visit.outputs;
  if (std::none_of(begin, end, [](const Tensor& g) { return g.defined(); })) return;
  // Keeps the gradients of a target alive, because `backward` may reuse the memory of a gradient with no
  // other owner.
  const std::vector<Tensor> held(begin, visit.target ? end : begin);
  numbers_[number]->backward(*this);
  if (!visit.target) std::fill(begin, end, Tensor());
}

bool BackwardPass::wants(int input) const {
  const Number number = input_of_current(input);
  return number != none && visits_[number].needed;
}

const Tensor& BackwardPass::output(int index) const {
  return gradients_[visits_[current_].first_output + static_cast<std::uint32_t>(index)];
}

void BackwardPass::add(int input, Tensor gradient) {
  const Number number = input_of_current(input);
  if (number == none || !gradient.defined()) return;
  const Node* node = numbers_[current_];
  accumulate(number, node->inputs()[static_cast<std::size_t>(input)].output, std::move(gradient), node->op());
}

bool BackwardPass::takes_rows(int input) const {
  const Number number = input_of_current(input);
  return lookups_ && plain_ && number != none && visits_[number].target && numbers_[number]->leaf();
}

void BackwardPass::add_rows(int input, const Tensor& rows, const Tensor& values) {
  const Number number = input_of_current(input);
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (number_of(targets_[i]) == number) lookups_->push_back({i, rows, values});
}

void BackwardPass::accumulate(Number number, std::uint32_t output, Tensor gradient, const char* from) {
  const OutputInfo& info = numbers_[number]->output_info(static_cast<int>(output));
  if (gradient.shape() != info.shape)
    fail("[", from, "] a gradient must have its tensor's shape ", info.shape,
         ": received shape=", gradient.shape());
  if (gradient.dtype() != info.dtype)
    fail<TypeError>("[", from, "] a gradient must have its tensor's dtype ", info.dtype,
                    ": received dtype=", gradient.dtype());
  if (plain_ && gradient.node()) gradient = gradient.detach();  // recorded inside an EnableGrad
  Tensor& sum = gradients_[visits_[number].first_output + output];
  sum = sum.defined() ? sum_of(std::move(sum), gradient) : std::move(gradient);
}

}  // namespace

std::vector<Tensor> walk_back(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                              const std::vector<Tensor>& targets, bool record,
                              std::vector<LookupGradient>* lookups, const GradientReady& ready) {
  const RecordingScope scope(record);
  BackwardPass walk(losses, targets, lookups, ready);
  return walk.run(losses, seeds);
}

}  // namespace ktape
