#pragma once
#include <cstdint>

namespace ktape::kernels {

/// A row-major matrix in memory, used as stored or transposed.
template <class T>
struct Matrix {
  const T* data;
  std::int64_t stride;  ///< the distance of the rows in elements
  bool transposed = false;
};

/// c = a b on OpenBLAS for float and double, (rows x inner) times (inner x columns), with the rows of c
/// `stride` elements apart; c += a b with `accumulate`. No extent is 0.
template <class T>
void blas_matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, Matrix<T> a, Matrix<T> b, T* c,
                 std::int64_t stride, bool accumulate = false);

}  // namespace ktape::kernels
