#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/kernels/blas.hpp>
#include <ktape/ops/kernels/convolution/convolution.hpp>
#include <ktape/ops/kernels/convolution/pooling.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>
#include <ktape/ops/kernels/normalization/batch_norm.hpp>
#include <ktape/ops/kernels/softmax/softmax_backward.hpp>

namespace ktape::kernels {
namespace {

/// Calls f with the arguments' element type and returns 1: the call is done.
template <class Arguments, class F>
std::int32_t computed(const Arguments& call, const F& f) {
  dispatch_native_floating(call.dtype == KTAPE_FLOAT64 ? DType::Float64 : DType::Float32, f);
  return 1;
}

std::int32_t matmul(const void* arguments) {
  const auto& call = *static_cast<const ktape_matmul*>(arguments);
  return computed(call, [&]<class T>() {
    blas_matmul<T>(call.rows, call.columns, call.inner,
                   {static_cast<const T*>(call.a), call.a_stride, call.a_transposed != 0},
                   {static_cast<const T*>(call.b), call.b_stride, call.b_transposed != 0},
                   static_cast<T*>(call.c), call.columns, call.accumulate != 0);
  });
}

bool is_depthwise(const ktape_convolution& call) {
  return call.groups > 1 && call.groups == call.input_channels && call.groups == call.output_channels;
}

std::int32_t forward(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() {
    is_depthwise(call)               ? depthwise<T>(call)
    : suits_direct_convolution(call) ? direct_convolution<T>(call)
                                     : convolution<T>(call);
  });
}

std::int32_t backward_data(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() {
    is_depthwise(call) ? depthwise_backward_data<T>(call) : convolution_backward_data<T>(call);
  });
}

std::int32_t backward_kernel(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() {
    is_depthwise(call)               ? depthwise_backward_kernel<T>(call)
    : suits_direct_convolution(call) ? direct_convolution_backward_kernel<T>(call)
                                     : convolution_backward_kernel<T>(call);
  });
}

PoolGrid grid_of(const ktape_pooling& call) {
  const auto array = [](const std::int64_t(&a)[3]) { return std::array<std::int64_t, 3>{a[0], a[1], a[2]}; };
  return {call.batch,         call.channels,       array(call.input),  array(call.output),
          array(call.window), array(call.strides), array(call.padding)};
}

std::int32_t pooling(const void* arguments) {
  const auto& call = *static_cast<const ktape_pooling*>(arguments);
  const PoolGrid grid = grid_of(call);
  return computed(call, [&]<class T>() {
    const T* x = static_cast<const T*>(call.x);
    T* y = static_cast<T*>(call.y);
    if (call.average) average_pool(grid, x, y);
    else if (grid.window_size() <= 256) max_pool(grid, x, y, static_cast<std::uint8_t*>(call.index));
    else max_pool(grid, x, y, static_cast<std::int32_t*>(call.index));
  });
}

std::int32_t pooling_backward(const void* arguments) {
  const auto& call = *static_cast<const ktape_pooling*>(arguments);
  const PoolGrid grid = grid_of(call);
  return computed(call, [&]<class T>() {
    const T* y = static_cast<const T*>(call.y);
    T* x = static_cast<T*>(call.x);
    if (call.average) average_pool_backward(grid, y, x);
    else if (grid.window_size() <= 256)
      max_pool_backward(grid, y, static_cast<const std::uint8_t*>(call.index), x);
    else max_pool_backward(grid, y, static_cast<const std::int32_t*>(call.index), x);
  });
}

std::int32_t softmax_forward(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  return computed(call, [&]<class T>() {
    softmax(static_cast<const T*>(call.x), static_cast<T*>(call.y), {call.outer, call.axis, call.inner});
  });
}

std::int32_t softmax_gradient(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  return computed(call, [&]<class T>() {
    softmax_backward(static_cast<const T*>(call.y), static_cast<const T*>(call.dy), static_cast<T*>(call.dx),
                     {call.outer, call.axis, call.inner});
  });
}

/// Calls `f.operator()<T>()` also for bfloat16, with coefficients of float.
template <class Call, class F>
std::int32_t computed_or_bfloat16(const Call& call, const F& f) {
  if (call.dtype != KTAPE_BFLOAT16) return computed(call, f);
  f.template operator()<bfloat16>();
  return 1;
}

std::int32_t batch_moments(const void* arguments) {
  const auto& call = *static_cast<const ktape_batch_normalization*>(arguments);
  return computed_or_bfloat16(call, [&]<class T>() {
    const auto moments =
        channel_moments({call.outer, call.channels, call.inner}, static_cast<const T*>(call.x));
    for (std::size_t c = 0; c < moments.size(); ++c)
      call.first[c] = moments[c].mean, call.second[c] = moments[c].variance();
  });
}

std::int32_t batch_slopes(const void* arguments) {
  const auto& call = *static_cast<const ktape_batch_normalization*>(arguments);
  return computed_or_bfloat16(call, [&]<class T>() {
    const auto slopes =
        channel_slopes({call.outer, call.channels, call.inner}, static_cast<const T*>(call.g),
                       static_cast<const T*>(call.x), static_cast<const computed_type<T>*>(call.centre));
    for (std::size_t c = 0; c < slopes.size(); ++c)
      call.first[c] = slopes[c].g, call.second[c] = slopes[c].gx;
  });
}

std::int32_t batch_affine(const void* arguments) {
  const auto& call = *static_cast<const ktape_batch_normalization*>(arguments);
  return computed_or_bfloat16(call, [&]<class T>() {
    const ChannelLayout layout{call.outer, call.channels, call.inner};
    const T *x = static_cast<const T*>(call.x), *g = static_cast<const T*>(call.g);
    const auto of = [](const void* numbers) { return static_cast<const computed_type<T>*>(numbers); };
    T* y = static_cast<T*>(call.y);
    if (!x) channel_scale(layout, g, of(call.scale), y);
    else if (!g) channel_affine(layout, x, of(call.centre), of(call.slope), of(call.offset), y);
    else channel_affine(layout, g, x, of(call.centre), of(call.scale), of(call.slope), of(call.offset), y);
  });
}

}  // namespace

const Kernels& native_kernels() {
  static const Kernels kernels{matmul,        forward,          backward_data,   backward_kernel,
                               pooling,       pooling_backward, softmax_forward, softmax_gradient,
                               batch_moments, batch_slopes,     batch_affine};
  return kernels;
}

}  // namespace ktape::kernels
