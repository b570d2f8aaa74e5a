#pragma once
#include <cstdint>

namespace ktape::kernels {

/// A row-major matrix in memory, read as it stands or transposed.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t stride;  ///< elements from row to row
  bool transposed = false;
};

/// c = a b, (rows x inner) times (inner x columns), c dense row-major; c += a b with `accumulate`. float
/// and double by the engine, integers in a loop that wraps around; an inner extent of 0 gives zeros.
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, Matrix<float> a, Matrix<float> b,
            float* c, bool accumulate = false);
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, Matrix<double> a, Matrix<double> b,
            double* c, bool accumulate = false);
void matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, Matrix<std::int64_t> a,
            Matrix<std::int64_t> b, std::int64_t* c, bool accumulate = false);

/// The same for float and double on OpenBLAS, with the rows of c `stride` elements apart; no extent is 0.
template <class T>
void blas_matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, Matrix<T> a, Matrix<T> b, T* c,
                 std::int64_t stride, bool accumulate = false);

}  // namespace ktape::kernels
