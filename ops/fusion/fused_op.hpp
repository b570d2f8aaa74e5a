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
inline bool result_waits(std::int64_t size) {
  return thread_state().pending && size >= fusion::smallest_result();
}

/// Returns a tensor for the result of an element-wise op. Its elements wait for the queue if the tensor is
/// pending; the op must then be added to the queue.
inline Tensor result_like(const Tensor& x) {
  return result_waits(x.size()) ? fusion::pending_result(x.shape(), x.dtype()) : Tensor::empty_like(x);
}
inline Tensor result(const Shape& shape, DType dtype, const char* op) {
  if (thread_state().pending) {
    check_extents(op, shape, dtype.size());
    if (result_waits(shape.count())) return fusion::pending_result(shape, dtype);
  }
  return Tensor::empty(shape, dtype, op);
}

/// Runs a loop, or adds the loop to the queue if `out` waits. Two operands may broadcast to `out`.
void run_loop(const kernels::ElementLoop& loop, std::size_t closure_bytes, const Tensor& out,
              std::initializer_list<const Tensor*> x);

/// Computes out = f(x...) for operands of the dtype, or adds the op to the queue if `out` waits; two operands
/// may broadcast to `out`. Results have the dtype, too, or are conditions.
template <kernels::Elements elements, bool conditions = false, class F, class... X>
void compute(const Tensor& out, DType dtype, F f, const X&... x) {
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= fusion::largest_closure);
  clear_padding(f);  // equal functions then have equal bytes
  run_loop(kernels::element_loop<elements, sizeof...(X), conditions>(dtype, f),
           std::is_empty_v<F> ? 0 : sizeof(F), out, {&x...});
}

}  // namespace op_helpers
}  // namespace ktape
