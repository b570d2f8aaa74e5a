#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/graph/backward_pass.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/graph/graph.hpp>
#include <ktape/autograd/graph/trace.hpp>
#include <ktape/autograd/internal/watch.hpp>

#include <algorithm>
#include <mutex>

namespace ktape {
namespace {

Tensor full_like(const Tensor& x, float value) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  dispatch_floating(x.dtype(), [&]<class T>() { std::fill_n(out.pointer<T>(), out.size(), T(value)); });
  return out;
}

void check_losses(const TensorList& losses, const TensorList& seeds) {
  if (losses.empty()) fail("[gradients] there must be a loss: received none");
  expect_defined("gradients", "losses", losses.vector());
  for (const Tensor& loss : losses) {
    if (!loss.dtype().is_floating())
      fail<TypeError>("[gradients] the loss must be floating: received dtype=", loss.dtype());
  }
  if (!seeds.empty() && seeds.size() != losses.size())
    fail("[gradients] there must be one seed per loss: received ", seeds.size(), " seeds for ", losses.size(),
         " losses");
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (!seeds[i].defined()) continue;
    if (!compatible(seeds[i].shape(), losses[i].shape()))
      fail("[gradients] a seed must have its loss's shape ", losses[i].shape(),
           ": received shape=", seeds[i].shape());
    if (seeds[i].dtype() != losses[i].dtype())
      fail<TypeError>("[gradients] a seed must have its loss's dtype ", losses[i].dtype(),
                      ": received dtype=", seeds[i].dtype());
  }
}

constexpr const char* watch_op = "watch";

/// The node of a watched constant, shared by the tapes that watch the constant.
class WatchLeaf final : public LeafNode {
 public:
  WatchLeaf() : LeafNode(watch_op) {}
  int tapes = 0;
};

}  // namespace

Tensor keep_watched(const Tensor& x) {
  if (!x.defined() || !x.node() || x.node()->op() != watch_op) return x;
  Tensor copy = x.alias(x.shape());
  copy.get()->node = x.get()->node;
  copy.get()->output = x.get()->output;
  return copy;
}

/// The tape node of gradients that were computed without recording. The node stores the arguments of the
/// backward pass and repeats the pass, recorded, when a later backward pass reaches the node. The nodes that
/// are recorded then are newer than all other nodes and read no node that is newer than this node; a backward
/// pass that finds such nodes sorts the nodes by their consumers.
class LazyGradient final : public Node {
 public:
  LazyGradient(std::vector<Tensor> losses, std::vector<Tensor> seeds, std::vector<Tensor> targets)
      : Node("gradients", true),
        losses_(std::move(losses)),
        seeds_(std::move(seeds)),
        targets_(std::move(targets)) {
    for (Tensor& target : targets_) target = keep_watched(target);
    std::uint64_t latest = 0;
    for (const std::vector<Tensor>* list : {&losses_, &seeds_})
      for (const Tensor& x : *list)
        if (x.node()) latest = std::max(latest, x.node()->sequence());
    take_sequence(latest);
  }

  void prepare() override {
    std::vector<Tensor> losses, seeds, targets;
    {
      const std::lock_guard lock(mutex_);
      if (losses_.empty()) return;
      losses = losses_, seeds = seeds_, targets = targets_;
    }
    // Runs without the lock, because a closure may wait for another thread that calls `prepare`, too. The
    // first thread to finish stores its results.
    const std::vector<Tensor> results = walk_back(losses, seeds, targets, true);
    std::vector<const Tensor*> defined;
    for (const Tensor& result : results)
      if (result.defined()) defined.push_back(&result);
    const std::lock_guard lock(mutex_);
    if (losses_.empty()) return;
    set_edges(defined);
    losses_.clear(), seeds_.clear(), targets_.clear();
  }

  void backward(Grads& grads) override {
    for (int i = 0; i < outputs(); ++i) grads.to(i, [&] { return grads.output(i); });
  }

 private:
  std::mutex mutex_;
  std::vector<Tensor> losses_, seeds_, targets_;
};

namespace {
/// Replaces undefined gradients by tensors that explain in their errors that a gradient is missing.
std::vector<Tensor> explained(std::vector<Tensor> gradients) {
  for (Tensor& gradient : gradients)
    if (!gradient.defined()) gradient = Tensor::no_gradient();
  return gradients;
}

std::vector<Tensor> eager_gradients(const TensorList& losses, const std::vector<Tensor>& variables,
                                    const TensorList& seeds) {
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < losses.size(); ++i)
    weights.push_back(!seeds.empty() && seeds[i].defined() ? seeds[i] : full_like(losses[i], 1));

  std::vector<Tensor> results = explained(walk_back(losses.vector(), weights, variables, false));
  if (!recording()) return results;
  if (std::none_of(results.begin(), results.end(), [](const Tensor& t) { return t.defined(); }))
    return results;
  auto node = Ref<Node>::adopt(new LazyGradient(losses.vector(), std::move(weights), variables));
  std::uint32_t index = 0;
  for (Tensor& result : results) {
    if (!result.defined()) continue;
    result = result.detach();  // the tensor may be a seed or a saved tensor
    node->add_output(result);
    result.get()->node = node;
    result.get()->output = index++;
  }
  return results;
}

/// Defers `gradients`. A deferred gradient is defined if any path in the graph leads to the variable.
std::vector<Tensor> gradients_later(const TensorList& losses, const TensorList& variables,
                                    const TensorList& seeds) {
  const auto run = [](const std::vector<Tensor>& losses, const std::vector<Tensor>& variables,
                      const std::vector<Tensor>& seeds) {
    std::vector<Tensor> found = gradients(losses, variables, seeds);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!found[i].defined()) found[i] = full_like(variables[i], 0);
    return found;
  };
  return explained(
      symbolic_derivatives("gradients", run, info_of, losses.vector(), variables.vector(), seeds.vector()));
}

/// Returns the values of variables. Gradients that are computed at once need no copies that stand for the
/// variables.
std::vector<Tensor> values_of(const std::vector<Variable>& variables) {
  std::vector<Tensor> values;
  values.reserve(variables.size());
  for (const Variable& variable : variables) values.push_back(variable);
  expect_defined("gradients", "variables", values);
  return values;
}

}  // namespace

std::vector<Tensor> gradients(const TensorList& losses, const TensorList& variables,
                              const TensorList& seeds) {
  check_losses(losses, seeds);
  expect_defined("gradients", "variables", variables.vector());
  if (is_symbolic(losses.vector()) || is_symbolic(seeds.vector()))
    return gradients_later(losses, variables, seeds);
  return eager_gradients(losses, variables.vector(), seeds);
}

std::vector<Tensor> gradients_of(const TensorList& losses, const std::vector<Variable>& variables,
                                 const TensorList& seeds) {
  if (is_symbolic(losses.vector()) || is_symbolic(seeds.vector()))
    return gradients(losses, TensorList(variables), seeds);
  check_losses(losses, seeds);
  return eager_gradients(losses, values_of(variables), seeds);
}

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Variable>& variables,
                              std::vector<LookupGradient>& lookups, const GradientReady& ready) {
  const TensorList losses(loss);
  check_losses(losses, {});
  expect_value("gradients", loss);
  return walk_back(losses.vector(), {full_like(loss, 1)}, values_of(variables), false, &lookups, ready);
}

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Variable>& variables,
                              std::vector<LookupGradient>& lookups) {
  return gradients(loss, variables, lookups, {});
}

GradientTape::~GradientTape() {
  for (const Tensor& tensor : watched_)
    if (--static_cast<WatchLeaf*>(tensor.node())->tapes == 0) tensor.get()->node = Ref<Node>();
}

void GradientTape::watch(const Tensor& tensor) {
  expect_defined("watch", "tensor", tensor);
  if (!tensor.dtype().is_floating())
    fail<TypeError>("[watch] the tensor must be floating: received dtype=", tensor.dtype());
  auto* leaf = dynamic_cast<WatchLeaf*>(tensor.node());
  if (tensor.node() && !leaf) return;  // recorded already
  watched_.push_back(tensor);
  if (!leaf) {
    leaf = new WatchLeaf;
    leaf->add_output(tensor);
    tensor.get()->node = Ref<Node>::adopt(leaf);
  }
  ++leaf->tapes;
}

void GradientTape::watch(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) watch(tensor);
}

namespace detail {
namespace {

/// Returns the arguments with a separate handle for each recorded argument, so that no argument depends on
/// another argument.
std::vector<Tensor> own_arguments(std::vector<Tensor> arguments) {
  for (Tensor& argument : arguments) {
    if (!argument.defined() || !recording(argument)) continue;
    const Tensor own = argument.detach();
    record("identity", own, {argument},
           [](const Tensor& g, Grads& grads) { grads.to(0, [&] { return g; }); });
    argument = own;
  }
  return arguments;
}

using CustomFunction = std::function<WithGradient(const std::vector<Tensor>&)>;

/// Defers the function as one op. Gradients flow to its arguments alone.
Tensor custom_gradient_later(const CustomFunction& f, const std::vector<Tensor>& arguments) {
  std::vector<OutputInfo> infos;
  for (const Tensor& x : arguments) infos.push_back(info_of(x));
  Trace both = trace("custom_gradient", infos, [&](const std::vector<Tensor>& x) {
    const WithGradient result = f(x);
    std::vector<Tensor> all{result.first};
    for (const Tensor& gradient : result.second(result.first))
      if (gradient.defined()) all.push_back(gradient);
    return all;
  });
  for (Operand& operand : both.captured) operand.differentiable = false;
  return defer_capturing("custom_gradient", {both.results[0]}, both.captured, custom_gradient, f,
                         arguments)[0];
}

}  // namespace

Tensor custom_gradient(const CustomFunction& f, const std::vector<Tensor>& arguments) {
  expect_defined("custom_gradient", "arguments", arguments);
  if (is_symbolic(arguments)) return custom_gradient_later(f, arguments);
  const std::vector<Tensor> inputs = own_arguments(arguments);
  const WithGradient result = [&] {
    NoGrad off;
    return f(inputs);
  }();
  expect_defined("custom_gradient", "the result of the function", result.first);
  Tensor out = result.first.detach();
  if (recording(inputs))
    record("custom_gradient", out, std::span(inputs),
           [gradient = result.second, count = inputs.size()](const Tensor& g, Grads& grads) {
             const EnableGrad on;  // the closure may differentiate a value that the closure computes
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
