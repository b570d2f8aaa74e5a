#include <ktape/autograd/dispatch.hpp>
#include <ktape/ops/kernels/convolution.hpp>
#include <ktape/ops/kernels/engine.hpp>
#include <ktape/ops/kernels/matmul.hpp>
#include <ktape/ops/kernels/softmax_backward.hpp>

namespace ktape::kernels {
namespace {

/// Calls f with the arguments' element type and says that the work is done.
template <class Arguments, class F>
std::int32_t computed(const Arguments& call, const F& f) {
  dispatch_floating(dtype_of_engine(call.dtype), f);
  return 1;
}

std::int32_t matmul(const void* arguments) {
  const auto& call = *static_cast<const ktape_matmul*>(arguments);
  return computed(call, [&]<class T>() {
    if constexpr (!std::is_same_v<T, float16>)
      blas_matmul<T>(call.rows, call.columns, call.inner, {static_cast<const T*>(call.a), call.a_stride, call.a_transposed != 0},
                     {static_cast<const T*>(call.b), call.b_stride, call.b_transposed != 0}, static_cast<T*>(call.c), call.columns,
                     call.accumulate != 0);
  });
}

bool is_depthwise(const ktape_convolution& call) {
  return call.groups > 1 && call.groups == call.input_channels && call.groups == call.output_channels;
}

std::int32_t forward(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() {
    if constexpr (!std::is_same_v<T, float16>) is_depthwise(call) ? depthwise<T>(call) : convolution<T>(call);
  });
}

std::int32_t backward_data(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() {
    if constexpr (!std::is_same_v<T, float16>)
      is_depthwise(call) ? depthwise_backward_data<T>(call) : convolution_backward_data<T>(call);
  });
}

std::int32_t backward_kernel(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() {
    if constexpr (!std::is_same_v<T, float16>)
      is_depthwise(call) ? depthwise_backward_kernel<T>(call) : convolution_backward_kernel<T>(call);
  });
}

std::int32_t softmax_forward(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  return computed(call, [&]<class T>() {
    softmax(static_cast<const T*>(call.x), static_cast<T*>(call.y), call.outer, call.axis, call.inner);
  });
}

std::int32_t softmax_gradient(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  return computed(call, [&]<class T>() {
    softmax_backward(static_cast<const T*>(call.y), static_cast<const T*>(call.dy), static_cast<T*>(call.dx), call.outer, call.axis,
                     call.inner);
  });
}

}  // namespace

const Kernels& xtensor_kernels() {
  static const Kernels kernels{matmul, forward, backward_data, backward_kernel, nullptr, nullptr, softmax_forward, softmax_gradient};
  return kernels;
}

}  // namespace ktape::kernels
