#pragma once
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/fusion/element_ops.hpp>

#include <initializer_list>
#include <type_traits>

/// The entry of element-wise ops to the queue in which they wait (fusion_scope.hpp):
///
///     Tensor out = op_helpers::result(shape, dtype);           // pending inside of a FusionScope
///     if (op_helpers::waits<T, T>(out, f, x, y)) return out;   // the queue has the op
///     kernels::map<T>(...);
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

/// Adds the op out = f(x...) to the queue if `out` waits, and returns whether the op was added.
template <class T, class R, class F, class... X>
bool waits(const Tensor& out, const F& f, const X&... x) {
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= fusion::largest_closure);
  if (!out.get()->storage->pending()) return false;
  F copy = f;
  clear_padding(copy);  // equal functions then have equal bytes
  fusion::add_op(kernels::detail::element_loop<T, R, sizeof...(X)>(copy), std::is_empty_v<F> ? 0 : sizeof(F),
                 out, {&x...});
  return true;
}

}  // namespace op_helpers
}  // namespace ktape
