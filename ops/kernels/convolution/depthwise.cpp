#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/convolution/convolution.hpp>
#include <ktape/ops/kernels/convolution/im2col.hpp>
#include <ktape/ops/kernels/parallel/thread_sums.hpp>

namespace ktape::kernels {
namespace {

/// Calls f(x, kernel, y) for each tap of each position in begin..end of all images, with the rows of channels
/// of the input, the kernel and the result.
template <class T, class F>
void for_taps(const ktape_convolution& c, std::int64_t begin, std::int64_t end, const F& f) {
  const Patches patches(c);
  const T *x = static_cast<const T*>(c.x), *y = static_cast<const T*>(c.y),
          *kernel = static_cast<const T*>(c.kernel);
  for (std::int64_t i = begin; i < end; ++i) {
    const T* image = x + i / patches.positions() * patches.image();
    patches.for_parts(i % patches.positions(), [&](std::int64_t tap, std::int64_t at, std::int64_t) {
      if (at >= 0) f(image + at, kernel + tap * c.output_channels, y + i * c.output_channels);
    });
  }
}

template <class T>
void add_products(std::int64_t n, const T* a, const T* b, T* __restrict sums) {
  for (std::int64_t i = 0; i < n; ++i) sums[i] += a[i] * b[i];
}

}  // namespace

template <class T>
void depthwise(const ktape_convolution& c) {
  const std::int64_t positions = Patches(c).positions();
  T* const out = static_cast<T*>(c.y);
  parallel_for(c.batch * positions, 64, [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin * c.output_channels, out + end * c.output_channels, T(0));
    for_taps<T>(c, begin, end, [&](const T* x, const T* kernel, const T* row) {
      add_products(c.groups, x, kernel, out + (row - out));
    });
  });
}

template <class T>
void depthwise_backward_data(const ktape_convolution& c) {
  const Patches patches(c);
  T* const out = static_cast<T*>(c.x);
  parallel_for(c.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin * patches.image(), out + end * patches.image(), T(0));
    for_taps<T>(c, begin * patches.positions(), end * patches.positions(),
                [&](const T* row, const T* kernel, const T* y) {
                  add_products(c.groups, y, kernel, out + (row - out));
                });
  });
}

template <class T>
void depthwise_backward_kernel(const ktape_convolution& c) {
  const Patches patches(c);
  T* const out = static_cast<T*>(c.kernel);
  const std::int64_t size = patches.taps() * c.output_channels;
  thread_sums(c.batch * patches.positions(), size, size, out,
              [&](std::int64_t begin, std::int64_t end, T* sums) {
                for_taps<T>(c, begin, end, [&](const T* x, const T* row, const T* y) {
                  add_products(c.groups, x, y, sums + (row - out));
                });
              });
}

template void depthwise<float>(const ktape_convolution&);
template void depthwise<double>(const ktape_convolution&);
template void depthwise_backward_data<float>(const ktape_convolution&);
template void depthwise_backward_data<double>(const ktape_convolution&);
template void depthwise_backward_kernel<float>(const ktape_convolution&);
template void depthwise_backward_kernel<double>(const ktape_convolution&);

}  // namespace ktape::kernels
