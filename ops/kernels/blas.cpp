#include <ktape/ops/kernels/blas.hpp>

#include <xtensor-blas/xblas.hpp>

namespace ktape::kernels {

template <class T>
void blas_matmul(std::int64_t rows, std::int64_t columns, std::int64_t inner, Matrix<T> a, Matrix<T> b, T* c,
                 std::int64_t stride, bool accumulate) {
  const auto transposition = [](bool transposed) { return transposed ? cxxblas::Trans : cxxblas::NoTrans; };
  cxxblas::gemm<std::int64_t>(cxxblas::RowMajor, transposition(a.transposed), transposition(b.transposed),
                              rows, columns, inner, T(1), a.data, a.stride, b.data, b.stride, T(accumulate),
                              c, stride);
}
template void blas_matmul(std::int64_t, std::int64_t, std::int64_t, Matrix<float>, Matrix<float>, float*,
                          std::int64_t, bool);
template void blas_matmul(std::int64_t, std::int64_t, std::int64_t, Matrix<double>, Matrix<double>, double*,
                          std::int64_t, bool);

}  // namespace ktape::kernels
