#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/workspace.hpp>
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>

#include <omp.h>

#include <algorithm>

namespace ktape::op_helpers {
namespace {

template <class T>
bool nothing_to_add(std::int64_t rows, std::int64_t columns, std::int64_t inner, T* c, bool accumulate) {
  if (inner == 0 && !accumulate) std::fill_n(c, rows * columns, T(0));
  return rows == 0 || columns == 0 || inner == 0;
}

/// The number of multiplications up to which a plain loop is faster: a call of a library costs about a
/// microsecond.
constexpr std::int64_t tiny = 512;

template <class T>
void tiny_matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<T> a,
                 kernels::Matrix<T> b, T* c, bool accumulate) {
  const std::int64_t arow = a.transposed ? 1 : a.stride, astep = a.transposed ? a.stride : 1;
  const std::int64_t brow = b.transposed ? 1 : b.stride, bstep = b.transposed ? b.stride : 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    T* row = c + i * columns;
    if (!accumulate) std::fill_n(row, columns, T(0));
    for (std::int64_t k = 0; k < inner; ++k) {
      const T factor = a.data[i * arow + k * astep];
      const T* other = b.data + k * brow;
      for (std::int64_t j = 0; j < columns; ++j) row[j] += factor * other[j * bstep];
    }
  }
}

/// The largest number of multiplications that one thread computes alone: waking a second thread takes
/// microseconds, and its results have to move to the first thread's cache.
constexpr std::int64_t grain = std::int64_t{1} << 19;

/// The number of rows of a part, independent of the number of threads.
constexpr std::int64_t row_block = 64;

/// Returns whether the engine has computed the product.
template <class T>
bool run_engine(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<T> a,
                kernels::Matrix<T> b, T* c, bool accumulate) {
  const ktape_matmul call{.dtype = kernels::engine_dtype(dtype_of<T>()),
                          .accumulate = accumulate,
                          .rows = rows,
                          .columns = columns,
                          .inner = inner,
                          .a = a.data,
                          .a_stride = a.stride,
                          .b = b.data,
                          .b_stride = b.stride,
                          .a_transposed = a.transposed,
                          .b_transposed = b.transposed,
                          .c = c};
  const bool one = rows * columns * inner <= grain || (is_half<T> && omp_in_parallel());
  return engine().run(kernels::Kernel::Matmul, &call, one ? kernels::Threads::One : threads_for_sums());
}

template <class T>
void engine_matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<T> a,
                   kernels::Matrix<T> b, T* c, bool accumulate) {
  if (nothing_to_add(rows, columns, inner, c, accumulate)) return;
  if (rows * columns * inner <= tiny) return tiny_matmul(rows, columns, inner, a, b, c, accumulate);
  if (backend::deterministic() && rows > row_block) {
    const std::int64_t step = a.transposed ? 1 : a.stride;
    return kernels::parallel_rows(
        (rows + row_block - 1) / row_block, row_block * columns * inner / 16, [&](auto begin, auto end) {
          for (std::int64_t i = begin * row_block; i < std::min(rows, end * row_block); i += row_block)
            engine_matmul(std::min(row_block, rows - i), columns, inner,
                          {a.data + i * step, a.stride, a.transposed}, b, c + i * columns, accumulate);
        });
  }
  run_engine(rows, columns, inner, a, b, c, accumulate);
}

/// Returns the number of elements from the first to the last element of a matrix in memory.
template <class T>
std::int64_t extent(kernels::Matrix<T> m, std::int64_t rows, std::int64_t columns) {
  return m.transposed ? (columns - 1) * m.stride + rows : (rows - 1) * m.stride + columns;
}

/// Returns the first `size` elements of a matrix in half precision as floats.
template <class T>
kernels::Matrix<float> in_floats(kernels::Matrix<T> m, std::int64_t size, float* memory) {
  convert(memory, DType::Float32, m.data, dtype_of<T>(), size);
  return {memory, m.stride, m.transposed};
}

/// Computes a product of matrices in half precision in float32.
template <class T>
void wide_matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<T> a,
                 kernels::Matrix<T> b, T* c) {
  if (nothing_to_add(rows, columns, inner, c, false)) return;
  const std::int64_t as = extent(a, rows, inner), bs = extent(b, inner, columns), cs = rows * columns;
  kernels::Workspace<float> space(kernels::padded<float>(as) + kernels::padded<float>(bs) + cs);
  const kernels::Matrix<float> left = in_floats(a, as, space.take(as)),
                               right = in_floats(b, bs, space.take(bs));
  float* const products = space.take(cs);
  engine_matmul(rows, columns, inner, left, right, products, false);
  convert(c, dtype_of<T>(), products, DType::Float32, cs);
}

}  // namespace

void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<float> a,
            kernels::Matrix<float> b, float* c, bool accumulate) {
  engine_matmul(rows, columns, inner, a, b, c, accumulate);
}

void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<double> a,
            kernels::Matrix<double> b, double* c, bool accumulate) {
  engine_matmul(rows, columns, inner, a, b, c, accumulate);
}

void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<float16> a,
            kernels::Matrix<float16> b, float16* c) {
  wide_matmul(rows, columns, inner, a, b, c);
}

void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<bfloat16> a,
            kernels::Matrix<bfloat16> b, bfloat16* c) {
  if (rows * columns * inner <= tiny || !run_engine(rows, columns, inner, a, b, c, false))
    wide_matmul(rows, columns, inner, a, b, c);
}

void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, kernels::Matrix<std::int64_t> a,
            kernels::Matrix<std::int64_t> b, std::int64_t* c, bool accumulate) {
  tiny_matmul(rows, columns, inner, a, b, c, accumulate);
}

}  // namespace ktape::op_helpers
