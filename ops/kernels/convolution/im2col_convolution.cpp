#include <ktape/ops/kernels/blas.hpp>
#include <ktape/ops/kernels/convolution/convolution.hpp>
#include <ktape/ops/kernels/convolution/im2col.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/parallel/thread_sums.hpp>
#include <ktape/ops/kernels/workspace.hpp>

namespace ktape::kernels {
namespace {

/// A convolution with its arrays, seen as products of rows of patches.
template <class T>
struct Products {
  const ktape_convolution& c;
  Patches patches{c};
  std::int64_t row = patches.row(), positions = patches.positions(), block = patches.block(sizeof(T));
  std::int64_t blocks = (positions + block - 1) / block;
  std::int64_t outputs = c.output_channels / c.groups, inputs = c.input_channels / c.groups;

  T* image(std::int64_t n, std::int64_t group) const {
    return static_cast<T*>(c.x) + n * patches.image() + group * inputs;
  }
  T* result(std::int64_t n, std::int64_t position, std::int64_t group) const {
    return static_cast<T*>(c.y) + n * patches.result() + position * c.output_channels + group * outputs;
  }
  T* kernel(std::int64_t group) const { return static_cast<T*>(c.kernel) + group * outputs; }

  /// Calls f(image, first position, count, group) for blocks begin..end of all images.
  template <class F>
  void for_blocks(std::int64_t begin, std::int64_t end, const F& f) const {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * block;
      for (std::int64_t group = 0; group < c.groups; ++group)
        f(i / blocks, first, std::min(block, positions - first), group);
    }
  }
};

}  // namespace

template <class T>
void convolution(const ktape_convolution& c) {
  const Products<T> p{c};
  const std::int64_t stride = c.output_channels;
  if (p.patches.pointwise())
    return blas_matmul<T>(c.batch * p.positions, stride, p.row, {p.image(0, 0), p.row}, {p.kernel(0), stride},
                          p.result(0, 0, 0), stride);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> space(p.block * p.row);
    T* const rows = space.take(p.block * p.row);
    p.for_blocks(begin, end, [&](std::int64_t n, std::int64_t first, std::int64_t count, std::int64_t group) {
      p.patches.gather(p.image(n, group), first, count, rows);
      blas_matmul<T>(count, p.outputs, p.row, {rows, p.row}, {p.kernel(group), stride},
                     p.result(n, first, group), stride);
    });
  };
  parallel_rows(c.batch * p.blocks, p.block * p.row, run, Team::Fixed);
}

template <class T>
void convolution_backward_data(const ktape_convolution& c) {
  const Products<T> p{c};
  const std::int64_t stride = c.output_channels;
  if (p.patches.pointwise())
    return blas_matmul<T>(c.batch * p.positions, p.row, stride, {p.result(0, 0, 0), stride},
                          {p.kernel(0), stride, true}, p.image(0, 0), p.row);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    Workspace<T> space(p.block * p.row);
    T* const rows = space.take(p.block * p.row);
    std::fill_n(p.image(begin, 0), (end - begin) * p.patches.image(), T(0));
    p.for_blocks(begin * p.blocks, end * p.blocks,
                 [&](std::int64_t n, std::int64_t first, std::int64_t count, std::int64_t group) {
                   blas_matmul<T>(count, p.row, p.outputs, {p.result(n, first, group), stride},
                                  {p.kernel(group), stride, true}, rows, p.row);
                   p.patches.scatter(rows, first, count, p.image(n, group));
                 });
  };
  parallel_rows(c.batch, p.positions * p.row, run, Team::Fixed);
}

template <class T>
void convolution_backward_kernel(const ktape_convolution& c) {
  const Products<T> p{c};
  const std::int64_t stride = c.output_channels;
  if (p.patches.pointwise())
    return blas_matmul<T>(p.row, stride, c.batch * p.positions, {p.image(0, 0), p.row, true},
                          {p.result(0, 0, 0), stride}, p.kernel(0), stride);
  const auto add = [&](std::int64_t begin, std::int64_t end, T* sums) {
    Workspace<T> space(p.block * p.row);
    T* const rows = space.take(p.block * p.row);
    p.for_blocks(begin, end, [&](std::int64_t n, std::int64_t first, std::int64_t count, std::int64_t group) {
      p.patches.gather(p.image(n, group), first, count, rows);
      blas_matmul<T>(p.row, p.outputs, count, {rows, p.row, true}, {p.result(n, first, group), stride},
                     sums + group * p.outputs, stride, true);
    });
  };
  thread_sums(c.batch * p.blocks, p.block * p.row, p.row * stride, p.kernel(0), add, Team::Fixed);
}

template void convolution<float>(const ktape_convolution&);
template void convolution<double>(const ktape_convolution&);
template void convolution_backward_data<float>(const ktape_convolution&);
template void convolution_backward_data<double>(const ktape_convolution&);
template void convolution_backward_kernel<float>(const ktape_convolution&);
template void convolution_backward_kernel<double>(const ktape_convolution&);

}  // namespace ktape::kernels
