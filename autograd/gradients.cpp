#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/gradients.hpp>
#include <ktape/autograd/graph.hpp>
#include <ktape/autograd/thread_state.hpp>
#include <ktape/autograd/walk.hpp>

#include <algorithm>
#include <mutex>

namespace ktape {
namespace {

// A walk marks the nodes, and graphs of two threads may meet in shared variables: one walk at a time.
// Recursive, because backward closures may differentiate.
std::recursive_mutex walks;

class Recording {
 public:
  explicit Recording(bool on) : before_(thread_state().recording) { thread_state().recording = on; }
  ~Recording() { thread_state().recording = before_; }
  Recording(const Recording&) = delete;

 private:
  bool before_;
};

std::vector<Tensor> walk_back(const std::vector<Tensor>& losses, const std::vector<Tensor>& seeds,
                              const std::vector<Tensor>& targets, bool record) {
  std::lock_guard lock(walks);
  BackwardWalk walk(losses);
  Recording mode(record);
  return walk.run(losses, seeds, targets);
}

Tensor ones_like(const Tensor& x) {
  Tensor ones = Tensor::empty(x.shape(), x.dtype());
  dispatch_floating(x.dtype(), [&]<class T>() { std::fill_n(ones.pointer<T>(), ones.size(), T(1)); });
  return ones;
}

void check_losses(const TensorList& losses, const TensorList& seeds) {
  if (losses.empty()) fail("[gradients] there must be a loss: received none");
  for (const Tensor& loss : losses) {
    if (!loss.defined()) fail("[gradients] the loss must be defined: received an undefined tensor");
    if (!loss.dtype().is_floating())
      fail<TypeError>("[gradients] the loss must be floating: received dtype=", loss.dtype());
  }
  if (!seeds.empty() && seeds.size() != losses.size())
    fail("[gradients] there must be one seed per loss: received ", seeds.size(), " seeds for ", losses.size(),
         " losses");
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (!seeds[i].defined()) continue;
    if (seeds[i].shape() != losses[i].shape())
      fail("[gradients] a seed must have its loss's shape ", losses[i].shape(),
           ": received shape=", seeds[i].shape());
    if (seeds[i].dtype() != losses[i].dtype())
      fail<TypeError>("[gradients] a seed must have its loss's dtype ", losses[i].dtype(),
                      ": received dtype=", seeds[i].dtype());
  }
}

}  // namespace

/// Stands for the backward pass that made some gradients. It knows what to differentiate and does so,
/// recorded, when a later walk first comes by. The nodes recorded then must come before it in the order of
/// sequence numbers, so it reserves a window of them when it is made.
class LazyGradient final : public Node {
 public:
  LazyGradient(std::vector<Tensor> losses, std::vector<Tensor> seeds, std::vector<Tensor> targets)
      : Node("gradients", true),
        losses_(std::move(losses)),
        seeds_(std::move(seeds)),
        targets_(std::move(targets)) {
    ThreadState& state = thread_state();
    start_ = state.sequence;
    for (const Tensor& loss : losses_)
      if (loss.node()) start_ = std::max(start_, loss.node()->sequence());
    for (const Tensor& seed : seeds_)
      if (seed.node()) start_ = std::max(start_, seed.node()->sequence());
    sequence_ = state.sequence = start_ + state.window;
  }

  void prepare() override {
    if (losses_.empty()) return;
    ThreadState& state = thread_state();
    const std::uint64_t sequence = std::exchange(state.sequence, start_),
                        window = std::exchange(state.window, 1 << 18);
    std::vector<Tensor> results;
    try {
      results = walk_back(losses_, seeds_, targets_, true);
    } catch (...) {
      state.sequence = sequence, state.window = window;
      throw;
    }
    state.sequence = std::max(sequence, state.sequence), state.window = window;
    std::vector<const Tensor*> defined;
    for (const Tensor& result : results)
      if (result.defined()) defined.push_back(&result);
    set_edges(defined);
    losses_.clear(), seeds_.clear(), targets_.clear();
  }

  void backward(Grads& grads) override {
    for (int i = 0; i < outputs(); ++i) grads.to(i, [&] { return grads.output(i); });
  }

 private:
  std::vector<Tensor> losses_, seeds_, targets_;
  std::uint64_t start_;
};

std::vector<Tensor> gradients(const TensorList& losses, const TensorList& variables,
                              const TensorList& seeds) {
  check_losses(losses, seeds);
  for (const Tensor& variable : variables)
    if (!variable.defined()) fail("[gradients] a variable must be defined: received an undefined tensor");
  if (is_symbolic(losses.vector()) || is_symbolic(seeds.vector()))
    return symbolic_gradients(losses.vector(), variables.vector(), seeds.vector());
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < losses.size(); ++i)
    weights.push_back(!seeds.empty() && seeds[i].defined() ? seeds[i] : ones_like(losses[i]));

  std::vector<Tensor> results = walk_back(losses.vector(), weights, variables.vector(), false);
  if (!recording()) return results;
  if (std::none_of(results.begin(), results.end(), [](const Tensor& t) { return t.defined(); }))
    return results;
  auto node = Ref<Node>::adopt(new LazyGradient(losses.vector(), std::move(weights), variables.vector()));
  std::uint32_t index = 0;
  for (Tensor& result : results) {
    if (!result.defined()) continue;
    result = result.detach();  // the value may be a seed's or a saved tensor's own
    node->add_output(result);
    result.get()->node = node;
    result.get()->output = index++;
  }
  return results;
}

GradientTape::~GradientTape() {
  for (const Tensor& tensor : watched_) tensor.get()->node = Ref<Node>();
}

void GradientTape::watch(const Tensor& tensor) {
  if (!tensor.dtype().is_floating())
    fail<TypeError>("[watch] the tensor must be floating: received dtype=", tensor.dtype());
  if (tensor.node()) return;
  auto leaf = Ref<Node>::adopt(new LeafNode("watch"));
  leaf->add_output(tensor);
  tensor.get()->node = std::move(leaf);
  watched_.push_back(tensor);
}

void GradientTape::watch(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) watch(tensor);
}

Tensor GradientTape::gradient(const Tensor& target, const Tensor& source) const {
  return gradients(target, source)[0];
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target, const std::vector<Tensor>& sources) const {
  return gradients(target, sources);
}

namespace detail {

Tensor attach_gradient(const Tensor& value, const std::vector<Tensor>& inputs,
                       std::function<std::vector<Tensor>(const Tensor&)> gradient) {
  Tensor out = value.detach();
  if (recording(inputs))
    record("custom_gradient", out, std::span(inputs),
           [gradient = std::move(gradient), count = inputs.size()](const Tensor& g, Grads& grads) {
             const std::vector<Tensor> found = gradient(g);
             if (found.size() != count)
               fail("[custom_gradient] there must be one gradient per argument: received ", found.size(),
                    " for ", count, " arguments");
             for (std::size_t i = 0; i < count; ++i) grads.add(static_cast<int>(i), found[i]);
           });
  return out;
}

}  // namespace detail
}  // namespace ktape
