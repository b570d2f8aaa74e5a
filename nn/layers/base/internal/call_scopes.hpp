#pragma once
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/reading.hpp>
#include <ktape/autograd/scope.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/settings/config.hpp>

/// Scopes of layer calls: the call that is running, and the first call, which builds.
namespace ktape::nn {

/// The layer whose `call` is running on this thread.
inline constinit thread_local LayerImpl* caller [[gnu::tls_model("initial-exec")]] = nullptr;
/// Whether the calls of layers inside of other layers are symbols of their own on this thread.
inline constinit thread_local bool inner_calls_wait [[gnu::tls_model("initial-exec")]] = false;
/// The number of calls on this thread that no other layer made.
inline constinit thread_local std::uint64_t outermost_calls [[gnu::tls_model("initial-exec")]] = 0;

/// A scope that sets `inner_calls_wait`.
class InnerCallsScope {
 public:
  explicit InnerCallsScope(bool wait) : before_(std::exchange(inner_calls_wait, wait)) {}
  ~InnerCallsScope() { inner_calls_wait = before_; }
  InnerCallsScope(const InnerCallsScope&) = delete;
  InnerCallsScope& operator=(const InnerCallsScope&) = delete;

 private:
  const bool before_;
};

/// A scope in which the `call` of a layer runs on this thread, with the learning phase of the arguments.
class LayerImpl::CallScope {
 public:
  CallScope(LayerImpl& layer, const CallArguments& arguments) : before_(caller) {
    if (const ThreadState* trainer = layer.trained_by_.load(std::memory_order_relaxed);
        trainer && trainer != &thread_state()) [[unlikely]]
      fail("[", layer.name_, "] a model must not be called while another thread trains the model");
    if (arguments.training) phase_.emplace(*arguments.training ? 1 : 0);
    if (!before_) ++outermost_calls;
    else if (before_ != &layer && layer.part_of_.load(std::memory_order_relaxed) != before_->number_)
      before_->adopt_called(layer);
    caller = &layer;
    const bool outside = !thread_state().autocast;
    if (outside && layer.compute_dtype_ == layer.variable_dtype_) [[likely]]
      return;
    const DType dtype = layer.input_dtype();
    const bool converts = layer.autocast && dtype.is_floating();
    autocast_.emplace(converts ? std::optional(dtype) : std::nullopt, backend::cast);
  }
  ~CallScope() { caller = before_; }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  LayerImpl* before_;
  const ReadingScope reading_;
  std::optional<backend::learning_phase_scope> phase_;
  std::optional<AutocastScope> autocast_;
};

/// A scope in which this thread builds layers while other threads wait to build layers. The first call of a
/// layer belongs to the scope, so that no other thread sees weights that a failure removes again.
class LayerImpl::FirstCall {
 public:
  FirstCall() : turn_(mutex()), outer_(std::exchange(current_, this)) {}
  ~FirstCall() {
    current_ = outer_;
    if (outer_) return;
    for (const Before& before : began_)
      if (before.layer->stage_.load(std::memory_order_relaxed) == Stage::FirstCall)
        before.layer->stage_.store(Stage::Built, std::memory_order_release);
  }
  FirstCall(const FirstCall&) = delete;
  FirstCall& operator=(const FirstCall&) = delete;

  static bool running() { return current_ != nullptr; }

  /// Records the state of a layer before its build. Returns the position of the record, for `take_back`.
  std::size_t begin(LayerImpl& layer) {
    std::vector<Before>& began = outermost().began_;
    began.push_back(
        {layer.shared_from_this(), layer.weights_.size(), layer.sublayers_.size(), layer.input_spec});
    return began.size() - 1;
  }
  /// Restores all layers whose records are at position `from` or later to the state before their build.
  void take_back(std::size_t from) {
    std::vector<Before>& began = outermost().began_;
    for (; began.size() > from; began.pop_back()) {
      const Before& before = began.back();
      before.layer->unbuild(before.weights, before.layers, before.spec);
    }
  }

 private:
  struct Before {
    std::shared_ptr<LayerImpl> layer;
    std::size_t weights, layers;
    std::vector<InputSpec> spec;
  };

  FirstCall& outermost() {
    FirstCall* call = this;
    while (call->outer_) call = call->outer_;
    return *call;
  }
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex& mutex = *new std::recursive_mutex;
    return mutex;
  }

  static inline constinit thread_local FirstCall* current_ [[gnu::tls_model("initial-exec")]] = nullptr;
  const std::lock_guard<std::recursive_mutex> turn_;
  FirstCall* outer_;
  std::vector<Before> began_;
};

}  // namespace ktape::nn
