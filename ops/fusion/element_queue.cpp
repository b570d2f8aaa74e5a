#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/ops/fusion/element_queue.hpp>
#include <ktape/ops/fusion/fused_op.hpp>
#include <ktape/ops/fusion/fusion_scope.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace ktape {
namespace fusion {
namespace {

std::atomic<std::int64_t> smallest{1 << 17};
constexpr std::size_t most_ops = 64;
/// The bytes of operands that ops which wait may keep in memory, beside four times the bytes of a result.
constexpr std::size_t most_held = std::size_t{1} << 28;

/// The queue of this thread, which its scopes use one after another.
thread_local Ref<ElementQueue> queue;

}  // namespace

std::int64_t smallest_result() { return smallest.load(std::memory_order_relaxed); }
std::int64_t set_smallest_result(std::int64_t elements) { return smallest.exchange(elements); }

int ElementQueue::value_of(const Tensor& x) {
  Storage* const storage = x.get()->storage.get();
  for (std::size_t i = list_.values.size(); i-- > 0;)
    if (list_.values[i].storage.get() == storage) return static_cast<int>(i);
  list_.values.push_back({x.get()->storage, x.dtype()});
  held_ += static_cast<std::size_t>(x.size()) * x.dtype().size();
  return static_cast<int>(list_.values.size()) - 1;
}

int ElementQueue::broadcast_of(const Shape& from, const Shape& to) {
  const auto known = std::find(list_.broadcasts.begin(), list_.broadcasts.end(), std::pair(from, to));
  const auto found = known - list_.broadcasts.begin();
  if (known == list_.broadcasts.end()) list_.broadcasts.emplace_back(from, to);
  return static_cast<int>(found);
}

void ElementQueue::add_op(const kernels::ElementLoop& loop, std::size_t closure_bytes, const Tensor& out,
                          std::initializer_list<const Tensor*> x) {
  for (const Tensor* const operand : x) {  // not under the lock: another thread's queue may have the operand
    Storage& storage = *operand->get()->storage;
    if (storage.pending() && !storage.pending_on(*this)) storage.data();
  }
  const std::lock_guard lock(mutex_);
  const std::size_t result = static_cast<std::size_t>(out.size()) * out.dtype().size();
  if (list_.ops.size() >= most_ops || held_ > most_held + 4 * result) run_all();
  ElementOp& op = list_.ops.emplace_back();
  op.loop = loop;
  if (closure_bytes > 0) std::memcpy(op.closure.data(), loop.f, closure_bytes);
  op.closure_bytes = closure_bytes;
  op.size = out.size();
  for (std::size_t k = 0; const Tensor* const operand : x) {
    op.x[k].value = value_of(*operand);
    if (operand->size() != out.size()) op.x[k].broadcast = broadcast_of(operand->shape(), out.shape());
    ++k;
  }
  waiting_.store(true, std::memory_order_release);
  op.result = static_cast<int>(list_.values.size());
  list_.values.push_back({out.get()->storage, out.dtype(), static_cast<int>(list_.ops.size()) - 1});
}

void ElementQueue::finish() {
  if (!waiting_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (!list_.ops.empty()) run_all();
}

void ElementQueue::run_all() {
  run_ops(list_);
  held_ = 0;
  waiting_.store(false, std::memory_order_release);
}

Tensor ElementQueue::add(const Tensor& a, const Tensor& b) {
  if (a.size() < smallest_result()) return {};
  Tensor sum = Tensor::pending(a.shape(), a.dtype(), *this);
  op_helpers::compute<kernels::Elements::Floating>(
      sum, a.dtype(), [](auto x, auto y) { return x + y; }, a, b);
  return sum;
}

Tensor pending_result(const Shape& shape, DType dtype) {
  return Tensor::pending(shape, dtype, *thread_state().pending);
}

void add_op(const kernels::ElementLoop& loop, std::size_t closure_bytes, const Tensor& out,
            std::initializer_list<const Tensor*> x) {
  static_cast<ElementQueue*>(thread_state().pending)->add_op(loop, closure_bytes, out, x);
}

}  // namespace fusion

bool compiles_graphs() {
  const char* const value = std::getenv("KTAPE_COMPILE");
  return !value || std::string_view(value) != "0";
}

FusionScope::FusionScope(bool on) : on_(on) {
  if (!on_) return;
  if (!fusion::queue) fusion::queue = Ref<fusion::ElementQueue>::adopt(new fusion::ElementQueue);
  outer_ = std::exchange(thread_state().pending, fusion::queue.get());
}

void FusionScope::finish() {
  if (on_ && !outer_) fusion::queue->finish();
}

FusionScope::~FusionScope() {
  if (!on_) return;
  thread_state().pending = outer_;
  try {
    finish();
  } catch (const Error&) {
    // Memory is missing. A reader of the results tries again and gets the error.
  }
}

}  // namespace ktape
