#pragma once
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/fusion/element_ops.hpp>

#include <initializer_list>
#include <type_traits>

/// The entry of element-wise ops to the queue in which they wait (fusion_scope.hpp):
///
///     Tensor out = op_helpers::result(shape, dtype, op);                   // pending inside of a FusionScope
///     op_helpers::compute<kernels::Elements::Floating>(out, dtype, f, x);  // now, or later by the queue
namespace ktape {
namespace fusion {

std::int64_t smallest_result();
Tensor pending_result(const Shape& shape, DType dtype);
void add_op(const kernels::ElementLoop& loop, std::size_t closure_bytes, const Tensor& out,
            std::initializer_list<const Tensor*> x);

}  // namespace fusion

namespace op_helpers {

/// Returns whether a result of `size` elements is to wait.
inline bool result_waits(std::int64_t size) { return pending_work() && size >= fusion::smallest_result(); }

/// Returns a tensor for the result of an element-wise op. Its elements wait for the queue if the tensor is
/// pending; the op must then be added to the queue.
[[gnu::always_inline]] inline Tensor result_like(const Tensor& x) {
  if (result_waits(x.size())) return fusion::pending_result(x.shape(), x.dtype());
  return Tensor::empty_like(x);
}
inline Tensor result(const Shape& shape, DType dtype, const char* op) {
  if (pending_work()) {
    check_extents(op, shape, dtype.size());
    if (result_waits(shape.count())) return fusion::pending_result(shape, dtype);
  }
  return Tensor::empty(shape, dtype, op);
}

/// Runs a loop on tensors that do not wait, of any size; two operands may broadcast to `out`.
void run_loop_of_any_size(const kernels::ElementLoop& loop, const Tensor& out,
                          std::initializer_list<const Tensor*> x);

/// Runs the loop of a lambda, or adds the loop to the queue if `out` waits; two operands may broadcast to `out`.
template <class... X>
[[gnu::noinline]] void run_or_add(const kernels::ElementLoop& loop, std::size_t closure_bytes,
                                  const Tensor& out, const X&... x) {
  if (out.get()->storage->pending()) fusion::add_op(loop, closure_bytes, out, {&x...});
  else run_loop_of_any_size(loop, out, {&x...});
}

/// Computes out = f(x...) for operands of the dtype, or adds the op to the queue if `out` waits; two operands
/// may broadcast to `out`. Results have the dtype, too, or are conditions. Small operands of one size skip the
/// preparations for threads and broadcasting, which would take longer than the loop.
template <kernels::Elements elements, bool conditions = false, class F, class... X>
void compute(const Tensor& out, DType dtype, F f, const X&... x) {
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= fusion::largest_closure);
  constexpr bool any_half = kernels::detail::converts_halves<F>;
  clear_padding(f);  // equal functions then have equal bytes
  const auto run = kernels::loop_function<elements, sizeof...(X), conditions, F>(dtype);
  const TensorImpl& to = *out.get();
  if ((any_half || !dtype.is_half()) && to.size <= kernels::map_grain &&
      (... && (x.get()->size == to.size)) && !to.storage->pending()) {
    const void* const from[] = {x.raw()...};
    return run(&f, 1, to.size, to.storage->data(), from, nullptr);
  }
  const auto loop = kernels::loop_of_dtype(run, &f, sizeof...(X), dtype, conditions, any_half);
  run_or_add(loop, std::is_empty_v<F> ? 0 : sizeof(F), out, x...);
}

}  // namespace op_helpers
}  // namespace ktape
